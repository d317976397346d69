import type { Api } from '@agent-network/contracts/api';
import type { ClaimRequest } from '@agent-network/contracts/claims';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../access/caller.ts';
import { linkWallet } from '../access/link-wallet.ts';
import { type Once, unkeyed } from '../access/once.ts';
import type { HasDb } from '../db/database.ts';
import { notFound } from '../lib/app-error.ts';
import type { HasClock } from '../lib/clock.ts';
import { failpoint } from '../lib/failpoint.ts';
import type { HasBaseUrl } from '../payments/deposit.ts';
import { openTreasury } from '../payments/open-treasury.ts';
import { claimSuspense, suspenseOf } from '../payments/suspense.ts';
import type { HasChain } from '../payments/x402/chain-info.ts';
import { giveChallenge, judgeChallenge, useChallenge } from './prove-wallet.ts';
import type { HasWalletSignatures } from './wallet-signature-client.ts';

type ClaimContext = HasDb & HasClock & HasChain & HasBaseUrl & HasWalletSignatures;
type Claim = DataOf<Api['claimWallet']>;

/**
 * Claims a wallet for an account in two steps: a challenge, and the challenge signed. What the wallet has sent to the node is the
 * account's then, and what it sends later. Throws CONFLICT when the wallet is another account's.
 */
export async function claimWallet(
  ctx: ClaimContext,
  caller: AccountCaller,
  body: ClaimRequest,
  once: Once = unkeyed,
): Promise<Claim> {
  if ('challengeId' in body) return takeClaim(ctx, caller, body, once);
  const address = body.address.toLowerCase();
  const amount = formatUsdc(await suspenseOf(ctx, address));
  return giveChallenge(ctx, { accountId: caller.accountId, agentId: null, address }, (tx, given) =>
    once.keep(tx, { ...given, address, amount }),
  );
}

async function takeClaim(
  ctx: ClaimContext,
  { accountId }: AccountCaller,
  signed: { challengeId: string; signature: string },
  once: Once,
): Promise<Claim> {
  const { address, agentId } = await judgeChallenge(ctx, accountId, signed);
  if (agentId !== null) throw notFound('challenge for a wallet');
  const now = ctx.clock.now();
  const claim = await ctx.db.transaction(async (tx) => {
    await useChallenge(tx, signed.challengeId, now);
    await linkWallet(tx, address, accountId, now);
    const treasuryId = await openTreasury(tx, accountId, now);
    const amountMicro = await claimSuspense(tx, { claimId: signed.challengeId, address, accountId, treasuryId, now });
    const claimedAt = now.toISOString();
    const kept = await once.keep(tx, { address, amount: formatUsdc(amountMicro), treasuryId, claimedAt });
    failpoint('before-claim-wallet-commit');
    return kept;
  });
  failpoint('after-claim-wallet-commit');
  return claim;
}
