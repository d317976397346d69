import { connect } from 'node:net';

export interface Answer {
  readonly status: number;
  /** Status line and headers as they came. */
  readonly head: string;
  readonly body: string;
}

export interface Connection {
  /** Sends a whole request and waits for its whole answer; one at a time. */
  send(request: string): Promise<Answer>;
  close(): void;
}

type Waiter = { resolve(answer: Answer): void; reject(error: Error): void };

/** A keep-alive HTTP/1.1 connection that does no more than a measurement needs: a general client would cost as much as the server. */
export async function openConnection(url: URL): Promise<Connection> {
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let received = '';
  let waiter: Waiter | undefined;
  const fail = (error: Error) => {
    waiter?.reject(error);
    waiter = undefined;
  };
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    const answer = parseAnswer(received);
    if (!answer) return;
    received = '';
    waiter?.resolve(answer);
  });
  socket.on('error', fail).on('close', () => fail(new Error('the server closed the connection')));
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        waiter = { resolve, reject };
        if (socket.destroyed) fail(new Error('the connection is closed'));
        else socket.write(request);
      }),
    close: () => void socket.destroy(),
  };
}

/** The answer, once all of it is there. Its body is left as it came: chunk sizes and UTF-8 bytes do not hinder a search in it. */
function parseAnswer(received: string): Answer | null {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const head = received.slice(0, headEnd);
  const body = received.slice(headEnd + 4);
  const length = headerOf(head, 'content-length');
  const isWhole = length === null ? body.endsWith('0\r\n\r\n') : body.length >= Number(length);
  return isWhole ? { status: Number(head.slice(9, 12)), head, body } : null;
}

/** A header of an answer by its name; null when it has none. */
export function headerOf(head: string, name: string): string | null {
  return new RegExp(`^${name}: *(.*)$`, 'im').exec(head)?.[1]?.trim() ?? null;
}

/** The bytes of a request. */
export function requestText(method: string, url: URL, headers: Record<string, string>, body = ''): string {
  const lines = Object.entries({ ...headers, ...(body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }) });
  return `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}
