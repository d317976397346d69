import type { Lease } from '../../../../chain/keys/signer.ts';
import type { MinedTransaction } from '../../../../chain/usdc-client.ts';
import type { OpenTransaction } from '../../../chain-outbox/open-transaction.ts';
import { createTransactionMonitor } from '../../../settlement/transaction-monitor.ts';
import type { ClaimContext } from './claim-context.ts';
import { recordClaims } from './record-claims.ts';

/** Longer waits are left to the reconciler, which sends the bytes on, and to the next run, which looks the outcome up. */
const MINED_WITHIN_MS = 20_000;

/** Sends a transaction that was written ahead until a block has it, and records it. Null: its outcome is not known yet. */
export async function followClaim(
  ctx: ClaimContext,
  open: OpenTransaction,
  { lease, signal }: { lease: Lease; signal: AbortSignal },
): Promise<MinedTransaction | null> {
  const monitor = createTransactionMonitor(ctx, open, lease);
  const mined = await monitor.untilMined(performance.now() + MINED_WITHIN_MS, signal).catch((error) => {
    ctx.log.warn({ err: error, hash: monitor.hash() }, 'outcome of a claim unknown; the next run looks it up');
    return null;
  });
  if (mined) await recordClaims(ctx);
  else await monitor.leave();
  return mined;
}
