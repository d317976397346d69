import { randomUUID } from 'node:crypto';
import { LEASE_MS, type Lease } from '../../chain/keys/lease.ts';
import type { MinedTransaction } from '../../chain/usdc-client.ts';
import type { Wake } from '../../lib/concurrency/wake.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import type { NewChainPayment } from '../onchain/chain-payment.ts';
import type { OpenTransaction } from '../onchain/open-transaction.ts';
import { createTransactionMonitor, type TransactionMonitor } from './transaction-monitor.ts';
import { writeAhead } from './write-ahead.ts';

/** Maximum time that a batch is monitored here, from waiting for a key to being mined. */
const SENT_WITHIN_MS = 20_000;
const KEY_LOOK_MS = { first: 5, most: 100 };

/** A sent transaction, with its block if it was mined in time. */
export interface Sent {
  readonly hash: string | null;
  readonly mined: MinedTransaction | null;
}

/**
 * Creates the function that settles payments in one transaction. It never rejects: errors are logged, and the payments are left to the
 * reconciler.
 */
export function createSending(
  ctx: ChainContext,
  { signal, freed }: { signal: AbortSignal; freed: Wake },
): (payments: readonly NewChainPayment[], gas?: bigint) => Promise<Sent> {
  const lease: Lease = { holder: `settler ${randomUUID()}`, leaseMs: LEASE_MS };

  /** Waits for the first key to become free while other batches use all of them. */
  async function takeTurn(
    payments: readonly NewChainPayment[],
    { endMs, gas }: { endMs: number; gas: bigint | undefined },
  ): Promise<OpenTransaction | null> {
    for (let pauseMs = KEY_LOOK_MS.first; ; pauseMs = Math.min(pauseMs * 2, KEY_LOOK_MS.most)) {
      signal.throwIfAborted();
      const open = await writeAhead(ctx, payments, lease, gas);
      if (open || performance.now() > endMs) return open;
      await freed.wait(pauseMs);
    }
  }

  return async (payments, gas) => {
    const endMs = performance.now() + SENT_WITHIN_MS;
    let monitor: TransactionMonitor | null = null;
    try {
      const open = await takeTurn(payments, { endMs, gas });
      if (!open) ctx.log.warn({ payments: payments.length }, 'no free sender key to settle payments');
      if (open) monitor = createTransactionMonitor(ctx, open, lease);
      const mined = await monitor?.untilMined(endMs, signal);
      if (mined) return { mined, hash: mined.hash };
    } catch (error) {
      ctx.log.warn({ err: error, hash: monitor?.hash() }, 'settlement outcome unknown; left to the reconciler');
    }
    await monitor?.leave();
    return { mined: null, hash: monitor?.hash() ?? null };
  };
}
