import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** An answer of which a client takes nothing for so long is broken off; streams say something every 15 s. */
export const STALLED_MS = 45_000;
/** An answer that is no stream has to be taken within this, however steadily a client takes a little. */
export const WHOLE_MS = 120_000;
const LOOK_MS = 5000;

/** Sees to it that answers are taken: one that is not stands in memory. */
export interface AnswerWatch {
  /** A request came; to be told when its answer is there, and when that has been taken or its connection has ended. */
  asked(socket: Socket, outgoing: ServerResponse): { answered(): void; closed(): void };
  stop(): void;
}

export function createAnswerWatch(): AnswerWatch {
  const leaving = new Map<ServerResponse, { socket: Socket; sinceMs: number }>();
  const timer = setInterval(() => {
    const before = performance.now() - WHOLE_MS;
    for (const [outgoing, { socket, sinceMs }] of leaving) {
      if (sinceMs > before) break;
      leaving.delete(outgoing);
      if (!isStream(outgoing)) socket.destroy();
    }
  }, LOOK_MS).unref();
  return {
    asked(socket, outgoing) {
      // While it is worked on, there is nothing to take.
      socket.setTimeout(0);
      return {
        answered() {
          if (outgoing.destroyed || outgoing.writableFinished) return;
          leaving.set(outgoing, { socket, sinceMs: performance.now() });
          socket.setTimeout(STALLED_MS);
        },
        closed: () => void leaving.delete(outgoing),
      };
    },
    stop: () => clearInterval(timer),
  };
}

const isStream = (outgoing: ServerResponse) =>
  String(outgoing.getHeader('content-type') ?? '').startsWith('text/event-stream');
