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
import { failpoint } from '../../lib/process/failpoint.ts';
import { openTreasury } from '../ledger/open-treasury.ts';
import { claimSuspense, suspenseOf } from './suspense.ts';

type Claim = DataOf<Api['claimWallet']>;

/**
 * Claims a wallet for an account in two steps: a challenge, and the signed challenge. USDC that the wallet has sent to the node, or sends
 * later, is then the account's. Throws CONFLICT when the wallet belongs to another account.
 */
export async function claimWallet(
  ctx: ChallengeContext,
  caller: AccountCaller,
  body: ClaimRequest,
  once: Once = unkeyed,
): Promise<Claim> {
  if ('challengeId' in body) return takeClaim(ctx, caller, body, once);
  const address = body.address.toLowerCase();
  const amount = formatUsdc(await suspenseOf(ctx, address));
  const given = giveChallenge(ctx, { accountId: caller.accountId, agentId: null, address });
  return ctx.db.transaction((tx) => once.keep(tx, { ...given, address, amount }));
}

async function takeClaim(
  ctx: ChallengeContext,
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
    const amountMicro = await claimSuspense(tx, { claimId: signed.challengeId, address, accountId, now });
    const claimedAt = now.toISOString();
    const kept = await once.keep(tx, { address, amount: formatUsdc(amountMicro), treasuryId, claimedAt });
    failpoint('before-claim-wallet-commit');
    return kept;
  });
  failpoint('after-claim-wallet-commit');
  return claim;
}
