import { formatUsdc } from '@agent-network/contracts/money';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import type { ChainPayment } from '../chain-outbox/chain-payment.ts';
import { inAssetOf, plainId } from '../ledger/asset-account.ts';
import { endHolds, holdMoney } from '../ledger/hold-money.ts';
import { LEDGER_LOCK_TIMEOUT_MS } from '../ledger/ledger-batcher.ts';
import { FEES, type LedgerAccount, OUTGOING, postTransfers } from '../ledger/ledger-store.ts';
import { requireFees, requireFunds, unheldFees } from '../ledger/take-fees.ts';
import {
  findOpenHold,
  insertFeeHold,
  listForgottenHolds,
  removeHold,
  sumUnclaimed,
} from '../ledger/withdrawal-hold-store.ts';

/** Expiry of a hold; longer than the chain is queried about a withdrawal. */
const HELD_FOR_MS = 120_000;
const BATCH = 100;
const limits = { lockTimeoutMs: LEDGER_LOCK_TIMEOUT_MS };

/**
 * Places the hold of the withdrawal `id` in the caller's transaction, which has locked the treasury, and the fees when they are the source.
 * A hold left by an earlier attempt under the same id is released first. Throws INSUFFICIENT_FUNDS or INSUFFICIENT_BALANCE when less is available.
 */
export async function holdForWithdrawal(
  tx: Tx,
  hold: {
    id: string;
    from: 'treasury' | 'fees';
    treasury: LedgerAccount;
    amountMicro: bigint;
    now: Date;
  },
): Promise<void> {
  const { id, from, treasury, amountMicro, now } = hold;
  const expiresAt = new Date(now.getTime() + HELD_FOR_MS);
  await releaseWithdrawal(tx, id, now);
  if (from === 'fees') {
    requireFees(await unheldFees(tx, treasury.asset), amountMicro);
    await insertFeeHold(tx, { id, fees: inAssetOf(treasury.id, FEES), amountMicro, expiresAt, now });
    return;
  }
  const [held] = await holdMoney(tx, [{ id, scheme: null, ledgerAccountId: treasury.id, amountMicro, expiresAt }], now);
  if (!held?.isHeld)
    requireAvailable(treasury, held?.availableMicro ?? 0n, amountMicro, await sumUnclaimed(tx, treasury.id));
}

/**
 * Throws INSUFFICIENT_FUNDS, for an agent's treasury INSUFFICIENT_BALANCE, when it has less than the withdrawal. `unclaimedMicro`: debt of
 * channels to it, on top.
 */
export const requireAvailable = (
  { kind }: Pick<LedgerAccount, 'kind'>,
  availableMicro: bigint,
  amountMicro: bigint,
  unclaimedMicro = 0n,
): void =>
  requireFunds(
    availableMicro,
    amountMicro,
    unclaimedMicro === 0n
      ? 'The treasury holds less than the amount.'
      : `The treasury holds less than the amount, beside ${formatUsdc(unclaimedMicro)} USDC that payment channels owe it: that can be withdrawn once it is claimed.`,
    kind === 'agent' ? 'INSUFFICIENT_BALANCE' : 'INSUFFICIENT_FUNDS',
  );

/** Releases a withdrawal's hold, if any, in the caller's transaction. */
export async function releaseWithdrawal(tx: Tx, id: string, now: Date): Promise<void> {
  const account = await findOpenHold(tx, id);
  if (account === null) return;
  if (plainId(account) !== FEES) await endHolds(tx, [{ id, captureMicro: 0n, creditId: account, feeMicro: 0n }], now);
  await removeHold(tx, id);
}

/** Releases the holds of dead processes: they had signed nothing, so no money can leave. */
export async function releaseForgottenWithdrawals(ctx: Store & Telemetry): Promise<void> {
  const now = ctx.clock.now();
  const release = async (withdrawalId: string) => {
    await ctx.db.transaction((tx) => releaseWithdrawal(tx, withdrawalId, now), limits);
    ctx.log.warn({ withdrawalId }, 'withdrawal abandoned before signing; hold released');
  };
  // One whose treasury is locked keeps no others from being released.
  for (const id of await listForgottenHolds(ctx.db, now, BATCH))
    await release(id).catch((err) => ctx.log.warn({ err, withdrawalId: id }, 'hold could not be released; retrying'));
}

/** Credits a withdrawal that can never be paid back to its treasury, in the transaction that records the failure. */
export async function returnWithdrawal(tx: Sql, payment: ChainPayment, now: Date): Promise<void> {
  const { subjectId, ledgerAccountId, authorization } = payment;
  const amountMicro = authorization.valueMicro;
  const id = `return:${subjectId}`;
  await postTransfers(
    tx,
    [
      {
        id,
        debit: inAssetOf(ledgerAccountId, OUTGOING),
        credit: ledgerAccountId,
        amountMicro,
        kind: 'return',
        subjectId,
      },
    ],
    now,
  );
}
