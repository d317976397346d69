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

/** Truncated MAC. A correct guess only yields a payment by the guesser for something else, so comparing it need not take constant time. */
const codeOf = (secrets: Secrets, purpose: string, parts: readonly string[]): string =>
  Buffer.from(secrets.authenticate(purpose, parts), 'base64url').subarray(0, CODE_BYTES).toString('hex');
