import type { Context } from 'hono';
import { invalid } from '../../lib/app-error.ts';
import { connectionOf } from '../answer/answer-watch.ts';
import { clientNetwork, type ProxySettings } from './remote-address.ts';

/** Bytes that a request brings. Nothing of them has been read before `pieces` is. */
export interface Upload {
  readonly network: string;
  readonly header: (name: string) => string | undefined;
  /** Readable once. Throws VALIDATION_ERROR when the connection ends before the last. */
  readonly pieces: () => AsyncIterable<Uint8Array>;
  /** Call it after the last piece and before anything is kept. Throws if the caller lost its rights, or the process is draining. */
  readonly arrived: () => Promise<void>;
}

export function uploadOf(ctx: ProxySettings, c: Context, arrived: () => Promise<void>): Upload {
  return {
    network: clientNetwork(ctx, c),
    header: (name) => c.req.header(name),
    async *pieces() {
      const request = c.req.raw;
      try {
        for await (const piece of request.body ?? []) yield piece;
      } catch (error) {
        const isCut = request.signal.aborted || connectionOf(c)?.incoming.destroyed === true;
        throw isCut ? invalid('body', 'was cut off: the connection ended before it was whole') : error;
      }
    },
    arrived,
  };
}
