import { until } from '../../lib/until.ts';
import type { ChainContext } from './chain-context.ts';
import type { NewChainPayment } from './chain-payment.ts';
import { markBroadcasting } from './chain-payment-store.ts';
import { insertTransaction, takeNonce } from './transaction-store.ts';
import type { MinedTransaction } from './usdc-client.ts';

const MINED_WITHIN_MS = 20_000;
const FEES_HOLD_MS = 2000;

/** A transaction that was sent, and the block that has it, if it came in time. */
export interface Sent {
  readonly hash: string | null;
  readonly mined: MinedTransaction | null;
}

/**
 * Makes the function that puts payments on chain in one transaction. Raw bytes and hash are committed before they are sent, so a
 * process that dies here leaves all that another needs to go on. Never rejects: what went wrong is in the log, and the payments are
 * the reconciler's.
 */
export function createSender(
  ctx: ChainContext,
  signal: AbortSignal,
): (payments: readonly NewChainPayment[]) => Promise<Sent> {
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
    return until(ask, { timeoutMs: MINED_WITHIN_MS, firstMs: 2, mostMs: 250, signal });
  }

  return async (payments) => {
    let hash: string | null = null;
    try {
      signal.throwIfAborted();
      const sent = await writeAhead(payments);
      hash = sent.hash;
      const mined = await waitUntilMined(sent.raw, hash);
      if (mined) return { mined, hash };
    } catch (error) {
      ctx.log.warn({ err: error, hash }, 'a settlement is unknown; the reconciler goes on');
    }
    return { mined: null, hash };
  };
}
