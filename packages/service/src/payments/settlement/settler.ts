import { depthFor, isDeepEnough } from '../../chain/blocks/confirmation-depth.ts';
import { BATCH_GAS, fitting, gasInBatch } from '../../chain/settlement-call.ts';
import { type Batcher, createBatcher } from '../../lib/concurrency/batcher.ts';
import { createSemaphore, type Semaphore } from '../../lib/concurrency/semaphore.ts';
import { singleFlight } from '../../lib/concurrency/single-flight.ts';
import { until } from '../../lib/concurrency/until.ts';
import { createWake, type Wake } from '../../lib/concurrency/wake.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { HeldUpError } from '../../store/lock-free.ts';
import type { Statement } from '../../store/sql.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { failRefused } from '../chain-outbox/end-payments.ts';
import type { SignedTransaction } from '../chain-outbox/open-transaction.ts';
import { isRefusedNow } from '../schemes/exact/payer-status.ts';
import type { PaymentChecks } from '../schemes/exact/payment-checks.ts';
import { contractGas } from './contract-payers.ts';
import { endSpent } from './end-spent.ts';
import { refusalOfNode, simulateAll } from './payment-simulator.ts';
import { type Confirming, type Recorded, recordMined, type SettleOutcome } from './record-mined.ts';
import { createSending, type Sending, type Sent } from './send-transaction.ts';

/** Settles claimed payments on chain. */
export interface Settler {
  /**
   * Resolves with the chain's outcome, or as `unknown` when there is none in time; the reconciler continues then. A payment that is being
   * settled here is not sent a second time: the reconciler asks again and again while no key is free. `carrier`: stored with its claim.
   */
  settle(payment: NewChainPayment, carrier?: Carrier | null): Promise<SettleOutcome>;
  /** Prepares a lone payment, so that the commit that claims it is that of its transaction. null: it takes its turn among others. */
  carry(payment: NewChainPayment): Promise<Carrier | null>;
  idle(): Promise<void>;
  /** Waits up to `graceMs` for pending settlements, then resolves the rest as `unknown`; the reconciler of another process continues. */
  stop(graceMs: number): Promise<void>;
}

/** A signed transaction for a payment that is not claimed yet. It keeps a key from others here until the payment is settled, or it is dropped. */
export interface Carrier {
  readonly signed: SignedTransaction;
  /** Guarded statements that store it, for the flush that claims its payment. Nothing of it may be sent before that has committed. */
  stored(now: Date): readonly Statement[];
  drop(): void;
}

/** Turns of settlers of one process at the sending keys of a chain. Batches take keys in order of arrival, whichever token they are of. */
export interface KeyTurns {
  /** Keys that no batch and no carrier of this process uses. */
  readonly keys: Semaphore;
  /** Half of the keys, which payments of contract wallets may use at once. */
  readonly ofContracts: Semaphore;
  readonly freed: Wake;
}

export const createKeyTurns = (keyCount: number): KeyTurns => ({
  keys: createSemaphore(keyCount),
  ofContracts: createSemaphore(Math.ceil(keyCount / 2)),
  freed: createWake(),
});

/** Batching delay of payments that arrive while a transaction is pending, before they take another key. */
const GATHER_MS = 100;
/** The last free key is taken after a third of the block time, because later payments have to wait for the next block. */
const LAST_GATHER_PART = 3;
const LAST_GATHER_MS = 700;

/**
 * Sends one transaction per key at a time: a lone payment is sent at once, and payments that arrive in the meantime share the next. Raw
 * bytes and hash are committed before they are sent, so that another process can continue if this one dies.
 */
