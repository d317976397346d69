import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TcpServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** The end of a server, without a request that is cut off. */
export interface Retirement {
  /**
   * Refuses new connections. Those that are open go on, idle ones too, as a proxy may be sending on them at this moment; each ends with its
   * next answer.
   */
  begin(): void;
  /** Resolves when every connection has ended by its answer, or after `mostMs`. */
  lastConnections(mostMs: number): Promise<void>;
  /** Resolves when no request is being answered, or after `mostMs`. */
  lastAnswers(mostMs: number): Promise<void>;
  /** Resolves when the server listens no more and every connection has ended. */
  readonly closed: Promise<void>;
}

/** Follows the server's answers from the start. */
export function createRetirement(server: Server): Retirement {
  const open = new Set<ServerResponse>();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let hasBegun = false;
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    if (hasBegun) response.shouldKeepAlive = false;
    open.add(response);
    response.once('close', () => open.delete(response));
  });
  return {
    closed,
    begin() {
      if (hasBegun) return;
      hasBegun = true;
      for (const response of open) response.shouldKeepAlive = false;
      // The `close` of net: that of http would end idle connections at once.
      TcpServer.prototype.close.call(server, () => resolve());
    },
    lastConnections: (mostMs) => Promise.race([closed, delay(mostMs, undefined, { ref: false })]),
    async lastAnswers(mostMs) {
      const limit = AbortSignal.timeout(mostMs);
      while (open.size > 0 && !limit.aborted) {
        const [response] = open;
        if (!response) return;
        await Promise.race([
          once(response, 'close').catch(() => undefined),
          delay(mostMs, undefined, { signal: limit, ref: false }).catch(() => undefined),
        ]);
      }
    },
  };
}
