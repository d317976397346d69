import { callChainBatch } from '@agent-network/chain/chain-rpc-client';
import type { ContextParts } from '../../../src/compose/context.ts';
import type { listen } from '../../../src/http/admission/listen.ts';
import type { Clock } from '../../../src/lib/clock.ts';
import { createSemaphore } from '../../../src/lib/concurrency/semaphore.ts';
import { readTransfers } from '../../../src/payments/reconcile/read-transfers.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import type { Database } from '../../../src/store/database.ts';
import { takeDeadProcess } from '../../../src/store/queue/process-store.ts';
import { type Answer, type RequestOptions, send } from '../../support/harness.ts';
import { type MortalNode, startMortalNode } from './mortal-node.ts';
import { startRecurringWork } from './recurring-work.ts';

interface Parts {
  readonly parts: Omit<ContextParts, 'clock'>;
  readonly front: Awaited<ReturnType<typeof listen>>;
  readonly db: Database;
  /** The chain, undisturbed. */
  readonly rpcUrl: string;
}

/** A node that is one process after the other, at one address, by a clock that runs ahead when time is to pass. */
export interface NodeOfProcesses {
  readonly clock: Clock;
  current(): MortalNode;
  /** Asks it over HTTP. Rejects when the process dies over it. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** The answer to a GET, without the network. */
  look(path: string, key: string): Promise<Answer>;
  /** The process dies, if it has not; `meanwhile` things happen and time passes, and the next one goes on. */
  succeed(meanwhile?: () => Promise<void>, passMs?: number): Promise<void>;
  /** Until nothing that moves money on chain is open; what takes long is looked after as if minutes had passed. */
  untilAtRest(): Promise<void>;
  /**
   * Waits like `untilAtRest`, but runs the recurring work in any case, so that work undone by a reorg is repeated. `meanwhile` runs before
   * it.
   */
  lookAround(meanwhile: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Longer than a process may be silent, and than it may take to see a payment through. */
const MINUTE_MS = 60_000;
/** A payment that is hours old is in no block that a reorg reaches. */
const DEEPER_THAN_REORGS = '0x8';
/** How long what is open is left to the process that works on it. */
const UNTOUCHED_MS = 250;
const MAX_STARTS = 3;

export async function startNodeOfProcesses({ parts, front, db, rpcUrl }: Parts): Promise<NodeOfProcesses> {
  const time = createTime(db, rpcUrl);
  const serial = createSemaphore();
  const burials: Promise<unknown>[] = [];
  const start = async () => {
    const next = await insist(() => startMortalNode({ ...parts, clock: time.clock }, db));
    burials.push(next.buried);
    front.serve(next.fetch);
    return next;
  };
  let current = await start();
  await readTransfers(current.ctx);
  const recurring = startRecurringWork({
    db,
    current: () => current,
    inAMinute: (work) => serial.run(() => time.pass(MINUTE_MS).then(work)),
  });

  async function succeed(dead: MortalNode, meanwhile: () => Promise<void>, passMs: number): Promise<void> {
    await meanwhile();
    await time.pass(passMs);
    await declareDead(db, dead);
    current = await start();
    await reconcilePayments(current.ctx);
  }

  return {
    clock: time.clock,
    current: () => current,
    request: (method, path, options) => unlessDead(current.signal, send(parts.baseUrl, method, path, options)),
    async look(path, key) {
      const headers = { authorization: `Bearer ${key}` };
      const response = await current.fetch(new Request(`${parts.baseUrl}${path}`, { headers }));
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
    succeed(meanwhile = async () => {}, passMs = MINUTE_MS) {
      const dead = current;
      dead.die();
      return serial.run(() => succeed(dead, meanwhile, passMs));
    },
    untilAtRest: () => recurring.untilAtRest(UNTOUCHED_MS),
    async lookAround(meanwhile) {
      await meanwhile();
      await recurring.lookAround();
      await recurring.untilAtRest(0, meanwhile);
    },
    async stop() {
      recurring.stop();
      await serial.run(async () => {});
      current.die();
      await Promise.all(burials);
    },
  };
}

/** The node's clock; the database's and the chain's are set on with it where somebody goes by them. */
function createTime(db: Database, rpcUrl: string): { readonly clock: Clock; pass(ms: number): Promise<void> } {
  let aheadMs = 0;
  return {
    clock: { now: () => new Date(Date.now() + aheadMs) },
    async pass(ms) {
      aheadMs += ms;
      await db.query('', `update chain_signer set leased_until = leased_until - $1 * interval '1 millisecond'`, [ms]);
      if (ms <= MINUTE_MS) return;
      await callChainBatch(rpcUrl, [
        ['evm_increaseTime', ms / 1000],
        ['anvil_mine', DEEPER_THAN_REORGS],
      ]);
    },
  };
}

/** The reaction of other processes to one that is silent for too long (proven by test/store/queue/heartbeat.test.ts). */
async function declareDead(db: Database, { ctx }: MortalNode): Promise<void> {
  const silent = `update process set seen_at = seen_at - interval '1 minute' where id = $1`;
  await db.query('', silent, [ctx.processId()]);
  while (await db.transaction((tx) => takeDeadProcess(tx)));
}

/** A call that gets no answer once the process is gone. */
function unlessDead<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const tell = () => reject(new Error('the process died over it'));
    if (signal.aborted) return tell();
    signal.addEventListener('abort', tell, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', tell));
  });
}

/** A process that does not start, as the chain does not answer, is started again, as an init system does it. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (tries === MAX_STARTS) throw error;
    }
}
