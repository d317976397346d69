import type { Lease } from '../../chain/keys/signer.ts';
import { endLease } from '../../chain/keys/signer-store.ts';
import type { MinedTransaction } from '../../chain/usdc-client.ts';
import { until } from '../../lib/concurrency/until.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import { type OpenTransaction, signAgain } from '../chain-outbox/open-transaction.ts';

/** Three blocks of Base: a transaction still unmined after that offers too low a fee, or is not known there. */
export const BUMP_AFTER_MS = 6000;

export interface TransactionMonitor {
  hash(): string | null;
  untilMined(endMs: number, signal: AbortSignal): Promise<MinedTransaction | null>;
  /** Hands the transaction to the reconciler. */
  leave(): Promise<void>;
}

/** Monitors one transaction: sends it until the chain has it, and replaces it at a higher fee when no block takes it. */
export function createTransactionMonitor(ctx: ChainContext, first: OpenTransaction, lease: Lease): TransactionMonitor {
  let open = first;
  let isSent = false;
  let bumpAtMs = performance.now() + BUMP_AFTER_MS;

  async function bump(): Promise<void> {
    bumpAtMs = performance.now() + BUMP_AFTER_MS;
    const again = await signAgain(ctx, open, lease).catch((error) => {
      ctx.log.warn({ err: error, hash: open.hashes[0] }, 'cannot sign a replacement transaction');
      return open;
    });
    if (again === null) throw new Error('another process holds the lease of the key');
    if (again !== open)
      ctx.log.warn(
        { hash: again.hashes[0], nonce: String(open.nonce) },
        'replacement transaction sent at a higher fee',
      );
    open = again;
    isSent = false;
  }

  async function ask(): Promise<MinedTransaction | null> {
    failpoint('before-send');
    if (!isSent) await ctx.usdc.send(open.raw);
    isSent = true;
    failpoint('after-send');
    failpoint('before-read-mined');
    const mined = await ctx.usdc.findMined(open.hashes);
    failpoint('after-read-mined');
    return mined;
  }

  return {
    hash: () => open.hashes[0] ?? null,
    async untilMined(endMs, signal) {
      const askSafely = async () => {
        if (performance.now() > bumpAtMs) await bump();
        return ask().catch((error) => {
          ctx.log.warn({ err: error, hash: open.hashes[0] }, 'chain did not answer');
          return null;
        });
      };
      const timeoutMs = Math.max(0, endMs - performance.now());
      return until(askSafely, { timeoutMs, firstMs: 2, maxMs: 250, signal });
    },
    async leave() {
      await endLease(ctx.db, open, lease.holder).catch(() => false);
    },
  };
}
