import type { HasDb } from '../db/database.ts';
import type { Tx } from '../db/sql.ts';
import { AppError, invalid, notFound } from '../lib/app-error.ts';
import type { HasClock } from '../lib/clock.ts';
import { newId } from '../lib/id.ts';
import type { HasBaseUrl } from '../payments/deposit.ts';
import type { WithdrawalTerms } from '../payments/withdrawal-terms.ts';
import type { HasChain } from '../payments/x402/chain-info.ts';
import {
  type ChallengePurpose,
  findChallenge,
  insertChallenge,
  returnAttempt,
  type StoredChallenge,
  takeAttempt,
  useChallengeRow,
} from './challenge-store.ts';
import { CHALLENGE_TTL_MS, challengeText, MAX_ATTEMPTS, newNonce, termsText } from './wallet-challenge.ts';
import type { HasWalletSignatures, SignatureMethod } from './wallet-signature-client.ts';

export interface GivenChallenge {
  readonly challengeId: string;
  readonly message: string;
  readonly nonce: string;
  readonly expiresAt: string;
}

/**
 * Gives the text that a wallet must sign: to be proven as the owner of an agent, or as one of the account's, to withdraw, or,
 * without an account, to sign in. Good for five minutes. `keep` comes last in its transaction.
 */
export async function giveChallenge<T>(
  ctx: HasDb & HasClock & HasChain & HasBaseUrl,
  owner: { accountId: string | null; agentId: string | null; address: string; withdrawal?: WithdrawalTerms },
  keep: (tx: Tx, given: GivenChallenge) => Promise<T>,
): Promise<T> {
  const createdAt = ctx.clock.now();
  const expiresAt = new Date(createdAt.getTime() + CHALLENGE_TTL_MS);
  const nonce = newNonce();
  const { baseUrl, chain } = ctx;
  const id = newId('chl');
  const terms = { ...owner, challengeId: id, baseUrl, chainId: chain.chainId, nonce, issuedAt: createdAt, expiresAt };
  const message = challengeText(terms);
  const { withdrawal, ...asked } = owner;
  const kept = withdrawal
    ? ({ ...asked, purpose: 'withdrawal', terms: termsText(withdrawal) } as const)
    : ({ ...asked, purpose: 'proof', terms: null } as const);
  return ctx.db.transaction(async (tx) => {
    await insertChallenge(tx, { ...kept, id, message, nonce, createdAt, expiresAt });
    return keep(tx, { challengeId: id, message, nonce, expiresAt: expiresAt.toISOString() });
  });
}

export interface SignedChallenge extends StoredChallenge {
  readonly method: SignatureMethod;
}

/**
 * Judges a signed challenge of the account (null: one for signing in) without using it up: a signature that is wrong costs an attempt, no more. Throws
 * NOT_FOUND, CONFLICT for a challenge that is used, expired or out of attempts, VALIDATION_ERROR for a wrong signature, and
 * UNAVAILABLE when only the chain could tell and it can't be asked.
 */
export async function judgeChallenge(
  ctx: HasDb & HasClock & HasWalletSignatures,
  accountId: string | null,
  { challengeId, signature }: { challengeId: string; signature: string },
  purpose: ChallengePurpose = 'proof',
): Promise<SignedChallenge> {
  const challenge = await findChallenge(ctx.db, { accountId, id: challengeId, purpose });
  if (!challenge) throw notFound('challenge');
  if (challenge.usedAt) throw spent('was used');
  if (challenge.expiresAt <= ctx.clock.now()) throw spent('has expired');
  if (!(await takeAttempt(ctx.db, challengeId, MAX_ATTEMPTS))) throw spent('was tried too often');
  const method = await ctx.walletSignatures.judge({ ...challenge, signature }).catch(async (cause) => {
    await returnAttempt(ctx.db, challengeId);
    throw new AppError('UNAVAILABLE', 'The chain cannot be asked about the signature now.', {}, { cause });
  });
  if (!method) throw invalid('signature', `is not of ${challenge.address} over the text of the challenge`);
  return { ...challenge, method };
}

/** Uses up a challenge in the transaction that acts on it. Throws CONFLICT when another did. */
export async function useChallenge(tx: Tx, challengeId: string, now: Date): Promise<void> {
  if (!(await useChallengeRow(tx, challengeId, now))) throw spent('was used');
}

const spent = (how: string) => new AppError('CONFLICT', `This challenge ${how}. Ask for a new one.`);
