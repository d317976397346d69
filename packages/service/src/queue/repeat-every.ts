import { setTimeout as delay } from 'node:timers/promises';
import type { HasDb } from '../db/database.ts';
import type { Log } from '../lib/log/log.ts';

/** Minimum lock of a run before another process may start the next one: longer runs may overlap. */
const SHORTEST_HOLD_MS = 10_000;

export interface Repeating {
  /** Stops and waits for a run in progress. */
  stop(): Promise<void>;
}

/**
 * Runs `work` every `intervalMs`, in one process of the node at a time: a row moves from process to process by compare-and-set on the
 * database's clock. A run that throws is logged; the next one comes in time. If a process dies during a run, the next one is due after
 * max(`intervalMs`, 10 s).
 */
export function repeatEvery(
  { db, log }: HasDb & { log: Log },
  name: string,
  intervalMs: number,
  work: () => Promise<void>,
): Repeating {
  const stopping = new AbortController();
  const holdMs = Math.max(intervalMs, SHORTEST_HOLD_MS);

  const tick = async (): Promise<number> => {
    const claimed = await claim({ db }, name, holdMs);
    if (claimed === undefined) return Math.min(intervalMs, await untilDueMs({ db }, name));
    const startMs = performance.now();
    await work().catch((err: unknown) => log.error({ err, recurring: name }, 'recurring job failed'));
    await giveBack({ db }, name, claimed, holdMs - intervalMs);
    return Math.max(0, intervalMs - (performance.now() - startMs));
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const pauseMs = await tick().catch((err: unknown) => {
        log.warn({ err, recurring: name }, 'recurring job waits for the database');
        return intervalMs;
      });
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const looping = loop();
  return {
    async stop() {
      stopping.abort();
      await looping;
    },
  };
}

/** Returns the due time that this process set, as the database wrote it; undefined when the work is not due or another process has it. */
async function claim({ db }: HasDb, name: string, holdMs: number): Promise<string | undefined> {
  const [row] = await db.query<{ due: string }>(
    'recurring-claim',
    `insert into recurring (name, due_at) values ($1, clock_timestamp() + $2 * interval '1 millisecond')
     on conflict (name) do update set due_at = excluded.due_at where recurring.due_at <= clock_timestamp()
     returning due_at::text as due`,
    [name, holdMs],
  );
  return row?.due;
}

async function giveBack({ db }: HasDb, name: string, claimed: string, earlierMs: number): Promise<void> {
  if (earlierMs <= 0) return;
  await db.query(
    'recurring-give-back',
    `update recurring set due_at = due_at - $3 * interval '1 millisecond' where name = $1 and due_at = $2::timestamptz`,
    [name, claimed, earlierMs],
  );
}

async function untilDueMs({ db }: HasDb, name: string): Promise<number> {
  const [row] = await db.query<{ ms: number }>(
    'recurring-until-due',
    `select greatest(1, ceil(extract(epoch from due_at - clock_timestamp()) * 1000))::int as ms
       from recurring where name = $1`,
    [name],
  );
  return row?.ms ?? 0;
}

/** Runs `work` every `intervalMs` in this process, independent of the others. A run that throws is logged. */
export function repeatHere(
  { log }: { log: Log },
  name: string,
  intervalMs: number,
  work: () => Promise<void>,
): Repeating {
  const stopping = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await work().catch((err: unknown) => log.error({ err, recurring: name }, 'recurring job failed'));
      await delay(intervalMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const looping = loop();
  return {
    async stop() {
      stopping.abort();
      await looping;
    },
  };
}
