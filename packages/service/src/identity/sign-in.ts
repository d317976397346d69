import { type AskSignIn, lifetimeOf, type SignIn } from '@agent-network/contracts/access/auth';
import { defaultScopes } from '@agent-network/contracts/access/scopes';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { admitWallet, type HasOwnerProofs, noteNode } from '../access/accounts/admit-wallet.ts';
import { type HasKeyMode, issueApiKey } from '../access/keys/manage-keys.ts';
import { giveWayToSignIn, type HasPlanCaps, withinKeyCap } from '../access/limits/plan-caps.ts';
import { invalid } from '../lib/app-error.ts';
import { claimAtSignIn } from '../payments/deposits/suspense.ts';
import { readChallengeId } from './challenges/challenge-id.ts';
import { type ChallengeContext, giveChallenge, judgeChallenge, useChallenge } from './prove-wallet.ts';

type SignInContext = ChallengeContext & HasKeyMode & HasPlanCaps & HasOwnerProofs;

/**
 * Issues the sign-in text for a wallet. Requesting it needs no rights, reveals nothing about the wallet and uses up none of its owner's
 * limits.
 */
export async function requestSignIn(
  ctx: SignInContext,
  { address, scopes, expiresInS }: AskSignIn,
): Promise<DataOf<Api['requestSignIn']>> {
  const grant = scopes && { scopes, lifetimeS: lifetimeOf({ scopes, expiresInS }) };
  return giveChallenge(ctx, { accountId: null, agentId: null, address: address.toLowerCase(), grant });
}

/**
 * The challenge expected for this key: one that names its scopes and lifetime, if it has more than the default scopes. A text without them
 * signs in to other places as well, and no one who got a signature of it may have more.
 */
function expected(ctx: SignInContext, { challengeId, scopes, expiresInS }: SignIn) {
  const grant = { scopes, lifetimeS: lifetimeOf({ scopes, expiresInS }) };
  const named = { purpose: 'key', grant } as const;
  const isDefault = scopes.every((scope) => defaultScopes.some((each) => each === scope));
  if (readChallengeId(ctx.secrets, null, challengeId)?.purpose === 'key') return named;
  if (isDefault) return { purpose: 'sign-in' } as const;
  throw invalid('challengeId', 'is of a text that names no scopes: ask for one with these scopes');
}

/**
 * Gives the signer of the challenge an API key for the wallet's account, which is opened if needed. A challenge is good for one key. An
 * account at its maximum of keys loses the oldest one created by signing in. Throws as `judgeChallenge` does, and CONFLICT for a wallet
 * that another account has claimed, or when no such key can be replaced. `asNode`: the base address of the node that the wallet claims to
 * be.
 */
export async function signIn(
  ctx: SignInContext,
  input: SignIn,
  asNode: string | null = null,
): Promise<DataOf<Api['signIn']>> {
  const { name, scopes } = input;
  const proof = await judgeChallenge(ctx, null, input, expected(ctx, input));
  const { address } = proof;
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await useChallenge(tx, proof, now);
    const accountId = await admitWallet(ctx, tx, address, now);
    if (asNode !== null) await noteNode(tx, accountId, asNode);
    const expiresAt = new Date(now.getTime() + lifetimeOf(input) * 1000);
    await giveWayToSignIn(ctx, tx, { accountId, now });
    const key = await withinKeyCap(ctx, tx, { accountId, now }, () =>
      issueApiKey({ ...ctx, db: tx }, { accountId, name, scopes, expiresAt, isFromSignIn: true }),
    );
    await claimAtSignIn(tx, { claimId: input.challengeId, address, accountId, now });
    return { ...key, accountId, address };
  });
}
