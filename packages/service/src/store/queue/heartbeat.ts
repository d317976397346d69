import { randomUUID } from 'node:crypto';
import { createDelayMeter } from '../../lib/process/event-loop-delay.ts';
import type { Log } from '../../lib/telemetry/log.ts';
import type { Database, Store } from '../database.ts';
import type { Tx } from '../sql.ts';
import type { Drain } from './drain.ts';
import {
  findOutdating,
  insertProcess,
  type NewProcess,
  type ProcessSelf,
  removeProcess,
  takeDeadProcess,
  touchProcess,
} from './process-store.ts';

const BEAT_MS = 2_000;
/** While it drains: the operator waits for the next one. */
const DRAINING_BEAT_MS = 500;
/** Time that the others get to beat again after a gap in our own beats (the database was away, this process was stopped). */
const STEADY_MS = 2 * BEAT_MS;

export interface HeartbeatHooks {
  /**
   * Takes over the leases of a dead process, in the transaction that removes the process: it happens exactly once, or is retried. Also
   * called for our own id at `stop`, for unfinished work.
   */
  onProcessDead?: (tx: Tx, processId: string) => Promise<void>;
  /** Drops our work, which the others took over because this process was stopped for too long. It then continues under a new id. */
  onDeclaredDead?: (processId: string) => Promise<void>;
}

export interface HeartbeatOptions extends HeartbeatHooks {
  readonly self: ProcessSelf;
  /** Receives the operator's request with each beat, and reports open work. */
  readonly drain?: Pick<Drain, 'isAsked' | 'isRefusing' | 'openWork' | 'hear' | 'outdate'>;
}

/** This process of the node: its id, and whether it drains. */
export interface NodeProcess {
  /** The current id of this process, which owns its leases. */
  processId(): string;
  readonly drain: Drain;
}

/** Registration of this process among the running ones. */
export interface Heartbeat {
  /** Returns the current process id, the owner to write on leases. It changes after this process was declared dead. */
  processId(): string;
  stop(): Promise<void>;
}

/**
 * Registers this process and sends a heartbeat every 2 s. A process without one for 10 s is removed by another; the work of a killed process
 * is taken over within 15 s.
 */
export async function startHeartbeat(
  ctx: Pick<Store, 'db'> & { log: Log },
  { self, drain, ...hooks }: HeartbeatOptions,
): Promise<Heartbeat> {
  const { db, log } = ctx;
  const delayMeter = createDelayMeter();
  let id: string = randomUUID();
  let drainAskedAt: string | null = null;
  let hasDead = false;
  await register(db, { ...self, id, drainAskedAt });

  const beatOnce = async (): Promise<void> => {
    const openWork = drain?.isAsked() ? drain.openWork() : null;
    const isRefusing = drain?.isRefusing() ?? false;
    const beat = { delay: delayMeter.read(), openWork, isRefusing };
    // A transaction: its acknowledged position covers lone statements before it.
    const told = await db.transaction((tx) => touchProcess(tx, id, beat));
    if (told) {
      drainAskedAt = told.drainAskedAt;
      hasDead = told.hasDead;
      if (told.outdatedBy !== null) drain?.outdate(told.outdatedBy);
      drain?.hear(drainAskedAt !== null);
      // The operator waits for it: told now, not with the next beat.
      return drain && drain.isRefusing() !== isRefusing ? beatOnce() : undefined;
    }
    log.error({ processId: id }, 'this process was declared dead; continuing under a new id');
    await hooks.onDeclaredDead?.(id);
    const next = randomUUID();
    await insertProcess(db, { ...self, id: next, drainAskedAt });
    id = next;
  };
  const stopBeating = startBeating({ log, isDraining: () => drain?.isAsked() ?? false }, beatOnce, async () => {
    if (hasDead) await buryTheDead(ctx, hooks);
  });

  return {
    processId: () => id,
    async stop() {
      await stopBeating();
      delayMeter.stop();
      await db.transaction(async (tx) => {
        if (await removeProcess(tx, id)) await hooks.onProcessDead?.(tx, id);
      });
    },
  };
}

/** Registers a process. From then on contracting migrations see it; earlier ones are checked here. */
async function register(db: Database, row: NewProcess): Promise<void> {
  await insertProcess(db, row);
  const outdatedBy = row.schemaVersion === undefined ? null : await findOutdating(db, row.schemaVersion);
  if (outdatedBy === null) return;
  await db.transaction((tx) => removeProcess(tx, row.id));
  throw new Error(
    `the database is too new: ${outdatedBy} removed what this version uses while it started; start a newer version`,
  );
}

function startBeating(
  { log, isDraining }: { log: Log; isDraining: () => boolean },
  beatSelf: () => Promise<void>,
  judgeOthers: () => Promise<void>,
): () => Promise<void> {
  let steadySinceMs = performance.now();
  let lastBeatMs = performance.now();
  let stopped = false;
  let timer: NodeJS.Timeout;
  let beating = Promise.resolve();

  const beat = async (): Promise<void> => {
    await beatSelf();
    const nowMs = performance.now();
    if (nowMs - lastBeatMs > 2 * BEAT_MS) steadySinceMs = nowMs;
    lastBeatMs = nowMs;
    if (nowMs - steadySinceMs >= STEADY_MS) await judgeOthers();
  };
  const schedule = (): void => {
    timer = setTimeout(
      () => {
        beating = beat()
          .catch((err: unknown) => log.warn({ err }, 'heartbeat failed'))
          .finally(() => stopped || schedule());
      },
      isDraining() ? DRAINING_BEAT_MS : BEAT_MS,
    );
  };
  schedule();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await beating;
  };
}

async function buryTheDead({ db, log }: Pick<Store, 'db'> & { log: Log }, hooks: HeartbeatHooks): Promise<void> {
  for (;;) {
    const dead = await db.transaction(async (tx) => {
      const taken = await takeDeadProcess(tx);
      if (taken === undefined) return undefined;
      await hooks.onProcessDead?.(tx, taken.id);
      return taken;
    });
    if (dead === undefined) return;
    log.warn({ processId: dead.id, label: dead.label }, 'took over the work of a dead process');
  }
}
