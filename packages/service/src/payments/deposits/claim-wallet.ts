import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { ClaimRequest } from '@agent-network/contracts/payments/claims';
import type { AccountCaller } from '../../accounts/caller.ts';
import { type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import { linkWallet } from '../../accounts/link-wallet.ts';
import {
  type ChallengeContext,
  giveChallenge,
  judgeChallenge,
  useChallenge,
} from '../../accounts/proofs/prove-wallet.ts';
import { assetIdOf, nameAsset } from '../../chain/chain-info.ts';
import { type Networks, onDefault } from '../../chain/networks.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { openTreasury } from '../ledger/open-treasury.ts';
import { claimSuspense, type Suspended, suspensesOf } from './suspense.ts';

type Claim = DataOf<Api['claimWallet']>;
type ClaimContext = ChallengeContext & Networks;

/**
 * Claims a wallet for an account in two steps: a challenge, and the signed challenge. USDC that the wallet has sent to the node, or sends
 * later, is then the account's. Throws CONFLICT when the wallet belongs to another account.
 */
export async function claimWallet(
  ctx: ClaimContext,
  caller: AccountCaller,
  body: ClaimRequest,
  once: Once = unkeyed,
): Promise<Claim> {
  if ('challengeId' in body) return takeClaim(ctx, caller, body, once);
  const address = body.address.toLowerCase();
  const amounts = amountsOf(ctx, await suspensesOf(ctx, address));
  const given = giveChallenge(ctx, { accountId: caller.accountId, agentId: null, address });
  return ctx.db.transaction((tx) => once.keep(tx, { ...given, address, ...amounts }));
}

/** The amount in the default asset, and in each. */
function amountsOf(ctx: ClaimContext, all: readonly Suspended[]): Pick<Claim, 'amount' | 'byAsset'> {
  const { chain } = onDefault(ctx);
  const own = all.find(({ asset }) => asset === null)?.micro ?? 0n;
  const byAsset = all.map(({ asset: ledgerAsset, micro }) => {
    return { ...nameAsset(ledgerAsset ?? assetIdOf(chain)), amount: formatUsdc(micro) };
  });
  return { amount: formatUsdc(own), byAsset };
}

async function takeClaim(
  ctx: ClaimContext,
  { accountId }: AccountCaller,
  signed: { challengeId: string; signature: string },
  once: Once,
): Promise<Claim> {
  const proof = await judgeChallenge(ctx, accountId, signed, { purpose: 'account' });
  const { address } = proof;
  const now = ctx.clock.now();
  const claim = await ctx.db.transaction(async (tx) => {
    await useChallenge(tx, proof, now);
    await linkWallet(tx, address, accountId, now);
    const treasuryId = await openTreasury(tx, accountId, now);
    const claimed = await claimSuspense(tx, { claimId: signed.challengeId, address, accountId, now });
    const claimedAt = now.toISOString();
    const kept = await once.keep(tx, { address, ...amountsOf(ctx, claimed), treasuryId, claimedAt });
    failpoint('before-claim-wallet-commit');
    return kept;
  });
  failpoint('after-claim-wallet-commit');
  return claim;
}
