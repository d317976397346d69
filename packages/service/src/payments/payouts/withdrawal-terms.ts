import { parseUsdc } from '@agent-network/contracts/money';
import { type AccountCaller, requireScope } from '../../accounts/caller.ts';
import type { WithdrawalTerms } from '../../accounts/proofs/wallet-challenge.ts';
import { type HasNetworks, onAsset, requireNetwork } from '../../chain/networks.ts';
import { invalid, notFound } from '../../lib/app-error.ts';
import type { HasDb } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import { requireAtLeast } from '../chain-outbox/payment-limits.ts';
import { assetOf } from '../ledger/asset-account.ts';
import { findTreasuryOf, type LedgerAccount } from '../ledger/ledger-store.ts';
import { requireTreasury, requireUnfrozen } from '../ledger/treasury.ts';
import { payeeProblem } from '../x402/open-addresses.ts';

export interface WithdrawInput {
  readonly amount: string;
  readonly to?: string | undefined;
  readonly treasuryId?: string | undefined;
  /** `fees`: the node's earnings, paid out through the treasury; operators only. */
  readonly from?: 'treasury' | 'fees' | undefined;
}

/** Approval of a withdrawal, required in addition to the caller's rights. */
export interface WithdrawalApproval {
  /** Throws unless exactly these terms are approved. */
  judge(terms: WithdrawalTerms): Promise<void>;
  /** Uses up the approval in the transaction that withdraws. Throws CONFLICT when another call has used it. */
  use(tx: Tx): Promise<void>;
}

/** The context on the network of the treasury that is named: one in another asset than the default one says so in its id. */
export const onNetworkOf = <C extends ChainContext & Partial<HasNetworks>>(ctx: C, { treasuryId }: WithdrawInput): C =>
  treasuryId === undefined ? ctx : requireNetwork(onAsset(ctx, assetOf(treasuryId)));

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
  if (!treasury) throw notFound('account treasury');
  return treasury;
}
