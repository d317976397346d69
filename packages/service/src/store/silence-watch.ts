import pg from 'pg';
import type { Log } from '../lib/telemetry/log.ts';
import { hostOf } from './primary/database-hosts.ts';

const CHECK_MS = 500;
/** Silence of a connection with a running statement after which the server is asked about it. */
const SUSPECT_MS = 2_000;
const ASK_MS = 3_000;
/** Silence after which a statement is given up when the server cannot be asked. */
const GIVE_UP_MS = 6_000;
/** Silence after which a statement is given up in any case: the server ends statements after 30 s. */
const HARD_LIMIT_MS = 35_000;
/** Consecutive checks that must fail: the statement, or its answer, may be in flight during one. */
const STRIKES = 2;

interface Watched {
  readonly client: pg.Client;
  /** Number of unanswered statements. */
  waiting: number;
  /** Time of the last answer, or of the first query sent. */
  heardMs: number;
  strikes: number;
}

export interface SilenceWatchOptions {
  readonly url: string;
  readonly log: Log;
  /** Default: the server's statement timeout. Infinity for migrations. */
  readonly hardLimitMs?: number;
}

/**
 * Closes the pool's connections to a server that vanished silently, as when a host loses power: TCP alone needs a quarter of an hour to
 * notice. Asks over another connection about a statement without an answer. If the server works on the statement, it may continue; if the
 * server does not know the statement, or does not answer, the connection is destroyed, and the statement fails with an unknown outcome.
 */
export function watchSilence(pool: pg.Pool, options: SilenceWatchOptions): void {
  const watched = new Map<pg.PoolClient, Watched>();
  let isAsking = false;
  const check = async (): Promise<void> => {
    const suspects = [...watched.values()].filter((each) => silentMs(each) >= SUSPECT_MS);
    if (suspects.length === 0 || isAsking) return;
    isAsking = true;
    const heardBefore = new Map(suspects.map((each) => [each, each.heardMs]));
    const byHost = Map.groupBy(suspects, ({ client }) => hostOf(client, options.url));
    await Promise.all(
      [...byHost].map(async ([host, asked]) => {
        const working = await askServer(
          host,
          asked.map(({ client }) => pidOf(client)),
        ).catch(() => null);
        const silent = asked.filter((each) => each.waiting > 0 && each.heardMs === heardBefore.get(each));
        for (const each of silent) judge(each, working, options);
      }),
    );
    isAsking = false;
  };
  const timer = setInterval(() => void check(), CHECK_MS);
  timer.unref();
  pool.on('connect', (client) => {
    watched.set(client, follow(client as unknown as pg.Client));
    client.once('end', () => watched.delete(client));
  });
  const end = pool.end.bind(pool);
  pool.end = (() => {
    // Watch until every connection has ended: the last statements may get no answer either.
    const ended = end();
    return ended.finally(() => clearInterval(timer));
  }) as typeof pool.end;
}

const silentMs = ({ waiting, heardMs }: Watched) => (waiting === 0 ? 0 : performance.now() - heardMs);

/** `working`: the backends that are executing a statement; null when the server did not answer. */
function judge(each: Watched, working: ReadonlySet<number> | null, { log, hardLimitMs }: SilenceWatchOptions): void {
  const silence = silentMs(each);
  const isUnknown = working !== null && !working.has(pidOf(each.client));
  each.strikes = isUnknown ? each.strikes + 1 : 0;
  const isLost =
    each.strikes >= STRIKES || (working === null && silence >= GIVE_UP_MS) || silence >= (hardLimitMs ?? HARD_LIMIT_MS);
  if (!isLost) return;
  log.warn({ silentMs: Math.round(silence), isUnknown }, 'closed a database connection that does not answer');
  const error = Object.assign(new Error('the database does not answer'), { code: 'ETIMEDOUT' });
  (each.client as unknown as { connection: { stream: { destroy(error: Error): void } } }).connection.stream.destroy(
    error,
  );
}

const pidOf = (client: pg.Client): number => (client as unknown as { processID: number | null }).processID ?? 0;

/** Records when statements are sent on a connection and when they are answered. */
function follow(client: pg.Client): Watched {
  const watched: Watched = { client, waiting: 0, heardMs: performance.now(), strikes: 0 };
  const answered = () => {
    watched.waiting -= 1;
    watched.heardMs = performance.now();
    watched.strikes = 0;
  };
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  const followed = (...args: unknown[]): unknown => {
    if (watched.waiting === 0) watched.heardMs = performance.now();
    watched.waiting += 1;
    const callback = args.at(-1);
    if (typeof callback === 'function')
      return query(...args.slice(0, -1), (...results: unknown[]) => {
        answered();
        callback(...results);
      });
    const result = query(...args) as Promise<unknown>;
    result.then(answered, answered);
    return result;
  };
  client.query = followed as typeof client.query;
  return watched;
}

/**
 * Asks, over a separate connection, which of these backends are executing a statement. Ends transactions that are idle between statements,
 * which frees their locks. Behind a pooler with its own process ids backends can't be identified, so all count as working.
 */
async function askServer(host: string, pids: readonly number[]): Promise<ReadonlySet<number>> {
  const client = new pg.Client({ connectionString: host, application_name: 'agent-network asks' });
  client.on('error', () => undefined);
  const stream = (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
  const late = setTimeout(() => stream.destroy(), ASK_MS);
  try {
    await client.connect();
    const { rows } = await client.query<{ own: number; pid: number | null; isWorking: boolean }>(
      `select pg_backend_pid() as own, a.pid, coalesce(a.state, 'active') not like 'idle%' as "isWorking",
              case when a.state like 'idle in transaction%' and a.state_change < clock_timestamp() - interval '1 second'
                    and a.application_name like 'agent-network%' then pg_terminate_backend(a.pid) end as "isEnded"
         from (select) one left join pg_stat_activity a on a.pid = any($1) and a.datname = current_database()`,
      [pids],
    );
    if (rows[0]?.own !== pidOf(client)) return new Set(pids);
    return new Set(rows.flatMap(({ pid, isWorking }) => (pid !== null && isWorking ? [pid] : [])));
  } finally {
    clearTimeout(late);
    stream.destroy();
  }
}
