import type { Dispatcher } from 'undici';
import { createBytePieces } from '../byte-pieces.ts';
import { type Exchange, type GuardedRequest, type ResponseHead, startExchange } from './guarded-fetch-exchange.ts';

/** Unread bytes above which the endpoint is throttled. */
const HIGH_WATER_BYTES = 64 * 1024;

export type GuardedStreamRequest = GuardedRequest & {
  /** Maximum silence, from the call to the head and between any two chunks. Time spent waiting for our reader does not count, once it has begun. */
  idleTimeoutMs: number;
};

export type GuardedStream = ResponseHead & {
  /** The bytes as they arrive, those that came together as one piece. Readable once; leaving the loop early closes the connection. */
  body: AsyncIterable<Buffer>;
  /** Discards a body that is not read. */
  cancel(): void;
};

/** Opens a streamed exchange; resolves with the head. Later failures are thrown to the reader of the body. */
export function openStream(agent: Dispatcher, url: URL, request: GuardedStreamRequest): Promise<GuardedStream> {
  return new Promise((resolve, reject) => {
    const queue = createChunkQueue();
    const idle = setTimeout(() => {
      if (queue.isFull() && queue.isRead()) idle.refresh();
      else exchange.fail('timeout');
    }, request.idleTimeoutMs);

    const exchange: Exchange = startExchange(agent, url, request, {
      onHead(head) {
        idle.refresh();
        const cancel = () => exchange.fail('aborted');
        resolve({ ...head, body: queue.read({ onRoom: exchange.resume, onLeave: cancel }), cancel });
      },
      onChunk(chunk) {
        idle.refresh();
        queue.push(chunk);
        if (queue.isFull()) exchange.pause();
      },
      onEnd() {
        clearTimeout(idle);
        queue.end();
      },
      onFail(error) {
        clearTimeout(idle);
        queue.end(error);
        reject(error);
      },
    });
  });
}

function createChunkQueue() {
  const pieces = createBytePieces();
  let isRead = false;
  let isEnded = false;
  let failure: unknown;
  let wake = () => {};

  async function* read({ onRoom, onLeave }: { onRoom: () => void; onLeave: () => void }): AsyncGenerator<Buffer> {
    isRead = true;
    try {
      while (true) {
        if (pieces.byteLength > 0) {
          const ready = pieces.take();
          onRoom();
          yield ready;
          continue;
        }
        if (failure !== undefined) throw failure;
        if (isEnded) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      onLeave();
    }
  }

  return {
    read,
    isFull: () => pieces.byteLength >= HIGH_WATER_BYTES,
    isRead: () => isRead,
    push(chunk: Buffer): void {
      pieces.add(chunk);
      wake();
    },
    end(error?: unknown): void {
      isEnded = true;
      failure = error;
      wake();
    },
  };
}
