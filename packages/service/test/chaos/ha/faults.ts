import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../src/lib/concurrency/until.ts';
import type { Seat } from '../torture/bank-world.ts';
import type { Member, PatroniCluster } from './patroni-cluster.ts';

export type FaultName =
  | 'kill of the primary'
  | 'partition of the primary from etcd'
  | 'kill of a node process'
  | 'rolling upgrade';

/** Does a fault, and resolves when another server or process serves; `mend` puts back what was taken. */
export interface Struck {
  /** Until another member said that it is the primary. */
  readonly takenOverMs?: number;
  mend(): Promise<void>;
}

const TAKEN_OVER_MS = 60_000;

/** Waits for another primary; resolves with the time that it took, in milliseconds. */
async function takenOver(cluster: PatroniCluster, before: Member): Promise<number> {
  const sinceMs = performance.now();
  const another = async () => {
    const leader = await cluster.leader();
    return leader !== null && leader !== before ? true : null;
  };
  if (!(await until(another, { timeoutMs: TAKEN_OVER_MS, firstMs: 50, mostMs: 200 })))
    throw new Error(`nobody took over from ${before.name}`);
  return performance.now() - sinceMs;
}

async function currentLeader(cluster: PatroniCluster): Promise<Member> {
  const leader = await cluster.leader();
  if (!leader) throw new Error('there is no primary to strike');
  return leader;
}

export async function killPrimary(cluster: PatroniCluster): Promise<Struck> {
  const primary = await currentLeader(cluster);
  await primary.cutPower();
  return {
    takenOverMs: await takenOver(cluster, primary),
    async mend() {
      primary.start();
      await cluster.untilHealthy();
    },
  };
}

/** The primary goes on running and reaches everybody but etcd: it has to give up by itself. */
export async function partitionPrimary(cluster: PatroniCluster): Promise<Struck> {
  const primary = await currentLeader(cluster);
  primary.toEtcd.set('silent');
  return {
    takenOverMs: await takenOver(cluster, primary),
    async mend() {
      primary.toEtcd.set('open');
      primary.toEtcd.forgetMute();
      await cluster.untilHealthy();
    },
  };
}

export async function killProcess(seats: readonly Seat[], index: number): Promise<Struck> {
  const seat = seats[index % seats.length];
  seat?.kill(1_000);
  return { mend: async () => seat?.untilTaken() };
}

/** Longer than nginx takes a process that it found down for down (`fail_timeout`). */
const FOUND_AGAIN_MS = 3_000;

/** One process after the other ends and is started anew, with the other serving. */
export async function upgrade(seats: readonly Seat[]): Promise<Struck> {
  for (const seat of seats) {
    await seat.restart();
    await sleep(FOUND_AGAIN_MS);
  }
  return { mend: async () => undefined };
}