export function createSettler(
  ctx: ChainContext & Pick<PaymentChecks, 'contractPayers'>,
  { keys, ofContracts: contractKeys, freed }: KeyTurns = createKeyTurns(ctx.senders.length),
): Settler {
  const stopping = new AbortController();
  const { signal } = stopping;
  const sending = createSending(ctx, { signal, freed });
  const { send } = sending;
  const record = (payments: readonly NewChainPayment[], sent: Sent) => recordSent(ctx, payments, sent, freed);

  const outcomeOf = (payment: NewChainPayment, recorded?: Recorded) => settleOutcome(ctx, payment, recorded, signal);
  /** Outcomes in progress. The next transaction does not wait for them to be recorded, nor for their depth. */
  const ending = new Set<Promise<unknown>>();
  const pace = createPace(ctx.senders.length);
  const settleBatch = createBatchSettling(ctx, { send, record, outcomeOf, pace, ending });
  const batcher = createBatcher({
    run: settleBatch,
    maxSize: Number(BATCH_GAS),
    weightOf: (payment) => Number(gasInBatch(payment)),
    maxConcurrent: ctx.senders.length,
    semaphore: keys,
    staggerMs: pace.staggerMs,
    canSplit: () => false,
  });
  const ofContracts = createContractLane(ctx, contractKeys, async (payment, gas) => {
    const [recorded] = await record([payment], await send([payment], gas));
    return outcomeOf(payment, recorded);
  });
  const laneOf = async (payment: NewChainPayment) =>
    (await ctx.contractPayers.isContract(payment)) ? ofContracts : batcher;
  const idle = async () => {
    await Promise.all([batcher.idle(), ofContracts.idle()]);
    await Promise.allSettled(ending);
  };
  const settleCarried = async (payment: NewChainPayment, carrier: Carrier): Promise<SettleOutcome> => {
    const sent = await sending.sendStored(carrier.signed);
    carrier.drop();
    const [recorded] = await record([payment], sent);
    return outcomeOf(payment, recorded);
  };
  const settleInTurn = async (payment: NewChainPayment): Promise<SettleOutcome> => {
    const lane = await laneOf(payment).catch((err: unknown) => logUnknownPayer(ctx, payment, err));
    return lane ? await lane.add(payment) : { state: 'unknown', transactionHash: null };
  };
  const settleOnce = async ({ payment, carrier }: ToSettle): Promise<SettleOutcome> => {
    const settling = carrier ? settleCarried(payment, carrier) : settleInTurn(payment);
    ending.add(settling);
    const outcome = await settling.finally(() => ending.delete(settling));
    ctx.metrics.settlements.inc({ outcome: outcome.state });
    return outcome;
  };
  const settle = singleFlight(settleOnce, ({ payment }) => bySignature(payment));
  return {
    settle: (payment, carrier = null) => settle({ payment, carrier }).finally(() => carrier?.drop()),
    carry: (payment) => carryAlone(ctx, payment, { sending, keys }),
    idle,
    async stop(graceMs) {
      const timer = setTimeout(() => stopping.abort(new Error('the node is stopping')), graceMs);
      const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      await Promise.race([idle(), aborted]);
      clearTimeout(timer);
    },
  };
}

type Outcome = Promise<SettleOutcome>;

interface Settling {
  readonly send: Sending['send'];
  readonly record: (payments: readonly NewChainPayment[], sent: Sent) => Promise<Recorded[]>;
  readonly outcomeOf: (payment: NewChainPayment, recorded?: Recorded) => Outcome;
  readonly pace: ReturnType<typeof createPace>;
  readonly ending: Set<Promise<unknown>>;
}

/** Settles payments in one transaction; those that fail in it are tried again. */
function createBatchSettling(ctx: ChainContext, { send, record, outcomeOf, pace, ending }: Settling) {
  const sendAndRecord = async (payments: readonly NewChainPayment[]) =>
    byId(payments, await record(payments, await send(payments)));
  return async (batch: NewChainPayment[]): Promise<Outcome[]> => {
    const payments = await affordable(ctx, newestOf(batch));
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
  };
}

interface ToSettle {
  readonly payment: NewChainPayment;
  readonly carrier: Carrier | null;
}

/** Only while nothing else is on its way: payments that come together share a transaction. */
async function carryAlone(
  ctx: ChainContext & Pick<PaymentChecks, 'contractPayers'>,
  payment: NewChainPayment,
  { sending, keys }: { readonly sending: Sending; readonly keys: Semaphore },
): Promise<Carrier | null> {
  if (keys.free() < ctx.senders.length || !keys.tryAcquire(() => undefined)) return null;
  let isDropped = false;
  const drop = () => {
    if (!isDropped) keys.release();
    isDropped = true;
  };
  try {
    const signed = (await ctx.contractPayers.isContract(payment)) ? null : await sending.sign(payment);
    if (signed) return { signed, stored: (now) => sending.stored(payment, signed, now), drop };
  } catch (err) {
    ctx.log.warn({ err, paymentId: payment.id }, 'cannot sign the transaction of a payment before its claim');
  }
  drop();
  return null;
}

