import { type AskSignIn, lifetimeOf, type SignIn } from '@agent-network/contracts/access/auth';
import { defaultScopes } from '@agent-network/contracts/access/scopes';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { invalid, notFound } from '../../lib/app-error.ts';
import { isLoopbackHost } from '../../lib/net/guarded-fetch-address.ts';
import type { Store } from '../../store/database.ts';
import type { AccountServices } from '../account-services.ts';
import { admitWallet, recordNode } from '../admit-wallet.ts';
import { issueApiKey } from '../keys/manage-keys.ts';
import { type StartedSession, startSession } from '../keys/manage-sessions.ts';
import { giveWayToSignIn, type KeySettings, withinKeyCap } from '../limits/plan-caps.ts';
import { openAccount } from '../open-account.ts';
import { readChallengeId } from './challenge-id.ts';
import { type ChallengeContext, giveChallenge, judgeChallenge, useChallenge } from './prove-wallet.ts';

type SignInContext = ChallengeContext & KeySettings & AccountServices;

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
 * The challenge expected for this key. It names scopes and lifetime if it has more than the default scopes. A text without them signs in at
 * other sites as well, so a stolen signature of it must not give more.
 */
function expected(ctx: SignInContext, { challengeId, scopes, expiresInS }: SignIn) {
  const grant = { scopes, lifetimeS: lifetimeOf({ scopes, expiresInS }) };
  const named = { purpose: 'key', grant } as const;
  const isDefault = scopes.every((scope) => defaultScopes.some((each) => each === scope));
  if (readChallengeId(ctx.secrets, null, challengeId)?.purpose === 'key') return named;
  if (isDefault) return { purpose: 'sign-in' } as const;
  throw invalid('challengeId', 'belongs to a text without scopes: request one with these scopes');
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
    if (asNode !== null) await recordNode(tx, accountId, asNode);
    const expiresAt = new Date(now.getTime() + lifetimeOf(input) * 1000);
    await giveWayToSignIn(ctx, tx, { accountId, now });
    const key = await withinKeyCap(ctx, tx, { accountId, now }, () =>
      issueApiKey({ ...ctx, db: tx }, { accountId, name, scopes, expiresAt, isFromSignIn: true }),
    );
    await ctx.ownerProofs.credit(tx, { claimId: input.challengeId, address, accountId, now });
    return { ...key, accountId, address };
  });
}

/**
 * Starts a session for the signer of the challenge, in the wallet's account, which is opened if needed. A challenge is good for one
 * session. Throws as `judgeChallenge` does, and CONFLICT for a wallet that another account has claimed.
 */
export async function signInSession(
  ctx: ChallengeContext & AccountServices,
  signed: { challengeId: string; signature: string },
  userAgent: string | null,
): Promise<StartedSession> {
  const proof = await judgeChallenge(ctx, null, signed, { purpose: 'sign-in' });
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await useChallenge(tx, proof, now);
    const accountId = await admitWallet(ctx, tx, proof.address, now);
    const session = await startSession(tx, { accountId, userAgent, isLocal: false, now });
    await ctx.ownerProofs.credit(tx, { claimId: signed.challengeId, address: proof.address, accountId, now });
    return session;
  });
}

/** Starts a session of local mode's own account. Throws NOT_FOUND unless there is one and the client is on this machine. */
export async function signInLocally(
  ctx: Store & AccountServices,
  client: { readonly isLocal: boolean; readonly userAgent: string | null },
): Promise<StartedSession> {
  const { localAccount } = ctx;
  if (localAccount === null || !client.isLocal) throw notFound('local account');
  const { accountId } = await openAccount(ctx, { address: localAccount, plan: 'enterprise', isWalletProven: true });
  const now = ctx.clock.now();
  const { userAgent } = client;
  return ctx.db.transaction((tx) => startSession(tx, { accountId, userAgent, isLocal: true, now }));
}

/** Base, where USDC is real money. */
const REAL_MONEY_CHAIN_ID = 8453;

/**
 * The wallet that anyone on this machine may sign in as without its key (`wallet`; null outside local mode). null where money is real,
 * where others reach the node (`isExposed`), or where its base address is not local.
 */
export function localAccountOf(node: {
  wallet: string | null;
  chainId: number;
  baseUrl: string;
  isExposed: boolean;
}): string | null {
  if (node.wallet === null || node.isExposed || node.chainId === REAL_MONEY_CHAIN_ID) return null;
  return isLoopbackHost(new URL(node.baseUrl).hostname) ? node.wallet.toLowerCase() : null;
}
