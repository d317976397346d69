import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { AppError, invalid, notFound } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import {
  type Challenge,
  type ChallengePurpose,
  challengeIdOf,
  digestOf,
  newNonce,
  readChallengeId,
} from './challenge-id.ts';
import { isUsed, useOnce } from './challenge-store.ts';
import {
  CHALLENGE_TTL_MS,
  challengeText,
  grantText,
  type KeyGrant,
  termsText,
  type WithdrawalTerms,
} from './wallet-challenge.ts';
import type { SignatureMethod, WalletSignatures } from './wallet-signature-client.ts';

export interface GivenChallenge {
  readonly challengeId: string;
  readonly message: string;
  readonly nonce: string;
  readonly expiresAt: string;
}

/** Verifies signatures of wallets, with limited tries for each challenge. */
export interface WalletProofs {
  readonly challengeTries: ChallengeTries;
  readonly walletSignatures: WalletSignatures;
}

type GiveContext = Store & NodeIdentity & Pick<NodeKeys, 'secrets'>;
export interface ChallengeContext extends Store, NodeIdentity, Pick<NodeKeys, 'secrets'>, WalletProofs {}

/**
 * Issues the text that a wallet must sign: to prove that it owns an agent or belongs to the account, to withdraw, or, without an account,
 * to sign in. Valid for five minutes. Nothing is stored.
 */
export function giveChallenge(
  ctx: GiveContext,
  asked: { accountId: string | null; agentId: string | null; address: string } & Named,
): GivenChallenge {
  const { withdrawal, grant, accountId, agentId, address } = asked;
  const termsDigest = digestOfNamed(asked);
  const purpose = purposeOf(asked);
  const challenge = { purpose, accountId, agentId, address, termsDigest, issuedAt: ctx.clock.now(), nonce: newNonce() };
  const challengeId = challengeIdOf(ctx.secrets, challenge);
  const message = textOf(ctx, challenge, { challengeId, withdrawal, grant });
  return { challengeId, message, nonce: challenge.nonce, expiresAt: expiryOf(challenge).toISOString() };
}

/** Facts that the text names besides the wallet. */
interface Named {
  readonly withdrawal?: WithdrawalTerms | undefined;
  readonly grant?: KeyGrant | undefined;
}

function digestOfNamed({ withdrawal, grant }: Named): string | null {
  if (withdrawal) return digestOf(termsText(withdrawal));
  return grant ? digestOf(grantText(grant)) : null;
}

function purposeOf({ withdrawal, grant, agentId, accountId }: Parameters<typeof giveChallenge>[1]): ChallengePurpose {
  if (withdrawal) return 'withdrawal';
  if (grant) return 'key';
  if (agentId !== null) return 'agent';
  return accountId === null ? 'sign-in' : 'account';
}

const expiryOf = ({ issuedAt }: Challenge): Date => new Date(issuedAt.getTime() + CHALLENGE_TTL_MS);

const textOf = (
  { baseUrl, chain }: NodeIdentity,
  challenge: Challenge,
  more: { challengeId: string } & Named,
): string => challengeText({ ...challenge, ...more, baseUrl, chainId: chain.chainId, expiresAt: expiryOf(challenge) });

export interface SignedChallenge extends Challenge {
  readonly challengeId: string;
  readonly method: SignatureMethod;
}

/**
 * Verifies a signed challenge of the account (null: a sign-in) without using it up; a wrong signature costs one try. Throws NOT_FOUND for a
 * challenge that this node did not give to this account for this purpose, CONFLICT for one that is used, expired or out of tries,
 * VALIDATION_ERROR for a wrong signature or other terms, and UNAVAILABLE when the signature can only be checked on chain and the chain does
 * not answer.
 */
export async function judgeChallenge(
  ctx: ChallengeContext,
  accountId: string | null,
  { challengeId, signature }: { challengeId: string; signature: string },
  { purpose, withdrawal, grant }: { purpose: ChallengePurpose } & Named,
): Promise<SignedChallenge> {
  const challenge = readChallengeId(ctx.secrets, accountId, challengeId);
  if (challenge?.purpose !== purpose) throw notFound('challenge');
  if (await isUsed(ctx.db, challengeId)) throw spent('was used');
  if (expiryOf(challenge) <= ctx.clock.now()) throw spent('has expired');
  if (digestOfNamed({ withdrawal, grant }) !== challenge.termsDigest)
    throw grant
      ? invalid('scopes', 'and expiresInS are not those that the challenge names')
      : invalid('proof', 'is for a withdrawal with other values');
  if (!ctx.challengeTries.take(challengeId)) throw spent('was tried too often');
  const { address } = challenge;
  const message = textOf(ctx, challenge, { challengeId, withdrawal, grant });
  const method = await ctx.walletSignatures.judge({ address, message, signature }).catch((cause) => {
    ctx.challengeTries.giveBack(challengeId);
    throw new AppError(
      'UNAVAILABLE',
      'The chain is unavailable, so the signature cannot be checked now.',
      {},
      { cause },
    );
  });
  if (!method) throw invalid('signature', `is not a signature of the challenge by ${address}`);
  return { ...challenge, challengeId, method };
}

/** Uses up a challenge in the transaction that acts on it. Throws CONFLICT when another call has used it. */
export async function useChallenge(tx: Tx, signed: SignedChallenge, now: Date): Promise<void> {
  if (!(await useOnce(tx, signed.challengeId, { expiresAt: expiryOf(signed), now }))) throw spent('was used');
}

const spent = (how: string) => new AppError('CONFLICT', `This challenge ${how}. Ask for a new one.`);

const MAX_TRIES = 5;
const MAX_KEPT = 10_000;

/** Counts wrong signatures per challenge, in this process. */
interface ChallengeTries {
  /** Takes a try; false when none is left. */
  take(challengeId: string): boolean;
  /** Returns a try if its signature could not be verified. */
  giveBack(challengeId: string): void;
}

export function createChallengeTries(): ChallengeTries {
  const taken = createBoundedCache<number>(MAX_KEPT);
  const of = (id: string) => taken.get(id) ?? 0;
  return {
    take(id) {
      if (of(id) >= MAX_TRIES) return false;
      taken.set(id, of(id) + 1);
      return true;
    },
    giveBack: (id) => void taken.set(id, Math.max(0, of(id) - 1)),
  };
}
