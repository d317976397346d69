import { setTimeout as delay } from 'node:timers/promises';
import type { Metrics } from '../../lib/metrics.ts';
import type { Log } from '../../lib/telemetry/log.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { type KeptOn, keptOn, meaningOf } from './durability.ts';
import { readHoles } from './hole-store.ts';
import type { GateState, PrimaryGate } from './primary-gate.ts';
import { keepPromise } from './promise-file.ts';
import { type Queryable, type Replication, readReplication } from './server-position-store.ts';

const LOOK_MS = 1_000;
/** Settings and standbys change seldom. */
const REPLICATION_MS = 5_000;
/** Time limit of one look: the pool itself gives up earlier. */
const LOOK_LIMIT_MS = 10_000;

export interface DatabaseStatus {
  /** Reason for which the database is refused; null: it is used. */
  readonly hole: string | null;
  readonly timeline: number | null;
  /** null: not known yet. */
  readonly keptOn: KeptOn | null;
  readonly standbys: number;
  readonly synchronousStandbys: number | null;
}

export interface DatabaseWatch {
  read(): DatabaseStatus;
  stop(): Promise<void>;
}

export interface WatchOptions extends Telemetry {
  readonly gate: PrimaryGate;
  /** Lends a connection of the pool to a server that the gate has checked. */
  readonly lend: <T>(work: (client: Queryable) => Promise<T>) => Promise<T>;
  /** Keeps acknowledged positions across restarts, for all processes of this machine; null: none. */
  readonly promiseFile: string | null;
}

/**
 * Checks the database once a second: for a hole that another process found, every five seconds for the state of replication, and whether a
 * refused database may be used again. It also shares promised commits with other processes of this machine.
 */
export function startDatabaseWatch({ gate, lend, log, metrics, promiseFile }: WatchOptions): DatabaseWatch {
  const stopping = new AbortController();
  let replication: Replication | null = null;
  let readMs = Number.NEGATIVE_INFINITY;
  let said: KeptOn | null = null;

  const look = async (): Promise<void> => {
    await lend(async (client) => {
      const { open } = await readHoles(client);
      if (open) return gate.close(open.reason);
      if (performance.now() - readMs < REPLICATION_MS) return;
      replication = await readReplication(client);
      readMs = performance.now();
    });
    if (!replication) return;
    const kept = keptOn(replication);
    if (kept !== said) tell(log, kept, replication);
    said = kept;
  };
  const keep = async (): Promise<void> => {
    if (promiseFile === null) return;
    const known = await keepPromise(promiseFile, gate.state().promised);
    if (known) gate.recall(known);
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const limit = delay(LOOK_LIMIT_MS, undefined, { ref: false, signal: stopping.signal }).catch(() => undefined);
      await Promise.race([look(), limit]).catch((err: unknown) => log.debug({ err }, 'cannot look at the database'));
      await keep().catch((err: unknown) => log.warn({ err, promiseFile }, 'cannot keep acknowledged positions'));
      meter(metrics, gate.state(), replication);
      await delay(LOOK_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
    await keep().catch(() => undefined);
  };
  const looping = loop();
  return {
    read: () => {
      const { hole, server } = gate.state();
      return {
        hole,
        timeline: server?.timeline ?? null,
        keptOn: said,
        standbys: replication?.standbys ?? 0,
        synchronousStandbys: replication?.synchronousStandbys ?? null,
      };
    },
    async stop() {
      stopping.abort();
      await looping;
    },
  };
}

function tell(
  log: Log,
  kept: KeptOn,
  { synchronousCommit, synchronousStandbyNames, isFsync, standbys }: Replication,
): void {
  const settings = {
    synchronous_commit: synchronousCommit,
    synchronous_standby_names: synchronousStandbyNames,
    fsync: isFsync ? 'on' : 'off',
  };
  // Without a standby there is no failover that could lose anything.
  const isRisk = kept === 'nothing' || (kept === 'server' && standbys > 0);
  log[isRisk ? 'warn' : 'info']({ settings, remedy: 'docs/high-availability.md' }, meaningOf[kept]);
}

function meter(metrics: Metrics, { hole, server, refused }: GateState, replication: Replication | null): void {
  metrics.databaseHole.set(hole === null ? 0 : 1);
  if (server?.timeline) metrics.databaseTimeline.set(server.timeline);
  if (replication) metrics.databaseStandbys.set({ kind: 'any' }, replication.standbys);
  if (replication?.synchronousStandbys != null)
    metrics.databaseStandbys.set({ kind: 'synchronous' }, replication.synchronousStandbys);
  for (const reason of ['standby', 'hole'] as const) metrics.databaseServersRefused.set({ reason }, refused[reason]);
}
