import { parseUsdc } from '@agent-network/contracts/money';
import { type AccountCaller, requireScope } from '../../access/caller/caller.ts';
import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import { invalid, notFound } from '../../lib/app-error.ts';
import { requireUnfrozen } from '../ledger/freeze-treasury.ts';
import { findTreasuryOf, type LedgerAccount } from '../ledger/ledger-store.ts';
import { requireTreasury } from '../ledger/treasury.ts';
import type { ChainContext } from '../onchain/chain-context.ts';
import { requireAtLeast } from '../onchain/payment-limits.ts';
import { payeeProblem } from '../x402/payee.ts';

export interface WithdrawInput {
  readonly amount: string;
  readonly to?: string | undefined;
  readonly treasuryId?: string | undefined;
  /** `fees`: the node's earnings, paid out through the treasury; operators only. */
  readonly from?: 'treasury' | 'fees' | undefined;
}

/** A withdrawal with all defaults filled in. */
export interface WithdrawalTerms {
  readonly amountMicro: bigint;
  /** In lower case. */
  readonly to: string;
  readonly treasuryId: string;
  readonly from: 'treasury' | 'fees';
}

/** Approval of a withdrawal, required in addition to the caller's rights. */
export interface WithdrawalApproval {
  /** Throws unless exactly these terms are approved. */
  judge(terms: WithdrawalTerms): Promise<void>;
  /** Uses up the approval in the transaction that withdraws. Throws CONFLICT when another call has used it. */
  use(tx: Tx): Promise<void>;
}

/** Fills in defaults: to the account's wallet, from its treasury. */
export async function withdrawalTerms(
  ctx: ChainContext,
  caller: AccountCaller,
  { amount, from = 'treasury', to = caller.address, treasuryId }: WithdrawInput,
): Promise<{ terms: WithdrawalTerms; treasury: LedgerAccount }> {
  if (from === 'fees') requireScope(caller, 'operator');
  const amountMicro = parseUsdc(amount);
  requireAtLeast(amountMicro, ctx.paymentLimits.minWithdrawalMicro);
  const problem = payeeProblem(ctx, to);
  if (problem) throw invalid('to', problem);
  const treasury = await treasuryFor(ctx, caller, treasuryId);
  requireUnfrozen(treasury);
  return { terms: { amountMicro, to: to.toLowerCase(), treasuryId: treasury.id, from }, treasury };
}

async function treasuryFor(ctx: HasDb, caller: AccountCaller, id: string | undefined): Promise<LedgerAccount> {
  if (id !== undefined) return requireTreasury(ctx, caller, id);
  const treasury = await findTreasuryOf(ctx.db, caller.accountId);
  if (!treasury) throw notFound('treasury; create one with POST /payments/treasury');
  return treasury;
}
