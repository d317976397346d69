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
  const length = headerOf(head, contentLength);
  const isWhole = length === null ? body.endsWith('0\r\n\r\n') : body.length >= Number(length);
  return isWhole ? { status: Number(head.slice(9, 12)), head, body } : null;
}

const contentLength = headerPattern('content-length');

/** A pattern that finds a header of this name in an answer's head. */
export function headerPattern(name: string): RegExp {
  return new RegExp(`^${name}: *(.*)\r?$`, 'im');
}

/** The value of a header; null when the answer has none. */
export const headerOf = (head: string, pattern: RegExp): string | null => pattern.exec(head)?.[1]?.trim() ?? null;

export interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  /** JSON. */
  readonly body?: unknown;
}

/** The bytes of a request. */
export function requestText({ method, url, headers, body }: Request): string {
  const { pathname, search, host } = new URL(url);
  const text = body === undefined ? '' : JSON.stringify(body);
  const ofBody =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
  const lines = Object.entries({ host, ...headers, ...ofBody }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
}
