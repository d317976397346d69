import { payoutNonce } from '../../chain/keys/payment-nonces.ts';
import type { Secrets } from '../../lib/secrets.ts';

const SUBJECT_BYTES = 14;
const MARK_BYTES = 4;
const SOURCE_BYTES = 14;

/**
 * Nonce of a withdrawal's authorization, the same for the same withdrawal and source. It names the ledger account that paid, to this node
 * only: when the database loses the withdrawal, the transfer on chain still tells whom to charge.
 */
export function withdrawalNonce(
  secrets: Secrets,
  chainId: number,
  { id, source }: { id: string; source: string },
): string {
  const subject = payoutNonce(chainId, 'withdrawal', id).slice(2, 2 + 2 * SUBJECT_BYTES);
  return `0x${subject}${markOf(secrets, subject)}${sourceCode(secrets, subject, source)}`;
}

/** Finds the ledger account that paid for the withdrawal with this nonce; null: it is none of these. */
export function sourceOf(secrets: Secrets, nonce: string, accounts: readonly string[]): string | null {
  const [subject, code] = [nonce.slice(2, 2 + 2 * SUBJECT_BYTES), nonce.slice(-2 * SOURCE_BYTES)];
  return accounts.find((account) => sourceCode(secrets, subject, account) === code) ?? null;
}

/** True for the nonce of a withdrawal of this node. */
export function isOfWithdrawal(secrets: Secrets, nonce: string): boolean {
  const subject = nonce.slice(2, 2 + 2 * SUBJECT_BYTES);
  return nonce.slice(2 + 2 * SUBJECT_BYTES, -2 * SOURCE_BYTES) === markOf(secrets, subject);
}

const markOf = (secrets: Secrets, subject: string): string =>
  codeOf(secrets, 'withdrawal-nonce', [subject], MARK_BYTES);

const sourceCode = (secrets: Secrets, subject: string, source: string): string =>
  codeOf(secrets, 'withdrawal-source', [subject, source], SOURCE_BYTES);

const codeOf = (secrets: Secrets, purpose: string, parts: readonly string[], bytes: number): string =>
  Buffer.from(secrets.authenticate(purpose, parts), 'base64url').subarray(0, bytes).toString('hex');
