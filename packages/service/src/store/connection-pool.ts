import { lookup } from 'node:dns';
import { type LookupFunction, Socket, type SocketConnectOpts } from 'node:net';
import pg from 'pg';
import type { Log } from '../lib/telemetry/log.ts';
import { guardPool } from './primary/commit-mark.ts';
import { clientOn, hostsOf } from './primary/database-hosts.ts';
import type { PrimaryGate } from './primary/primary-gate.ts';
import { type SilenceWatchOptions, watchSilence } from './silence-watch.ts';

export interface PoolOptions {
  max?: number;
  log: Log;
  /** Checks the server of every connection; default: one of its own. */
  gate?: PrimaryGate;
  /** For an operator's command that reads everything: no limit of a statement's time. Default: 30 s. */
  isUnlimited?: boolean;
}

const STATEMENT_TIMEOUT_MS = 30_000;
const LOCK_TIMEOUT_MS = 10_000;
/** Server-side limit of an idle transaction. A transaction waits only for the database, so one that idles this long has lost its client. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Start of TCP keep-alive on a silent connection; then one probe per second, ten in all: a vanished host is detected within 15 s. */
const KEEP_ALIVE_AFTER_MS = 5_000;
/** Keep-alive on the server's side, which frees the locks of a vanished client. */
const SERVER_OPTIONS = '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=10';
const DEFAULT_MAX = 20;
const INT8 = 20;
const INT8_ARRAY = 1016;
const parseTextArray = pg.types.getTypeParser(INT8_ARRAY as never) as (text: string) => (string | null)[];

const types = new pg.TypeOverrides();
types.setTypeParser(INT8, (text) => BigInt(text));
types.setTypeParser(INT8_ARRAY, (text) => parseTextArray(text).map(toBigInt));

/** Idle connections to keep open, so that the first calls after a pause need not connect. */
const KEPT_OPEN = 4;

/** Options of every database connection of a node: server-side timeouts, and TCP keep-alive that detects a dead peer. */
export const connectionOptions = (url: string, label = 'agent-network') => ({
  connectionString: hostsOf(url).current(),
  keepAlive: true,
  keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  statement_timeout: STATEMENT_TIMEOUT_MS,
  lock_timeout: LOCK_TIMEOUT_MS,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  application_name: label,
  options: SERVER_OPTIONS,
  stream: openSocket,
});

/**
 * Creates a pool that parses int8 columns as bigint, numeric as text, timestamptz as Date. The server limits the time of every statement. A
 * lost connection is logged and replaced; its running statement fails.
 */
export function createConnectionPool(
  url: string,
  { max = DEFAULT_MAX, log, gate, isUnlimited = false }: PoolOptions & { gate: PrimaryGate },
): pg.Pool {
  const limits = isUnlimited ? { statement_timeout: 0 } : {};
  const size = { max, min: Math.min(KEPT_OPEN, max) };
  const pool = new pg.Pool({
    ...connectionOptions(url),
    ...limits,
    ...size,
    types,
    pipeline: true,
    Client: clientOn(url),
  });
  watchPool(pool, { url, log, gate, ...(isUnlimited ? { hardLimitMs: Number.POSITIVE_INFINITY } : {}) });
  return pool;
}

/** Adds the checks that every pool of a node needs: of each connection's server, and for lost or silent connections. */
export function watchPool(
  pool: pg.Pool,
  { gate, ...options }: SilenceWatchOptions & { readonly gate: PrimaryGate },
): void {
  guardPool(pool, gate);
  surviveConnectionLoss(pool, options.log);
  watchSilence(pool, options);
}

/** Connects with an error listener attached from the start: an unhandled connection error would end the process. */
export async function openClient(
  options: pg.ClientConfig,
  onLost: (error: Error) => void = () => undefined,
): Promise<pg.Client> {
  const client = new pg.Client(options);
  client.on('error', onLost);
  await client.connect();
  return client;
}

/** Adds error listeners: without them, an error on any connection of the pool would end the process. */
function surviveConnectionLoss(pool: pg.Pool, log: Log): void {
  pool.on('error', (err) => log.warn({ err }, 'lost an idle database connection'));
  pool.on('connect', (client) => {
    client.on('error', (err) => log.debug({ err }, 'lost a database connection'));
  });
}

function toBigInt(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}

/** Timeout of a look-up of the database's host, after which its last known address is tried. */
const LOOKUP_MS = 1_500;

/**
 * Socket for a database connection: writes of one event loop turn are sent as one piece, and unanswered DNS look-ups do not block the use
 * of the last known address.
 */
const openSocket = (): Socket => new GatheringSocket();

type Found = Parameters<Parameters<LookupFunction>[2]>;
const known = new Map<string, Found>();

const lookupKnown: LookupFunction = (hostname, options, callback) => {
  const name = `${hostname} ${options.all === true} ${options.family ?? 0}`;
  let isAnswered = false;
  const answer = (...found: Found) => {
    if (isAnswered) return;
    isAnswered = true;
    clearTimeout(late);
    callback(...found);
  };
  const fallBack = (): Found | undefined => known.get(name);
  const late = setTimeout(() => {
    const before = fallBack();
    if (before) answer(...before);
  }, LOOKUP_MS);
  lookup(hostname, options, (error: NodeJS.ErrnoException | null, ...found: unknown[]) => {
    const result = [error, ...found] as unknown as Found;
    if (error) return answer(...(fallBack() ?? result));
    known.set(name, result);
    answer(...result);
  });
};

class GatheringSocket extends Socket {
  #isGathering = false;

  override connect(...args: unknown[]): this {
    const [port, host] = args;
    if (typeof port !== 'number' || typeof host !== 'string') return super.connect(...(args as [SocketConnectOpts]));
    return super.connect({ port, host, lookup: lookupKnown });
  }

  override write(...args: unknown[]): boolean {
    if (!this.#isGathering) {
      this.#isGathering = true;
      this.cork();
      process.nextTick(() => {
        this.#isGathering = false;
        this.uncork();
      });
    }
    return super.write(...(args as Parameters<Socket['write']>));
  }
}
