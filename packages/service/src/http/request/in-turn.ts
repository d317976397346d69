import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request listener of Node's HTTP server. It throws nothing. */
export type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** Maximum requests of one connection that wait for earlier answers. */
export const MAX_WAITING = 16;

/**
 * Handles the requests of one connection in sequence, because their answers leave in that order anyway: requests pipelined behind a slow
 * answer cost only their headers. Ends a connection with more than `MAX_WAITING` waiting requests.
 */
export function inTurn(listener: RequestListener): RequestListener {
  const lines = new WeakMap<Socket, (() => void)[]>();
  return (incoming, outgoing) => {
    // The server speaks HTTP/1.1 only.
    const { socket } = incoming;
    const serve = () => {
      outgoing.once('close', () => letNextIn(lines, socket));
      listener(incoming, outgoing);
    };
    const line = lines.get(socket);
    if (!line) {
      lines.set(socket, []);
      return serve();
    }
    if (line.length >= MAX_WAITING) socket.destroy();
    if (!socket.destroyed) line.push(serve);
  };
}

function letNextIn(lines: WeakMap<Socket, (() => void)[]>, socket: Socket): void {
  const next = socket.destroyed ? undefined : lines.get(socket)?.shift();
  if (next) next();
  else lines.delete(socket);
}
