import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../lib/telemetry/log.ts';
import { connectionOptions } from './connection-pool.ts';
import { clientOn } from './primary/database-hosts.ts';
import type { PrimaryGate } from './primary/primary-gate.ts';

/** Gets the payload, or null after the connection was lost and restored: notifications may have been missed. */
export type ListenHandler = (payload: string | null) => void;

export interface Listening {
  stop(): Promise<void>;
}

export interface Listener {
  listen(channel: string, handler: ListenHandler): Promise<Listening>;
  close(): Promise<void>;
}

const RECONNECT_MS = 250;
/** Interval of a liveness query: a connection that only listens would not notice a dead peer. */
const CHECK_MS = 5_000;
const ANSWER_MS = 5_000;

interface ListenerOptions {
  readonly log: Log;
  readonly gate: PrimaryGate;
}

interface Connection {
  listen(channel: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens one dedicated connection for all channels of a process, at the first `listen`; reconnects when it is lost. */
export function openListener(url: string, { log, gate }: ListenerOptions): Listener {
  const handlers = new Map<string, Set<ListenHandler>>();
  const closing = new AbortController();
  let connection: Promise<Connection> | undefined;

  const connect = (): Promise<Connection> =>
    openConnection(url, {
      gate,
      channels: () => [...handlers.keys()],
      onNotification: (channel, payload) => dispatch(handlers.get(channel), payload, log),
      onLost(err) {
        if (closing.signal.aborted) return;
        log.warn({ err }, 'lost the LISTEN database connection');
        connection = reconnect();
        // It may have no waiter; it fails only on close.
        connection.catch(() => undefined);
      },
    });

  const reconnect = async (): Promise<Connection> => {
    for (;;) {
      await delay(RECONNECT_MS, undefined, { signal: closing.signal });
      try {
        const fresh = await connect();
        for (const set of handlers.values()) dispatch(set, null, log);
        return fresh;
      } catch (err) {
        log.debug({ err }, 'LISTEN connection not restored yet');
      }
    }
  };

  return {
    async listen(channel, handler) {
      const known = handlers.get(channel);
      if (known !== undefined) known.add(handler);
      else handlers.set(channel, new Set([handler]));
      // If the first connection fails, the next one listens to this channel as well.
      if (connection === undefined) connection = connect().catch(reconnect);
      else if (known === undefined) await (await connection).listen(channel).catch(() => undefined);
      await connection;
      return { stop: async () => void handlers.get(channel)?.delete(handler) };
    },
    async close() {
      closing.abort();
      await (await connection?.catch(() => undefined))?.close();
    },
  };
}

interface ConnectionEvents {
  readonly gate: PrimaryGate;
  channels(): string[];
  onNotification(channel: string, payload: string): void;
  /** Called once, and only for a connection that was handed out. */
  onLost(error: Error): void;
}

/** Connects and listens. Reports every connection error from the start: an unhandled one would end the process. */
async function openConnection(url: string, events: ConnectionEvents): Promise<Connection> {
  const Client = clientOn(url);
  const client = new Client({ ...connectionOptions(url, 'agent-network listen'), query_timeout: ANSWER_MS });
  let lost: Error | undefined;
  let isOut = false;
  const lose = (error: Error) => {
    if (lost) return;
    lost = error;
    clearInterval(checking);
    destroy(client);
    if (isOut) events.onLost(error);
  };
  const checking = setInterval(() => void client.query('select 1').catch(lose), CHECK_MS);
  client.on('error', lose);
  client.on('end', () => lose(new Error('the connection ended')));
  client.on('notification', ({ channel, payload }) => events.onNotification(channel, payload ?? ''));
  const listen = async (channel: string): Promise<void> => {
    await client.query(`listen ${pg.escapeIdentifier(channel)}`).catch((error: Error) => {
      lose(error);
      throw error;
    });
  };
  try {
    await client.connect();
    await events.gate.admit(client);
    events.gate.follow(client);
    for (const channel of events.channels()) await listen(channel);
    if (lost) throw lost;
  } catch (error) {
    lose(error as Error);
    throw error;
  }
  isOut = true;
  return {
    listen,
    async close() {
      clearInterval(checking);
      await Promise.race([client.end(), delay(ANSWER_MS, undefined, { ref: false })]);
    },
  };
}

/** Closes the connection without a message to the server, which may be gone. */
const destroy = (client: pg.Client): void =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();

function dispatch(handlers: Iterable<ListenHandler> = [], payload: string | null, log: Log): void {
  for (const handler of [...handlers]) {
    try {
      handler(payload);
    } catch (err) {
      log.error({ err }, 'LISTEN handler failed');
    }
  }
}
