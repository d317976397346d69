import { type IncomingMessage, request as openRequest } from 'node:http';
import type { Request } from './http-connection.ts';
import { monotonicUs } from './monotonic.ts';

/** The events of one stream as far as they were read; throws as soon as one is lost, repeated or out of order. */
export interface StreamReader {
  readonly requestId: string;
  /** The last event that came: where reading can be resumed. */
  readonly lastId: number;
  readonly hasEnded: boolean;
  /** Delay of each chunk since the agent sent it, in microseconds. */
  readonly delaysUs: number[];
  /** Reads until the answer ends. Resolves false when the server broke it off. */
  read(): Promise<boolean>;
}

const terminal = /^invocation\.(completed|failed|cancelled)$/;
const FIRST_CHUNK_ID = 3;

interface ReadOptions {
  /** Value of `Last-Event-ID`. */
  readonly after?: number;
  /** Takes nothing any more after the first bytes, until `read`. */
  readonly stopsReading?: boolean;
}

/** Opens a stream and waits for its first event. */
export async function openStream(
  request: Request,
  { after = 0, stopsReading = false }: ReadOptions = {},
): Promise<StreamReader> {
  const answer = await open(request);
  const delaysUs: number[] = [];
  let requestId = '';
  let lastId = after;
  let hasEnded = false;
  let isHalted = stopsReading;
  let rest = '';
  let failure: Error | undefined;
  const first = Promise.withResolvers<void>();
  const take = (block: string) => {
    const [, id, type, json] = /^id: (\d+)\nevent: (.+)\ndata: (.+)$/.exec(block) ?? [];
    if (id === undefined || type === undefined || json === undefined) return;
    const data = JSON.parse(json) as { requestId: string; index?: number; sentUs?: number };
    if (hasEnded) throw new Error(`an event after the end: ${block}`);
    if (Number(id) !== lastId + 1) throw new Error(`event ${id} came after ${lastId}`);
    lastId = Number(id);
    requestId = data.requestId;
    hasEnded = terminal.test(type);
    if (hasEnded && type !== 'invocation.completed') throw new Error(`a stream ended badly: ${block}`);
    if (type === 'invocation.chunk') {
      if (data.index !== lastId - FIRST_CHUNK_ID) throw new Error(`chunk ${data.index} came as event ${id}`);
      delaysUs.push(monotonicUs() - (data.sentUs ?? Number.NaN));
    }
    first.resolve();
  };
  answer.setEncoding('utf8').on('data', (part: string) => {
    const blocks = (rest + part).split('\n\n');
    rest = blocks.pop() ?? '';
    try {
      for (const block of blocks) take(block);
      if (isHalted && lastId > after) answer.pause();
    } catch (error) {
      failure ??= error as Error;
      answer.destroy(failure);
    }
  });
  const closed = new Promise<boolean>((resolve, reject) => {
    answer.on('error', () => undefined);
    answer.once('close', () => (failure ? reject(failure) : resolve(answer.complete)));
  });
  closed.catch(() => undefined);
  await Promise.race([first.promise, closed]);
  return {
    delaysUs,
    get requestId() {
      return requestId;
    },
    get lastId() {
      return lastId;
    },
    get hasEnded() {
      return hasEnded;
    },
    async read() {
      isHalted = false;
      answer.resume();
      return closed;
    },
  };
}

function open({ method, url, headers, body }: Request): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = openRequest(url, { method, agent: false, headers: { ...headers, ...text } }, (answer) => {
      if (answer.statusCode === 200) resolve(answer);
      else reject(new Error(`a stream was answered with ${answer.statusCode}`));
    });
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}
