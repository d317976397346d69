import type { Records } from '../../db/records.ts';
import type { Telemetry } from '../../lib/log/telemetry.ts';
import { endHolds } from '../../payments/ledger/hold-money.ts';
import { LEDGER_LOCK_TIMEOUT_MS } from '../../payments/ledger/ledger-batcher.ts';
import { feeOf } from '../../payments/ledger/platform-fee.ts';
import { agentTreasuryId } from '../../payments/ledger/treasury.ts';
import { listStaleHolds, type StaleHold } from '../audit-store.ts';
import { type EndContext, oweBack } from '../finish/end-invocations.ts';
import { findInvocation } from '../invocation-store.ts';

type ReleaseContext = EndContext & Records & Telemetry;

const BATCH = 100;
const limits = { lockTimeoutMs: LEDGER_LOCK_TIMEOUT_MS };

/**
 * Ends expired holds whose request has ended or does not exist: by the request's status, else in favour of the payer. A request and its
 * hold end in one transaction, so such holds exist only when the node is at fault.
 */
export async function releaseStaleHolds(ctx: ReleaseContext): Promise<void> {
  for (const hold of await listStaleHolds(ctx.db, ctx.clock.now(), BATCH)) {
    ctx.log.error(
      { stream: 'security', requestId: hold.id, status: hold.status },
      'hold outlived its request; ending it',
    );
    ctx.metrics.moneyContradictions.inc({ kind: 'stale_hold' });
    await release(ctx, hold).catch((err) =>
      ctx.log.warn({ err, requestId: hold.id }, 'stale hold could not be ended; retrying'),
    );
  }
}

async function release(ctx: ReleaseContext, { id, ledgerAccountId }: StaleHold): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    const invocation = await findInvocation(tx, id);
    const captureMicro = invocation?.costMicro ?? 0n;
    const creditId = invocation ? agentTreasuryId(invocation.agentId) : ledgerAccountId;
    await endHolds(tx, [{ id, captureMicro, creditId, feeMicro: feeOf(captureMicro, ctx.platformFeeBps) }], now);
    if (invocation) await oweBack(ctx, tx, [invocation]);
  }, limits);
}
