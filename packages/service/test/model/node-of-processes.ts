import { setTimeout as sleep } from 'node:timers/promises';
import { callChainBatch } from '@agent-network/chain/chain-rpc-client';
import type { ContextParts } from '../../src/context.ts';
import type { Database } from '../../src/db/database.ts';
import type { listen } from '../../src/http/listen.ts';
import { jobHandlers } from '../../src/jobs.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { readTransfers } from '../../src/payments/read-transfers.ts';
import { reconcilePayments } from '../../src/payments/x402/reconcile.ts';
import { startHeartbeat } from '../../src/queue/heartbeat.ts';
import type { JobHandlers } from '../../src/queue/job-types.ts';
import { takeDeadProcess } from '../../src/queue/process-store.ts';
import { startWorker } from '../../src/queue/worker.ts';
import type { Answer, RequestOptions } from '../support/harness.ts';
import { type MortalNode, startMortalNode } from './mortal-node.ts';

interface Parts {
  readonly parts: Omit<ContextParts, 'clock'>;
  readonly front: Awaited<ReturnType<typeof listen>>;
  readonly send: (method: string, path: string, options?: RequestOptions) => Promise<Answer>;
  readonly db: Database;
  readonly rpcUrl: string;
}

/** A node that is one process after the other, on one address, by a clock that its world sets. */
export interface NodeOfProcesses {
  readonly clock: Clock;
  current(): MortalNode;
  /** Asks it over HTTP. Rejects when the process dies over it. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** What it answers to a GET, without the way over the network. */
  look(path: string, key: string): Promise<Answer>;
  /** The process dies, if it has not; `meanwhile` things happen and time passes, and the next one goes on. */
  succeed(meanwhile?: () => Promise<void>, passMs?: number): Promise<void>;
  /** Until nothing that moves money on chain is open; what takes long is looked after as if minutes had passed. */
  untilAtRest(): Promise<void>;
  /** A minute passes, and the work that comes round by the clock is done, until nothing that moves money on chain is open. */
  lookAround(meanwhile?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Longer than a process may be silent, and than it may take to see a payment through. */
const MINUTE_MS = 60_000;
/** A payment that is hours old is in no block that a reorg reaches. */
const DEEPER_THAN_REORGS = '0x8';
const AT_REST_WITHIN_MS = 20_000;
/** How long what is open is left to the process that works on it. */
const UNTOUCHED_MS = 250;
const TICK_MS = 500;
const MOST_STARTS = 3;

/** Payments that have not ended, or that a reorg took back, and transactions that no block is known to have. */
const OPEN = `
  select (select count(*) from chain_payment where state in ('claimed', 'broadcasting') or (state = 'settled' and lost_at is not null))
       + (select count(*) from chain_transaction where state = 'sent') as count`;

export async function startNodeOfProcesses({ parts, front, send, db, rpcUrl }: Parts): Promise<NodeOfProcesses> {
  let aheadMs = 0;
  const clock: Clock = { now: () => new Date(Date.now() + aheadMs) };
  const burials: Promise<unknown>[] = [];
  const start = async () => {
    const next = await insist(() => startMortalNode({ ...parts, clock }, db));
    front.serve(next.fetch);
    return next;
  };
  let current = await start();
  await readTransfers(current.ctx);
  const jobs = await startJobs(db, () => current);

  async function letPass(ms: number): Promise<void> {
    aheadMs += ms;
    await db.query('', `update chain_signer set leased_until = leased_until - $1 * interval '1 millisecond'`, [ms]);
  }

  let turn: Promise<unknown> = Promise.resolve();
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  }

  async function succeed(dead: MortalNode, meanwhile: () => Promise<void>, passMs: number): Promise<void> {
    await meanwhile();
    await letPass(passMs);
    if (passMs > MINUTE_MS)
      await callChainBatch(rpcUrl, [
        ['evm_increaseTime', passMs / 1000],
        ['anvil_mine', DEEPER_THAN_REORGS],
      ]);
    const id = dead.ctx.processId();
    await db.query('', `update process set seen_at = seen_at - interval '1 minute' where id = $1`, [id]);
    while (await db.transaction((tx) => takeDeadProcess(tx)));
    current = await start();
    await reconcilePayments(current.ctx);
  }

  const isOpen = async () => (await db.query<{ count: bigint }>('', OPEN))[0]?.count !== 0n;

  const lookAround = () =>
    inTurn(async () => {
      await letPass(MINUTE_MS);
      await reconcilePayments(current.ctx);
      // As with all that comes round: what fails is tried again.
      await readTransfers(current.ctx).catch(() => undefined);
    });

  /** What a call waits for may need the work that comes round. */
  const ticking = setInterval(async () => {
    await ((await isOpen()) ? lookAround() : readTransfers(current.ctx).catch(() => undefined));
  }, TICK_MS);

  async function untilAtRest(untouchedMs: number, meanwhile = async () => {}): Promise<void> {
    const startMs = performance.now();
    for (let pauseMs = 2; await isOpen(); pauseMs = Math.min(pauseMs * 2, 50)) {
      const waitedMs = performance.now() - startMs;
      if (waitedMs > AT_REST_WITHIN_MS) throw new Error('money on chain does not come to rest');
      await sleep(pauseMs);
      await meanwhile();
      if (waitedMs >= untouchedMs) await lookAround();
    }
  }

  return {
    clock,
    current: () => current,
    request: (method, path, options) => unlessDead(current.signal, send(method, path, options)),
    async look(path, key) {
      const headers = { authorization: `Bearer ${key}` };
      const response = await current.fetch(new Request(`${parts.baseUrl}${path}`, { headers }));
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
    succeed(meanwhile = async () => {}, passMs = MINUTE_MS) {
      const dead = current;
      dead.die();
      burials.push(dead.buried);
      return inTurn(() => succeed(dead, meanwhile, passMs));
    },
    untilAtRest: () => untilAtRest(UNTOUCHED_MS),
    async lookAround(meanwhile = async () => {}) {
      await meanwhile();
      await lookAround();
      await untilAtRest(0, meanwhile);
    },
    async stop() {
      clearInterval(ticking);
      await turn;
      await jobs.stop();
      current.die();
      await Promise.all([...burials, current.buried]);
    },
  };
}

/** Jobs are run by whichever process lives; one whose process dies over it is run by the next. */
async function startJobs(db: Database, current: () => MortalNode): Promise<{ stop(): Promise<void> }> {
  const log = silentLog;
  const heartbeat = await startHeartbeat({ db, log }, { label: 'jobs' });
  const stopping = new AbortController();
  const handlers: JobHandlers = {
    async 'settle-payment'(payload, run) {
      for (let life = current(); !stopping.signal.aborted; life = current()) {
        const done = jobHandlers(life.ctx)['settle-payment'](payload, run);
        await done.catch((error) => life.signal.aborted || Promise.reject(error));
        if (!life.signal.aborted) return;
        while (current() === life && !stopping.signal.aborted) await sleep(5);
      }
    },
  };
  const worker = await startWorker({ db, log, heartbeat }, handlers, { concurrency: 2 });
  return {
    async stop() {
      stopping.abort();
      await worker.stop(500);
      await heartbeat.stop();
    },
  };
}

/** A call that is answered by nobody once the process is gone. */
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
      if (tries === MOST_STARTS) throw error;
    }
}
