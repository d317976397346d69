import type { ChainInfo } from '../../../chain/chain-info.ts';
import { randomHex } from '../../../lib/random-hex.ts';
import type { Secrets } from '../../../lib/secrets.ts';

/** The purchase that a nonce is bound to: one account, one target, one price. */
export interface Binding {
  readonly purpose: 'invocation' | 'deposit';
  /** The purchased thing: see `Terms`. */
  readonly target: string;
  readonly accountId: string;
  readonly amountMicro: bigint;
}

/** `free`: chosen by the payer, as by stock x402 clients. */
export type NonceOrigin = 'bound' | 'bound to another' | 'free';

const SALT_BYTES = 8;
const CODE_BYTES = 12;

/**
 * Makes a nonce that is bound to a purchase: 8 random bytes, a MAC over these that marks it as this node's, and a MAC over the binding. The
 * payer's signature covers the nonce, so a payment signed under it is valid for this purchase only, no matter who presents it.
 */
export function makeNonce(chain: ChainInfo, secrets: Secrets, binding: Binding): `0x${string}` {
  const salt = randomHex(SALT_BYTES);
  const [[mark], [code]] = [marksOf(secrets, salt), bindingCodes(chain, secrets, binding, salt)];
  return `0x${salt}${mark}${code}`;
}

export function originOf(chain: ChainInfo, secrets: Secrets, nonce: string, binding: Binding): NonceOrigin {
  const salt = nonce.slice(2, 2 + 2 * SALT_BYTES);
  const [mark, code] = [nonce.slice(2 + 2 * SALT_BYTES, -2 * CODE_BYTES), nonce.slice(-2 * CODE_BYTES)];
  if (!marksOf(secrets, salt).includes(mark)) return 'free';
  return bindingCodes(chain, secrets, binding, salt).includes(code) ? 'bound' : 'bound to another';
}

const marksOf = (secrets: Secrets, salt: string): string[] => codesOf(secrets, 'nonce', [salt]);

const bindingCodes = (chain: ChainInfo, secrets: Secrets, binding: Binding, salt: string): string[] => {
  const { purpose, target, accountId, amountMicro } = binding;
  const parts = [salt, purpose, target, accountId, String(amountMicro), chain.caip2, chain.token, chain.wallet];
  return codesOf(secrets, 'bound-nonce', parts);
};

/** Truncated MACs, that of the newest secret first. A correct guess only yields a payment by the guesser for something else, so comparing it need not take constant time. */
const codesOf = (secrets: Secrets, purpose: string, parts: readonly string[]): string[] =>
  secrets.codesOf(purpose, parts).map((code) => Buffer.from(code, 'base64url').subarray(0, CODE_BYTES).toString('hex'));
