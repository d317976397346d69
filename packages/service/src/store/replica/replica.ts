import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../lib/app-error.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Database, Store } from '../database.ts';
import type { Sql } from '../sql.ts';
import { forgetRestored, readNews, readSeen, type SnapshotView } from './change-store.ts';
import type { Changes, Topic } from './changes.ts';

/** One kind of copies: reads the database when asked, and answers its readers from memory, synchronously. */
export interface ReplicaPart {
  /** Changes of these topics are read again. */
  readonly topics: readonly Topic[];
  /** Drops every copy and reads all rows again, in steps, while the replica lets no reader in. */
  load(sql: Sql): Promise<void>;
  /**
   * Reads the present rows that the changes concern, in the snapshot of `sql`, and returns the steps that bring the copies up to them;
   * between two steps other work may run, but no reader of copies.
   */
  read(sql: Sql, changes: Changes): Promise<readonly (() => void)[]>;
}

/**
 * The copies of rows in this process. After each refresh they equal one snapshot of the database. A reader calls `isFresh` or awaits
 * `fresh`, and then reads copies without awaiting anything in between.
 */
export interface Replica {
  /** Adds a part; before `start`. */
  add(part: ReplicaPart): void;
  /** Loads every part and then follows the changes. */
  start(): Promise<void>;
  stop(): void;
  /** True when the copies may be read now. They have everything that was committed `MAX_AGE_MS` before. */
  isFresh(): boolean;
  /** Resolves when the copies have everything that was committed `MAX_AGE_MS` before the call. Throws UNAVAILABLE after two seconds. */
  fresh(): Promise<void>;
  /**
   * Resolves when readers at any process see this process's commits; a write awaits it before its answer. That takes `MAX_AGE_MS`, the age
   * at which every process stops answering from older copies; only one refresh while no other process runs. It never fails, as the write
   * has happened.
   */
  settleWrite(): Promise<void>;
  /** True while the copies are complete, at any age. */
  isLoaded(): boolean;
  /** All transactions below this number are in the copies or changed none. */
  position(): string;
}

export const MAX_AGE_MS = 20;
/** Refreshes without a reader keep the next one small. */
const IDLE_MS = 5000;
const PATIENCE_MS = 2000;

/** `maxAgeMs`: 0 has every read wait for a refresh of its own moment. `patienceMs`: how long a reader waits for a refresh. */
export function createReplica(
  ctx: Pick<Store, 'db'> & Telemetry,
  { maxAgeMs = MAX_AGE_MS, patienceMs = PATIENCE_MS } = {},
): Replica {
  const parts: ReplicaPart[] = [];
  const copies = createCopies(ctx, parts);
  const refreshes = createSharedRun(copies.refresh, patienceMs);

  /** Resolves when a refresh is applied that began at `neededMs` or later. */
  async function since(neededMs: number): Promise<SnapshotView> {
    for (;;) {
      const seen = copies.seen();
      if (seen && copies.beganMs() >= neededMs) return seen;
      await refreshes.run();
    }
  }

  const poll = async (): Promise<void> => {
    await refreshes.run().catch((err: unknown) => ctx.log.debug({ err }, 'the copies could not be refreshed'));
    const beganMs = copies.beganMs();
    if (beganMs > Number.NEGATIVE_INFINITY) ctx.metrics.readModelLag.set((performance.now() - beganMs) / 1000);
  };
  let polling: NodeJS.Timeout | undefined;

  return {
    add: (part) => void parts.push(part),
    async start() {
      await forgetRestored(ctx.db);
      await copies.loadAll();
      polling = setInterval(() => void poll(), IDLE_MS).unref();
    },
    stop: () => clearInterval(polling),
    isFresh() {
      const ageMs = performance.now() - copies.beganMs();
      if (!copies.seen() || ageMs >= maxAgeMs) return false;
      // Ahead of the readers, so that they seldom wait.
      if (ageMs > maxAgeMs / 2) refreshes.run().catch(() => undefined);
      return true;
    },
    fresh: async () => void (await since(performance.now() - maxAgeMs)),
    async settleWrite() {
      // One more: a timer may be early by the rest of a millisecond.
      const isOld = new Promise<void>((resolve) => setTimeout(resolve, maxAgeMs === 0 ? 0 : maxAgeMs + 1));
      const isAlone = since(performance.now()).then(({ processes }) => (processes > 1 ? isOld : undefined));
      await Promise.race([isAlone.catch(() => isOld), isOld]);
    },
    isLoaded: () => copies.seen() !== null,
    position: () => copies.seen()?.horizon ?? '0',
  };
}

