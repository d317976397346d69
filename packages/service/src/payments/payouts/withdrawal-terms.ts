import { parseUsdc } from '@agent-network/contracts/money';
import { type AccountCaller, requireScope } from '../../accounts/caller.ts';
import type { WithdrawalTerms } from '../../accounts/proofs/wallet-challenge.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { type Networks, onAsked, onAsset, requireNetwork } from '../../chain/networks.ts';
import { invalid, notFound } from '../../lib/app-error.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import { requireAtLeast } from '../chain-outbox/payment-limits.ts';
import { assetOf, inAsset, plainId } from '../ledger/asset-account.ts';
import { findTreasuryOf, type LedgerAccount } from '../ledger/ledger-store.ts';
import { requireTreasury, requireUnfrozen } from '../ledger/treasury.ts';
import { payeeProblem } from '../x402/open-addresses.ts';

export interface WithdrawInput {
  readonly amount: string;
  readonly to?: string | undefined;
  readonly treasuryId?: string | undefined;
  /** CAIP-19 id: out of the holder's treasury in this asset. */
  readonly asset?: string | undefined;
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

/**
 * The context on the given asset, or on the treasury's, which its id contains unless it is the default one. Throws VALIDATION_ERROR when
 * they contradict each other.
 */
export function onNetworkOf<C extends ChainContext & Partial<Networks>>(
  ctx: C,
  { treasuryId, asset }: WithdrawInput,
): C {
  const ofTreasury = treasuryId === undefined ? null : assetOf(treasuryId);
  if (asset === undefined) return treasuryId === undefined ? ctx : requireNetwork(onAsset(ctx, ofTreasury));
  const asked = onAsked(ctx, asset, 'asset');
  if (ofTreasury !== null && ofTreasury !== asked.chain.ledgerAsset)
    throw invalid('asset', 'is another one than that of the treasury');
  return asked;
}

/** Fills in defaults: to the account's wallet, from its treasury. */
export async function withdrawalTerms(
  ctx: ChainContext,
  caller: AccountCaller,
  { amount, from = 'treasury', to = caller.address, treasuryId, asset }: WithdrawInput,
): Promise<{ terms: WithdrawalTerms; treasury: LedgerAccount }> {
  if (from === 'fees') requireScope(caller, 'operator');
  const amountMicro = parseUsdc(amount);
  requireAtLeast(amountMicro, ctx.paymentLimits.minWithdrawalMicro);
  const problem = payeeProblem(ctx, to);
  if (problem) throw invalid('to', problem);
  const treasury = await treasuryFor(ctx, caller, { treasuryId, asset });
  requireUnfrozen(treasury);
  return { terms: { amountMicro, to: to.toLowerCase(), treasuryId: treasury.id, from }, treasury };
}

async function treasuryFor(
  ctx: Store & Pick<NodeIdentity, 'chain'>,
  caller: AccountCaller,
  { treasuryId, asset }: Pick<WithdrawInput, 'treasuryId' | 'asset'>,
): Promise<LedgerAccount> {
  const id = treasuryId ?? (await findTreasuryOf(ctx.db, caller.accountId))?.id;
  if (id === undefined) throw notFound('account treasury');
  return requireTreasury(ctx, caller, asset === undefined ? id : inAsset(plainId(id), ctx.chain.ledgerAsset));
}
