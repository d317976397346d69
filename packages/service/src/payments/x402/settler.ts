import { createBatcher } from '../../lib/batcher.ts';
import type { ChainContext } from './chain-context.ts';
import type { NewChainPayment } from './chain-payment.ts';
import { recordMined, type SettleOutcome } from './record-mined.ts';
import { createSender, type Sent } from './send-transaction.ts';

/** Brings claimed payments onto the chain. */
export interface Settler {
  /** Resolves when the chain has decided, or as `unknown` when it has not in time: then the reconciler goes on. */
  settle(payment: NewChainPayment): Promise<SettleOutcome>;
  idle(): Promise<void>;
  /** Waits a while for what is on its way; then leaves it, as `unknown`, to the reconciler of whoever goes on. */
  stop(graceMs: number): Promise<void>;
}

export interface HasSettler {
  readonly settler: Settler;
}

/** Fits the gas that Base allows one transaction (16.7 million) with room to spare. */
const MAX_BATCH = 60;

/**
 * One transaction at a time: a lone payment goes out at once, and those that come while one is on its way share the next.
 * Raw bytes and hash are committed before they are sent, so a process that dies here leaves all that another needs to go on.
 */
export function createSettler(ctx: ChainContext): Settler {
  const stopping = new AbortController();
  const send = createSender(ctx, stopping.signal);

  async function record(payments: readonly NewChainPayment[], { mined, hash }: Sent): Promise<SettleOutcome[]> {
    try {
      if (mined && hash) return await recordMined(ctx, payments, hash, mined);
    } catch (error) {
      ctx.log.warn({ err: error, hash }, 'a settlement could not be recorded; the reconciler goes on');
    }
    return payments.map(() => ({ state: 'unknown', transactionHash: hash }));
  }

  /** A contract wallet can use up the gas of all that follow it: who failed in company is tried once more, alone. */
  async function recordAll(payments: readonly NewChainPayment[], sent: Sent): Promise<SettleOutcome[]> {
    const outcomes = await record(payments, sent);
    const isMined = payments.length > 1 && outcomes.some(({ state }) => state === 'settled');
    if (!isMined) return outcomes;
    for (const [index, payment] of payments.entries())
      if (outcomes[index]?.state === 'unknown')
        outcomes[index] = (await record([payment], await send([payment])))[0] as SettleOutcome;
    return outcomes;
  }

  /** The next transaction need not wait until this one's outcome is recorded. */
  const recording = new Set<Promise<SettleOutcome[]>>();
  async function settleBatch(payments: NewChainPayment[]): Promise<Promise<SettleOutcome>[]> {
    const recorded = recordAll(payments, await send(payments));
    recording.add(recorded);
    void recorded.finally(() => recording.delete(recorded));
    return payments.map((_, index) => recorded.then((outcomes) => outcomes[index] as SettleOutcome));
  }

  const batcher = createBatcher({ run: settleBatch, maxSize: MAX_BATCH, canSplit: () => false });
  const idle = async () => {
    await batcher.idle();
    await Promise.allSettled(recording);
  };
  return {
    async settle(payment) {
      const outcome = await batcher.add(payment);
      ctx.metrics.settlements.inc({ outcome: outcome.state });
      return outcome;
    },
    idle,
    async stop(graceMs) {
      const timer = setTimeout(() => stopping.abort(new Error('the node is stopping')), graceMs);
      const aborted = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()));
      await Promise.race([idle(), aborted]);
      clearTimeout(timer);
    },
  };
}
