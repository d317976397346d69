import { BATCH_GAS, gasInBatch, thatFit } from '../../chain/settlement-call.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { singleFlight } from '../../lib/concurrency/single-flight.ts';
import { createWake, type Wake } from '../../lib/concurrency/wake.ts';
import type { HasLog } from '../../lib/log/log.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import { awaitDepth } from './await-depth.ts';
import { createContractLane } from './contract-lane.ts';
import type { HasContractPayers } from './contract-payers.ts';
import { type Recorded, recordMined, type SettleOutcome } from './record-mined.ts';
import { retryReverted } from './retry-reverted.ts';
import { createSending, type Sent } from './send-transaction.ts';

/** Settles claimed payments on chain. */
export interface Settler {
  /**
   * Resolves with the chain's outcome, or as `unknown` when there is none in time; the reconciler continues then. A payment that is being
   * settled here is not sent a second time: the reconciler asks again and again while no key is free.
   */
  settle(payment: NewChainPayment): Promise<SettleOutcome>;
  idle(): Promise<void>;
  /** Waits up to `graceMs` for pending settlements, then resolves the rest as `unknown`; the reconciler of another process continues. */
  stop(graceMs: number): Promise<void>;
}

export interface HasSettler {
  readonly settler: Settler;
}

/** Batching delay of payments that arrive while a transaction is pending, before they take another key. */
const GATHER_MS = 100;
/** The last free key is taken after a third of the block time, because later payments have to wait for the next block. */
const LAST_GATHER_PART = 3;
const LAST_GATHER_MS = 700;

/**
 * Sends one transaction per key at a time: a lone payment goes out at once, and payments that arrive meanwhile share the next. Raw bytes
 * and hash are committed before they are sent, so that another process can continue if this one dies.
 */
export function createSettler(ctx: ChainContext & HasContractPayers): Settler {
  const stopping = new AbortController();
  const { signal } = stopping;
  const freed = createWake();
  const send = createSending(ctx, { signal, freed });
  const record = (payments: readonly NewChainPayment[], sent: Sent) => recordSent(ctx, payments, sent, freed);

  const sendAndRecord = async (payments: readonly NewChainPayment[]) =>
    byId(payments, await record(payments, await send(payments)));
  const outcomeOf = (payment: NewChainPayment, recorded?: Recorded) => settleOutcome(ctx, payment, recorded, signal);

  /** Outcomes in progress. The next transaction does not wait for them to be recorded, nor for their depth. */
  const ending = new Set<Promise<unknown>>();
  const pace = createPace(ctx.senders.length);
  async function settleBatch(batch: NewChainPayment[]): Promise<Promise<SettleOutcome>[]> {
    const payments = await thatCanBeSent(ctx, newestOf(batch));
    if (payments.length === 0) return batch.map((payment) => outcomeOf(payment, undefined));
    const startMs = performance.now();
    const sent = await send(payments);
    pace.took(performance.now() - startMs);
    const recorded = record(payments, sent).then((outcomes) => {
      const first = byId(payments, outcomes);
      return { first, retried: retryReverted(ctx, payments, first, sendAndRecord) };
    });
    return batch.map((payment) => {
      const outcome = recorded.then(async ({ first, retried }) => {
        const before = first.get(payment.id);
        return outcomeOf(payment, before?.state === 'reverted' ? (await retried).get(payment.id) : before);
      });
      ending.add(outcome);
      void outcome.finally(() => ending.delete(outcome));
      return outcome;
    });
  }

  const batcher = createBatcher({
    run: settleBatch,
    maxSize: Number(BATCH_GAS),
    weightOf: (payment) => Number(gasInBatch(payment)),
    maxConcurrent: ctx.senders.length,
    staggerMs: pace.staggerMs,
    canSplit: () => false,
  });
  const ofContracts = createContractLane(ctx, async (payment, gas) => {
    const [recorded] = await record([payment], await send([payment], gas));
    return outcomeOf(payment, recorded);
  });
  const laneOf = async (payment: NewChainPayment) =>
    (await ctx.contractPayers.isContract(payment)) ? ofContracts : batcher;
  const idle = async () => {
    await Promise.all([batcher.idle(), ofContracts.idle()]);
    await Promise.allSettled(ending);
  };
  const settleOnce = async (payment: NewChainPayment): Promise<SettleOutcome> => {
    const lane = await laneOf(payment).catch((err: unknown) => noteUnknownPayer(ctx, payment, err));
    const outcome: SettleOutcome = lane ? await lane.add(payment) : { state: 'unknown', transactionHash: null };
    ctx.metrics.settlements.inc({ outcome: outcome.state });
    return outcome;
  };
  return {
    settle: singleFlight(settleOnce, bySignature),
    idle,
    async stop(graceMs) {
      const timer = setTimeout(() => stopping.abort(new Error('the node is stopping')), graceMs);
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      await Promise.race([idle(), aborted]);
      clearTimeout(timer);
    },
  };
}

