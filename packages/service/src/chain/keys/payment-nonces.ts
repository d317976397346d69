import { keccak256 } from '../../lib/keccak.ts';

/** Deterministic nonce of a payout authorization: the same purpose and subject give the same nonce, so the token pays it at most once. */
export const payoutNonce = (chainId: number, purpose: string, subjectId: string): string =>
  keccak256(Buffer.from(`agent-network:${chainId}:${purpose}:${subjectId}`));

/** Deterministic substitute nonce of a plain transfer, which has none of its own. */
export const transferNonce = (chainId: number, transactionHash: string, ordinal: number): string =>
  keccak256(Buffer.from(`agent-network:${chainId}:transfer:${transactionHash}:${ordinal}`));

/** Substitute nonce of a transfer that was reversed and mined again, derived from the reversed payment's nonce. */
export const nonceOfReturned = (nonce: string): string => keccak256(Buffer.from(`agent-network:returned:${nonce}`));
