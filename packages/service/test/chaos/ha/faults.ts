import { until } from '../../../src/lib/concurrency/until.ts';
import type { Seat } from '../torture/bank-world.ts';
import type { Member, PatroniCluster } from './patroni-cluster.ts';
import { type Timeline, watchFailover } from './timeline.ts';

export type FaultName =
  | 'kill of the primary'
  | 'partition of the primary from etcd'
  | 'kill of a node process'
  | 'rolling upgrade';

/** Does a fault, and resolves when what was struck is replaced; `mend` puts back what was taken. */
export interface Struck {
  /** Steps of a failover of the database. */
  readonly timeline?: Readonly<Timeline>;
  mend(): Promise<void>;
}

const TAKEN_OVER_MS = 60_000;

/** Does something to the primary, and waits until another member has acknowledged a commit. */
async function failOver(
  cluster: PatroniCluster,
  primary: Member,
  strike: () => Promise<void> | void,
): Promise<Readonly<Timeline>> {
  const watch = watchFailover(cluster, primary);
  try {
    await strike();
    const isOver = async () => (watch.seen.acknowledged === undefined ? null : true);
    if (await until(isOver, { timeoutMs: TAKEN_OVER_MS, firstMs: 50, maxMs: 200 })) return watch.seen;
    throw new Error(`nobody took over from ${primary.name}; seen: ${Object.keys(watch.seen).join(', ') || 'nothing'}`);
  } finally {
    await watch.stop();
  }
}

async function currentLeader(cluster: PatroniCluster): Promise<Member> {
  const leader = await cluster.leader();
  if (!leader) throw new Error('there is no primary to strike');
  return leader;
}

export async function killPrimary(cluster: PatroniCluster): Promise<Struck> {
  const primary = await currentLeader(cluster);
  return {
    timeline: await failOver(cluster, primary, () => primary.cutPower()),
    async mend() {
      primary.start();
      await cluster.untilHealthy();
    },
  };
}

/** The primary goes on running and reaches everybody but etcd: it has to give up by itself. */
export async function partitionPrimary(cluster: PatroniCluster): Promise<Struck> {
  const primary = await currentLeader(cluster);
  return {
    timeline: await failOver(cluster, primary, () => primary.toEtcd.set('silent')),
    async mend() {
      primary.toEtcd.set('open');
      primary.toEtcd.forgetMute();
      await cluster.untilHealthy();
    },
  };
}

/** Resolves when another process has taken its place, so that all calls meanwhile count. */
export async function killProcess(seats: readonly Seat[], index: number): Promise<Struck> {
  const seat = seats[index % seats.length];
  seat?.kill(1_000);
  await seat?.untilTaken();
  return { mend: async () => undefined };
}

/** Ends and restarts the processes one after the other, while the other serves. */
export async function upgrade(seats: readonly Seat[]): Promise<Struck> {
  for (const seat of seats) await seat.restart();
  return { mend: async () => undefined };
}