/** By the signature too: a payment that has expired in the queue must not keep its successor from being sent. */
const bySignature = ({ id, signature }: NewChainPayment): string => `${id} ${signature}`;

/** Each payment once: one that expired while it waited here may have come again, signed anew. */
const newestOf = (payments: readonly NewChainPayment[]): NewChainPayment[] => [
  ...new Map(payments.map((payment) => [payment.id, payment])).values(),
];

const byId = (payments: readonly NewChainPayment[], recorded: readonly Recorded[]): Map<string, Recorded> =>
  new Map(payments.map(({ id }, index) => [id, recorded[index] as Recorded]));

function noteUnknownPayer({ log }: HasLog, { id }: NewChainPayment, err: unknown): null {
  log.warn({ err, paymentId: id }, 'cannot look up the payer of a payment; left to the reconciler');
  return null;
}

/** The time that blocks take, as a moving average of the last transactions, and the batching delay that follows from it. */
function createPace(keyCount: number) {
  let blockMs = 0;
  return {
    took(ms: number): void {
      blockMs += (ms - blockMs) / 4;
    },
    staggerMs: (runningCount: number): number =>
      runningCount < keyCount - 1
        ? GATHER_MS
        : Math.min(Math.max(blockMs / LAST_GATHER_PART, GATHER_MS), LAST_GATHER_MS),
  };
}

/** Records what a block did with payments, and wakes those that wait for its key. A failed write leaves them to the reconciler, as unknown. */
async function recordSent(
  ctx: ChainContext,
  payments: readonly NewChainPayment[],
  { mined, hash }: Sent,
  freed: Wake,
): Promise<Recorded[]> {
  try {
    if (mined) return await recordMined(ctx, payments, mined);
  } catch (error) {
    ctx.log.warn({ err: error, hash }, 'cannot record settlement; left to the reconciler');
  } finally {
    freed.wake();
  }
  return payments.map(() => ({ state: 'unknown', transactionHash: hash }));
}

/** Waits for the depth of a mined payment. What was not sent, or reverted, is unknown: the reconciler asks the chain. */
async function settleOutcome(
  ctx: ChainContext,
  payment: NewChainPayment,
  recorded: Recorded | undefined,
  signal: AbortSignal,
): Promise<SettleOutcome> {
  if (recorded?.state === 'confirming') return awaitDepth(ctx, payment, recorded, signal);
  if (!recorded || recorded.state === 'reverted') return { state: 'unknown', transactionHash: null };
  return recorded;
}

/** Filters the payments that the keys can pay gas for; the rest waits for the reconciler, which retries soon. */
async function thatCanBeSent(ctx: ChainContext, payments: NewChainPayment[]): Promise<NewChainPayment[]> {
  const mostGas = await ctx.gas.mostGas().catch((err: unknown) => {
    ctx.log.warn({ err, payments: payments.length }, 'cannot tell how much gas the sender keys can pay for');
    return null;
  });
  const first = mostGas === null ? payments : thatFit(payments, mostGas);
  const waiting = payments.length - first.length;
  if (waiting > 0) ctx.log.error({ waiting }, 'sender keys lack gas for some payments; fund them');
  return first;
}
