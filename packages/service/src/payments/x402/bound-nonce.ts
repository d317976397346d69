import { randomBytes } from 'node:crypto';
import type { ChainInfo } from '../../chain/chain-info.ts';
import type { Secrets } from '../../lib/secrets.ts';

/** What a nonce is bound to: one account's purchase of one thing at one price. */
export interface Binding {
  readonly purpose: 'invocation' | 'deposit';
  /** What is bought: see `Terms`. */
  readonly target: string;
  readonly accountId: string;
  readonly amountMicro: bigint;
}

/** `free`: of the payer's own making, as those of stock x402 clients are. */
export type NonceOrigin = 'bound' | 'bound to another' | 'free';

const SALT_BYTES = 8;
const CODE_BYTES = 12;

/**
 * A nonce to sign a payment under, which says whom it is for: 8 random bytes, a code over these that marks it as ours, and a code over
 * the binding. The payer's signature is over the nonce, so what is signed under it pays for nothing else, whoever shows it.
 */
export function makeNonce(chain: ChainInfo, secrets: Secrets, binding: Binding): `0x${string}` {
  const salt = randomBytes(SALT_BYTES).toString('hex');
  return `0x${salt}${markOf(secrets, salt)}${bindingCode(chain, secrets, binding, salt)}`;
}

export function originOf(chain: ChainInfo, secrets: Secrets, nonce: string, binding: Binding): NonceOrigin {
  const salt = nonce.slice(2, 2 + 2 * SALT_BYTES);
  const [mark, code] = [nonce.slice(2 + 2 * SALT_BYTES, -2 * CODE_BYTES), nonce.slice(-2 * CODE_BYTES)];
  if (mark !== markOf(secrets, salt)) return 'free';
  return code === bindingCode(chain, secrets, binding, salt) ? 'bound' : 'bound to another';
}

const markOf = (secrets: Secrets, salt: string): string => codeOf(secrets, 'nonce', [salt]);

const bindingCode = (chain: ChainInfo, secrets: Secrets, binding: Binding, salt: string): string => {
  const { purpose, target, accountId, amountMicro } = binding;
  const parts = [salt, purpose, target, accountId, String(amountMicro), chain.caip2, chain.token, chain.wallet];
  return codeOf(secrets, 'bound-nonce', parts);
};

/** What comes of guessing one: a payment of the guesser's own, for something else. So comparing need not take the same time. */
const codeOf = (secrets: Secrets, purpose: string, parts: readonly string[]): string =>
  Buffer.from(secrets.authenticate(purpose, parts), 'base64url').subarray(0, CODE_BYTES).toString('hex');
