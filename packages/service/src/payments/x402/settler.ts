import type { HasDb } from '../../db/database.ts';
import { createBatcher } from '../../lib/batcher.ts';
import type { HasClock } from '../../lib/clock.ts';
import type { HasLog } from '../../lib/log.ts';
import type { HasMetrics } from '../../lib/metrics.ts';
import { until } from '../../lib/until.ts';
import type { HasChain } from './chain-info.ts';
import type { NewChainPayment } from './chain-payment.ts';
import { markBroadcasting } from './chain-payment-store.ts';
import type { HasWallet } from './node-wallet.ts';
import { recordMined, type SettleOutcome } from './record-mined.ts';
import { insertTransaction, takeNonce } from './transaction-store.ts';
import type { HasUsdc, MinedTransaction } from './usdc-client.ts';

export type ChainContext = HasDb & HasClock & HasLog & HasMetrics & HasChain & HasUsdc & HasWallet;

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
const MINED_WITHIN_MS = 20_000;
const FEES_HOLD_MS = 2000;

/** A transaction that was sent, and the block that has it, if it came in time. */
interface Sent {
  readonly hash: string | null;
  readonly mined: MinedTransaction | null;
}

/**
 * One transaction at a time: a lone payment goes out at once, and those that come while one is on its way share the next.
 * Raw bytes and hash are committed before they are sent, so a process that dies here leaves all that another needs to go on.
 */
export function createSettler(ctx: ChainContext): Settler {
  const stopping = new AbortController();
  let fees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, readAtMs: 0 };

  async function currentFees() {
    const nowMs = performance.now();
    if (fees.readAtMs === 0 || nowMs - fees.readAtMs > FEES_HOLD_MS)
      fees = { ...(await ctx.usdc.fees()), readAtMs: nowMs };
    return { maxFeePerGas: fees.maxFeePerGas, maxPriorityFeePerGas: fees.maxPriorityFeePerGas };
  }

  async function writeAhead(payments: readonly NewChainPayment[]): Promise<{ raw: string; hash: string }> {
    const call = ctx.usdc.transactionFor(payments);
    const price = await currentFees();
    const key = { chainId: ctx.chain.chainId, signer: ctx.wallet.address };
    return ctx.db.transaction(async (tx) => {
      const nonce = await takeNonce(tx, key);
      const signed = ctx.wallet.signTransaction({ chainId: key.chainId, nonce, ...call, ...price });
      await insertTransaction(tx, key, { ...signed, nonce, now: ctx.clock.now() });
      await markBroadcasting(
        tx,
        payments.map((p) => p.id),
        signed.hash,
      );
      return signed;
    });
  }

  /** Resends until the transaction is in a block: an answer that was lost says nothing about what the chain has. */
  async function waitUntilMined(raw: string, hash: string): Promise<MinedTransaction | null> {
    let isSent = false;
    const ask = async () => {
      try {
        if (!isSent) await ctx.usdc.send(raw);
        isSent = true;
        return await ctx.usdc.findMined(hash);
      } catch (error) {
        ctx.log.warn({ err: error, hash }, 'the chain did not answer');
        return null;
      }
    };
    return until(ask, { timeoutMs: MINED_WITHIN_MS, firstMs: 2, mostMs: 250, signal: stopping.signal });
  }

  async function sendTogether(payments: readonly NewChainPayment[]): Promise<Sent> {
    let hash: string | null = null;
    try {
      stopping.signal.throwIfAborted();
      const sent = await writeAhead(payments);
      hash = sent.hash;
      const mined = await waitUntilMined(sent.raw, hash);
      if (mined) return { mined, hash };
    } catch (error) {
      ctx.log.warn({ err: error, hash }, 'a settlement is unknown; the reconciler goes on');
    }
    return { mined: null, hash };
  }

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
        outcomes[index] = (await record([payment], await sendTogether([payment])))[0] as SettleOutcome;
    return outcomes;
  }

  /** The next transaction need not wait until this one's outcome is recorded. */
  const recording = new Set<Promise<SettleOutcome[]>>();
  async function settleBatch(payments: NewChainPayment[]): Promise<Promise<SettleOutcome>[]> {
    const recorded = recordAll(payments, await sendTogether(payments));
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
