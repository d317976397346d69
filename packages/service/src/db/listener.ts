import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../lib/log.ts';

/** Gets the payload, or null when the connection was lost and is back: anything may have been missed. */
export type ListenHandler = (payload: string | null) => void;

export interface Listening {
  stop(): Promise<void>;
}

export interface Listener {
  listen(channel: string, handler: ListenHandler): Promise<Listening>;
  close(): Promise<void>;
}

const RECONNECT_MS = 250;

/** One dedicated connection for all channels of a process; made at the first `listen`, made again when it is lost. */
export function openListener(url: string, log: Log): Listener {
  const handlers = new Map<string, Set<ListenHandler>>();
  const closing = new AbortController();
  let client: Promise<pg.Client> | undefined;

  const connect = async (): Promise<pg.Client> => {
    const fresh = new pg.Client({ connectionString: url, keepAlive: true, application_name: 'agent-network listen' });
    fresh.on('notification', ({ channel, payload }) => dispatch(handlers.get(channel), payload ?? '', log));
    await fresh.connect();
    fresh.on('error', (err) => log.warn({ err }, 'lost the database connection that listens'));
    fresh.once('end', () => {
      if (!closing.signal.aborted) client = reconnect();
    });
    for (const channel of handlers.keys()) await fresh.query(`listen ${pg.escapeIdentifier(channel)}`);
    return fresh;
  };

  const reconnect = async (): Promise<pg.Client> => {
    for (;;) {
      await delay(RECONNECT_MS, undefined, { signal: closing.signal });
      try {
        const fresh = await connect();
        for (const set of handlers.values()) dispatch(set, null, log);
        return fresh;
      } catch (err) {
        log.debug({ err }, 'the listening connection is not back yet');
      }
    }
  };

  return {
    async listen(channel, handler) {
      const known = handlers.get(channel);
      if (known !== undefined) known.add(handler);
      else {
        handlers.set(channel, new Set([handler]));
        if (client !== undefined) await (await client).query(`listen ${pg.escapeIdentifier(channel)}`);
      }
      client ??= connect();
      await client;
      return { stop: async () => void handlers.get(channel)?.delete(handler) };
    },
    async close() {
      closing.abort();
      await (await client?.catch(() => undefined))?.end();
    },
  };
}

function dispatch(handlers: Iterable<ListenHandler> = [], payload: string | null, log: Log): void {
  for (const handler of [...handlers]) {
    try {
      handler(payload);
    } catch (err) {
      log.error({ err }, 'a LISTEN handler threw');
    }
  }
}
