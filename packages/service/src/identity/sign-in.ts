import type { SignIn } from '@agent-network/contracts/access/auth';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { admitWallet, noteNode } from '../access/accounts/admit-wallet.ts';
import { type HasKeyMode, issueApiKey } from '../access/keys/manage-keys.ts';
import { giveWayToSignIn, type HasPlanCaps, withinKeyCap } from '../access/limits/plan-caps.ts';
import { type ChallengeContext, giveChallenge, judgeChallenge, useChallenge } from './prove-wallet.ts';

type SignInContext = ChallengeContext & HasKeyMode & HasPlanCaps;

/** The text that a wallet signs to sign in; asking for it needs no rights, shows nothing of the wallet and takes no place of its owner's. */
export async function requestSignIn(
  ctx: SignInContext,
  { address }: { address: string },
): Promise<DataOf<Api['requestSignIn']>> {
  return giveChallenge(ctx, { accountId: null, agentId: null, address: address.toLowerCase() });
}

/**
 * Gives whoever signed the challenge an API key for the account of the wallet, which is opened when there is none. A challenge is good
 * for one key. An account that has all the keys that it may have loses the oldest that came from signing in. Throws as `judgeChallenge`
 * does, and CONFLICT for a wallet that another account has claimed, and where there is no such key to give way. `asNode`: the node that the
 * wallet says it is, by its base address.
 */
export async function signIn(
  ctx: SignInContext,
  { challengeId, signature, name, scopes, expiresInS }: SignIn,
  asNode: string | null = null,
): Promise<DataOf<Api['signIn']>> {
  const proof = await judgeChallenge(ctx, null, { challengeId, signature }, { purpose: 'sign-in' });
  const { address } = proof;
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await useChallenge(tx, proof, now);
    const accountId = await admitWallet(tx, address, now);
    if (asNode !== null) await noteNode(tx, accountId, asNode);
    const expiresAt = new Date(now.getTime() + expiresInS * 1000);
    await giveWayToSignIn(ctx, tx, { accountId, now });
    const key = await withinKeyCap(ctx, tx, { accountId, now }, () =>
      issueApiKey({ ...ctx, db: tx }, { accountId, name, scopes, expiresAt, isFromSignIn: true }),
    );
    return { ...key, accountId, address };
  });
}
