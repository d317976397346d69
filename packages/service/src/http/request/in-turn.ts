import type { Socket } from 'node:net';
import type { createAdaptorServer, HttpBindings } from '@hono/node-server';
import type { AnswerWatch } from '../answer/answer-watch.ts';

/** The fetch callback of the Node adapter. */
type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch'];

/** Maximum requests of one connection that wait for earlier answers. */
export const MAX_WAITING = 16;

/**
 * Handles the requests of one connection in sequence, because their answers leave in that order anyway: requests pipelined behind a slow
 * answer cost only their headers. Ends a connection with more than `MAX_WAITING` waiting requests.
 */
export function inTurn(handle: Fetch, watch: AnswerWatch): Fetch {
  const lines = new WeakMap<Socket, (() => void)[]>();
  return (request, env) => {
    // The server speaks HTTP/1.1 only.
    const { incoming, outgoing } = env as HttpBindings;
    const { socket } = incoming;
    const serve = () => {
      const asked = watch.asked(socket, outgoing);
      outgoing.once('close', () => {
        asked.closed();
        letNextIn(lines, socket);
      });
      const answer = handle(request, env);
      if (answer instanceof Promise) void answer.then(asked.answered, asked.answered);
      else asked.answered();
      return answer;
    };
    const line = lines.get(socket);
    if (!line) {
      lines.set(socket, []);
      return serve();
    }
    if (line.length >= MAX_WAITING) socket.destroy();
    if (socket.destroyed) return unanswered();
    return new Promise((resolve) => {
      line.push(() => resolve(socket.destroyed ? unanswered() : serve()));
    });
  };
}

function letNextIn(lines: WeakMap<Socket, (() => void)[]>, socket: Socket): void {
  const line = lines.get(socket);
  if (socket.destroyed) for (const next of line?.splice(0) ?? []) next();
  const next = line?.shift();
  if (next) next();
  else lines.delete(socket);
}

/** Answer for a closed connection, which nobody reads. */
const unanswered = () => new Response(null, { status: 503 });
