import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Secrets } from '../../lib/secrets.ts';

/** Purposes of a signature. Ids encode the index, so the order must not change. */
const purposes = ['sign-in', 'account', 'agent', 'withdrawal', 'key'] as const;
export type ChallengePurpose = (typeof purposes)[number];

/** A text that the node asked a wallet to sign. It is not stored: the id carries it. */
export interface Challenge {
  readonly purpose: ChallengePurpose;
  /** null: a sign-in by the wallet's holder. The id does not reveal the account but is valid for it only. */
  readonly accountId: string | null;
  /** The agent to prove ownership of; null for every other purpose. */
  readonly agentId: string | null;
  /** Lower case. */
  readonly address: string;
  /** Digest of the exact terms of a withdrawal, or of a key; null for every other purpose. */
  readonly termsDigest: string | null;
  readonly issuedAt: Date;
  readonly nonce: string;
}

const PREFIX = 'chl_';
const [PURPOSE_AT, TIME_AT, NONCE_AT, ADDRESS_AT, TERMS_AT] = [0, 1, 7, 15, 35];
const NONCE_BYTES = 8;
const ADDRESS_BYTES = 20;
const TERMS_BYTES = 16;
const CODE_BYTES = 16;
const AGENT_PREFIX = 'agt_';

/** 16 hex digits: EIP-4361 asks for at least 8 letters and digits. */
export const newNonce = (): string => randomBytes(NONCE_BYTES).toString('hex');

/** Digest of the text of a withdrawal's terms, as used in challenges. */
export const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest().subarray(0, TERMS_BYTES).toString('hex');

/** Encodes a challenge as an id of at most 99 characters. Only this node can make one. */
export const challengeIdOf = (secrets: Secrets, challenge: Challenge): string =>
  challengeIdWith(codesOf(secrets, challenge)[0] as Buffer, challenge);

function challengeIdWith(code: Buffer, challenge: Challenge): string {
  const { agentId, address, termsDigest, issuedAt, nonce, purpose } = challenge;
  const head = Buffer.alloc(NONCE_AT);
  head.writeUInt8(purposes.indexOf(purpose), PURPOSE_AT);
  head.writeUIntBE(issuedAt.getTime(), TIME_AT, 6);
  const terms = Buffer.from(termsDigest ?? '', 'hex');
  const body = Buffer.concat([head, Buffer.from(nonce, 'hex'), Buffer.from(address.slice(2), 'hex'), terms]);
  const text = Buffer.concat([body, code]).toString('base64url');
  return PREFIX + text + (agentId === null ? '' : `.${agentId.slice(AGENT_PREFIX.length)}`);
}

/** Decodes an id that this node gave to this account (null: for a sign-in); otherwise null. */
export function readChallengeId(secrets: Secrets, accountId: string | null, id: string): Challenge | null {
  const [, text = '', agent] = /^chl_([\w-]+)(?:\.(\w+))?$/.exec(id) ?? [];
  const bytes = Buffer.from(text, 'base64url');
  const end = bytes.length - CODE_BYTES;
  if (end !== TERMS_AT && end !== TERMS_AT + TERMS_BYTES) return null;
  const purpose = purposes[bytes.readUInt8(PURPOSE_AT)];
  if (purpose === undefined) return null;
  const challenge: Challenge = {
    purpose,
    accountId,
    agentId: agent === undefined ? null : AGENT_PREFIX + agent,
    address: `0x${bytes.toString('hex', ADDRESS_AT, ADDRESS_AT + ADDRESS_BYTES)}`,
    termsDigest: end === TERMS_AT ? null : bytes.toString('hex', TERMS_AT, end),
    issuedAt: new Date(bytes.readUIntBE(TIME_AT, 6)),
    nonce: bytes.toString('hex', NONCE_AT, ADDRESS_AT),
  };
  const code = codesOf(secrets, challenge).find((each) => timingSafeEqual(bytes.subarray(end), each));
  // Base64 has several spellings of the same bytes; only the canonical one is accepted.
  return code && challengeIdWith(code, challenge) === id ? challenge : null;
}

/** Codes of a challenge, that of the newest secret first. */
function codesOf(secrets: Secrets, challenge: Challenge): Buffer[] {
  const { purpose, accountId, agentId, address, termsDigest, issuedAt, nonce } = challenge;
  const parts = [
    purpose,
    accountId ?? '',
    agentId ?? '',
    address,
    termsDigest ?? '',
    String(issuedAt.getTime()),
    nonce,
  ];
  return secrets
    .codesOf('wallet-challenge', parts)
    .map((code) => Buffer.from(code, 'base64url').subarray(0, CODE_BYTES));
}