/** Keeps the parts at one snapshot of the database. */
function createCopies(ctx: Pick<Store, 'db'> & Telemetry, parts: readonly ReplicaPart[]) {
  let seen: SnapshotView | null = null;
  /** Start of the refresh that made the copies, by this process's own clock: only durations are compared. */
  let beganMs = Number.NEGATIVE_INFINITY;

  async function refresh(): Promise<void> {
    const startMs = performance.now();
    const news = seen && (await readNews(ctx.db, seen));
    if (!seen || !news || news.hasGap || news.timeline !== seen.timeline) return loadAll();
    if (news.changes.size > 0) return catchUp(seen);
    seen = after(seen, news);
    beganMs = startMs;
  }

  async function catchUp(before: SnapshotView): Promise<void> {
    const startMs = performance.now();
    const { news, steps } = await readChanged(ctx.db, parts, before);
    if (news.hasGap) return loadAll();
    // Between two steps, and after one that throws, the copies are of two moments: they are not read until the last step or a load.
    seen = null;
    for (const [index, step] of steps.entries()) {
      if (index > 0) await nextTurn();
      step();
    }
    seen = after(before, news);
    beganMs = startMs;
  }

  async function loadAll(): Promise<void> {
    const startMs = performance.now();
    const isAnew = seen !== null;
    seen = null;
    seen = await readAll(ctx.db, parts);
    beganMs = startMs;
    const tookMs = Math.round(performance.now() - startMs);
    if (isAnew) ctx.log.warn({ tookMs }, 'reloaded the copies of the registry: changes had been missed');
    else ctx.log.debug({ tookMs }, 'the copies of the registry are loaded');
  }

  return {
    refresh,
    loadAll,
    /** The snapshot that the copies are of; null: they are being changed, and may not be read. */
    seen: () => seen,
    beganMs: () => beganMs,
  };
}

/**
 * The view after news. An ended transaction stays ended: the server may find an earlier horizon, as a transaction of another database that
 * ends during the query counts as one of this database.
 */
const after = ({ horizon }: SnapshotView, news: SnapshotView): SnapshotView =>
  BigInt(news.horizon) < BigInt(horizon) ? { ...news, horizon } : news;

/** The changed rows, in one snapshot with the news of them. */
const readChanged = (db: Database, parts: readonly ReplicaPart[], before: SnapshotView) =>
  db.transaction(
    async (tx) => {
      const news = await readNews(tx, before);
      const steps: (() => void)[] = [];
      for (const part of parts)
        if (part.topics.some((topic) => news.changes.has(topic))) steps.push(...(await part.read(tx, news.changes)));
      return { news, steps };
    },
    { isolation: 'repeatable read' },
  );

const readAll = (db: Database, parts: readonly ReplicaPart[]): Promise<SnapshotView> =>
  db.transaction(
    async (tx) => {
      const seen = await readSeen(tx);
      for (const part of parts) await part.load(tx);
      return seen;
    },
    { isolation: 'repeatable read' },
  );

/**
 * Shares one run of `work` among concurrent callers. They wait up to `patienceMs` from its start; while it hangs, callers get an error, and
 * no further run starts.
 */
function createSharedRun(work: () => Promise<void>, patienceMs: number): { run(): Promise<void> } {
  let answered: Promise<void> | null = null;
  // A run belongs to no caller: not to one that is in the middle of a transaction, either.
  const outside = AsyncLocalStorage.snapshot();
  return {
    run() {
      if (answered) return answered;
      const working = outside(work);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(behind()), patienceMs);
      });
      answered = Promise.race([working, late]);
      answered.catch(() => undefined);
      const end = () => {
        clearTimeout(timer);
        answered = null;
      };
      working.then(end, end);
      return answered;
    },
  };
}

const behind = () =>
  new AppError('UNAVAILABLE', 'The registry view is temporarily out of date. Repeat the request.', {
    details: { outcome: 'nothing' },
  });