/** By the signature too: a payment that has expired in the queue must not keep its successor from being sent. */
const bySignature = ({ id, signature }: NewChainPayment): string => `${id} ${signature}`;

/** The newest version of each payment: one that expired while it waited here may have been signed again. */
const newestOf = (payments: readonly NewChainPayment[]): NewChainPayment[] => [
  ...new Map(payments.map((payment) => [payment.id, payment])).values(),
];

const byId = (payments: readonly NewChainPayment[], recorded: readonly Recorded[]): Map<string, Recorded> =>
  new Map(payments.map(({ id }, index) => [id, recorded[index] as Recorded]));

function logUnknownPayer({ log }: Telemetry, { id }: NewChainPayment, err: unknown): null {
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

/**
 * Records the outcome of payments in a block, and wakes those that wait for its key. A failed write leaves them to the reconciler, as
 * unknown.
 */
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

/** Waits for the depth of a mined payment. A payment that was not sent, or reverted, is unknown: the reconciler asks the chain. */
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
async function affordable(ctx: ChainContext, payments: NewChainPayment[]): Promise<NewChainPayment[]> {
  const maxGas = await ctx.gas.maxGas().catch((err: unknown) => {
    ctx.log.warn({ err, payments: payments.length }, 'could not read how much gas the sender keys can pay for');
    return null;
  });
  const first = maxGas === null ? payments : fitting(payments, maxGas);
  const waiting = payments.length - first.length;
  if (waiting > 0) ctx.log.error({ waiting }, 'sender keys lack gas for some payments; fund them');
  return first;
}

type Outcomes = Map<string, Recorded>;
type SendBatch = (payments: readonly NewChainPayment[]) => Promise<Outcomes>;

/** Maximum number of batch retries; after that the reconciler sends each payment alone. */
const MAX_ROUNDS = 8;
const REFUSED = { state: 'failed', reason: 'invalid_exact_evm_transaction_failed' } as const;

/**
 * Re-simulates payments that failed in a batch and resends those that would now succeed: the first one alone, as it may have used up the
 * gas of all after it, the others together. `outcomes` are those of `payments`, in the order of their calls.
 */
async function retryReverted(
  ctx: ChainContext,
  payments: readonly NewChainPayment[],
  outcomes: Outcomes,
  send: SendBatch,
  round = 1,
): Promise<Outcomes> {
  const reverted = payments.filter(({ id }) => outcomes.get(id)?.state === 'reverted');
  if (payments.length === 1 || reverted.length === 0 || round > MAX_ROUNDS) return outcomes;
  const refused = await refuse(ctx, reverted);
  if (!refused) return outcomes;
  const [suspect, ...others] = reverted.filter(({ id }) => !refused.has(id));
  const groups = [suspect ? [suspect] : [], others].filter((group) => group.length > 0);
  const sent = await Promise.all(
    groups.map(async (group) => retryReverted(ctx, group, await send(group), send, round + 1)),
  );
  return new Map([...outcomes, ...refused, ...sent.flatMap((each) => [...each])]);
}

/** Filters out payments that the token still refuses; incoming ones fail. Null when the chain does not answer. */
async function refuse(ctx: ChainContext, reverted: readonly NewChainPayment[]): Promise<Outcomes | null> {
  try {
    const answers = await simulateAll(ctx, reverted);
    const refused: Outcomes = new Map();
    for (const [index, payment] of reverted.entries()) {
      const answer = answers[index];
      if (answer === null || answer === undefined) continue;
      // A payment that the node owes stays open until the token accepts it, as does one that is refused through no fault of its payer.
      const isLeft = payment.direction === 'out' || (await refusalOfNode(ctx, payment, answer)) !== null;
      const hasFailed = !isLeft && (await failRefused(ctx, payment, REFUSED.reason));
      refused.set(payment.id, hasFailed ? REFUSED : { state: 'unknown', transactionHash: null });
    }
    return refused;
  } catch (error) {
    ctx.log.warn({ err: error }, 'cannot simulate payments that failed in a batch; left to the reconciler');
    return null;
  }
}

type Send = (payment: NewChainPayment, gas: bigint) => Promise<SettleOutcome>;

/**
 * Queue of payments from contract wallets. Each is sent in a transaction of its own, so that its code can burn only its own gas; at most
 * half of the keys of a chain are used, for all of its tokens, so that payments from keys continue in parallel.
 */
const createContractLane = (
  ctx: ChainContext,
  semaphore: Semaphore,
  send: Send,
): Batcher<NewChainPayment, SettleOutcome> =>
  createBatcher({
    async run([payment]: NewChainPayment[]) {
      if (!payment) return [];
      const gas = await gasOrOutcome(ctx, payment);
      return [typeof gas === 'bigint' ? await send(payment, gas) : gas];
    },
    maxSize: 1,
    keyOf: ({ authorization }) => authorization.from,
    maxConcurrent: ctx.senders.length,
    semaphore,
    canSplit: () => false,
  });

/**
 * Gas limit of the payment, or its outcome if it is not sent. It fails if it would revert or its payer is in back-off, unless it was
 * already submitted elsewhere. If no key has gas for it, it waits for the reconciler and frees its slot.
 */
async function gasOrOutcome(ctx: ChainContext, payment: NewChainPayment): Promise<bigint | SettleOutcome> {
  const unknown: SettleOutcome = { state: 'unknown', transactionHash: null };
  try {
    // A payment accepted before its payer's first failure is not sent after it.
    const gas = (await isRefusedNow(ctx, payment)) ? null : await contractGas(ctx, payment);
    if (typeof gas === 'bigint') {
      const maxGas = await ctx.gas.maxGas();
      if (maxGas === null || gas <= maxGas) return gas;
      ctx.log.error({ paymentId: payment.id }, 'sender keys lack gas for a payment of a contract wallet; fund them');
      return unknown;
    }
    const isSpent = await ctx.usdc.isSpent(payment.authorization);
    if (isSpent)
      return (await endSpent(ctx, { ...payment, createdAt: ctx.clock.now(), transactionHash: null })) ?? unknown;
    if (gas !== null && (await refusalOfNode(ctx, payment, gas)) !== null) return unknown;
    const reason = 'invalid_exact_evm_transaction_failed';
    return (await failRefused(ctx, payment, reason)) ? { state: 'failed', reason } : unknown;
  } catch (error) {
    ctx.log.warn(
      { err: error, paymentId: payment.id },
      'could not estimate the gas of a payment; left to the reconciler',
    );
    return unknown;
  }
}

/** Maximum wait for a payment's confirmation depth. */
const CONFIRMED_WITHIN_MS = 20_000;

/**
 * Settles a payment once its block is deep enough, if that happens in time. The payment is looked up again then, as a reorg may have moved
 * it.
 */
async function awaitDepth(
  ctx: ChainContext,
  payment: NewChainPayment,
  { transactionHash, blockNumber }: Confirming,
  signal: AbortSignal,
): Promise<SettleOutcome> {
  const depth = depthFor(ctx.confirmations, payment.authorization.valueMicro);
  const look = async (): Promise<SettleOutcome | null> => {
    try {
      if (!isDeepEnough(depth, blockNumber, await ctx.usdc.headBlock())) return null;
      const isSpent = await ctx.usdc.isSpent(payment.authorization);
      if (!isSpent) return null;
      return await endSpent(ctx, { ...payment, createdAt: ctx.clock.now(), transactionHash }, 'skip');
    } catch (error) {
      if (error instanceof HeldUpError) return null;
      ctx.log.warn({ err: error, paymentId: payment.id }, 'cannot check the confirmation depth of a payment');
      return null;
    }
  };
  const options = { timeoutMs: CONFIRMED_WITHIN_MS, firstMs: 100, maxMs: 500, signal };
  const outcome = await until(look, options).catch(() => null);
  return outcome ?? { state: 'unknown', transactionHash };
}
