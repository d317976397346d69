import { admitWallet, type HasOwnerProofs } from '../access/accounts/admit-wallet.ts';
import { openAccount } from '../access/accounts/open-account.ts';
import { type StartedSession, startSession } from '../access/sessions/manage-sessions.ts';
import type { HasDb } from '../db/database.ts';
import { notFound } from '../lib/app-error.ts';
import type { HasClock } from '../lib/clock.ts';
import { claimAtSignIn } from '../payments/deposits/suspense.ts';
import type { HasLocalAccount } from './local-account.ts';
import { type ChallengeContext, judgeChallenge, useChallenge } from './prove-wallet.ts';

/**
 * Starts a session for the signer of the challenge, in the wallet's account, which is opened if needed. A challenge is good for one
 * session. Throws as `judgeChallenge` does, and CONFLICT for a wallet that another account has claimed.
 */
export async function signInSession(
  ctx: ChallengeContext & HasOwnerProofs,
  signed: { challengeId: string; signature: string },
  userAgent: string | null,
): Promise<StartedSession> {
  const proof = await judgeChallenge(ctx, null, signed, { purpose: 'sign-in' });
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await useChallenge(tx, proof, now);
    const accountId = await admitWallet(ctx, tx, proof.address, now);
    const session = await startSession(tx, { accountId, userAgent, isLocal: false, now });
    await claimAtSignIn(tx, { claimId: signed.challengeId, address: proof.address, accountId, now });
    return session;
  });
}

/** Starts a session of local mode's own account. Throws NOT_FOUND unless there is one and the client is on this machine. */
export async function signInLocally(
  ctx: HasDb & HasClock & HasLocalAccount,
  client: { readonly isLocal: boolean; readonly userAgent: string | null },
): Promise<StartedSession> {
  const { localAccount } = ctx;
  if (localAccount === null || !client.isLocal) throw notFound('local account');
  const { accountId } = await openAccount(ctx, { address: localAccount, plan: 'enterprise', isWalletProven: true });
  const now = ctx.clock.now();
  const { userAgent } = client;
  return ctx.db.transaction((tx) => startSession(tx, { accountId, userAgent, isLocal: true, now }));
}
