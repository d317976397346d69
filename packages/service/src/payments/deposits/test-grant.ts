import { randomBytes } from 'node:crypto';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { type Authorization, authorizationDigest } from '../../chain/keys/authorization.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import type { Signer } from '../../chain/keys/signer.ts';
import type { FaucetSettings } from '../../config/payments.ts';
import { AppError } from '../../lib/app-error.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { networkOf } from '../../lib/net/address-ranges.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Store } from '../../store/database.ts';
import type { PresentedTransfer } from '../schemes/exact/exact-on-wire.ts';
import { isPaymentPending, PaymentRequiredError } from '../x402/payment-required.ts';
import { PAYMENT_WINDOW_S } from '../x402/x402-scheme.ts';
import { dropTestGrant, noteTestGrant } from './test-grant-store.ts';

export interface TestFundsServices extends Pick<NodeKeys, 'faucet'> {
  readonly faucetSettings: FaucetSettings;
}

type GrantContext = Store & TestFundsServices & NodeIdentity;

/** The faucet's wallet. Throws NOT_FOUND where the node gives no test money. */
export function requireFaucet({ faucet }: TestFundsServices): Signer {
  if (faucet === null) throw new AppError('NOT_FOUND', 'This node gives no test money. Add funds from a wallet.');
  return faucet;
}

export interface NewGrant {
  /** Id of the deposit or request that the gift pays. */
  readonly id: string;
  readonly accountId: string;
  /** Network address of the client that asks. */
  readonly client: string;
  /** Gifts to this account in 24 hours. */
  readonly perAccount: number;
}

/** Notes a gift before anything is signed. Throws RATE_LIMITED at a bound of 24 hours. */
export async function noteGrant(
  { db, clock, faucetSettings }: Store & TestFundsServices,
  { address: faucetAddress }: Signer,
  { id, accountId, client, perAccount }: NewGrant,
): Promise<void> {
  const now = clock.now();
  const since = new Date(now.getTime() - DAY_MS);
  const network = networkOf(client) ?? client;
  const fullSince = await db.transaction((tx) => {
    failpoint('before-test-grant-commit');
    return noteTestGrant(tx, { ...faucetSettings, id, accountId, network, perAccount, faucetAddress, since, now });
  });
  failpoint('after-test-grant-commit');
  if (fullSince === null) return;
  const { perAddress, perDay } = faucetSettings;
  const retryAfterS = Math.max(1, Math.ceil((fullSince.getTime() + DAY_MS - now.getTime()) / 1000));
  const message = `In 24 hours this node gives test USDC at most ${faucetSettings.perAccount} times to an account, ${perAddress} times to a network address, and ${perDay} times in all. Repeat the call after Retry-After.`;
  const limit = Math.min(perAccount, perAddress);
  throw new AppError('RATE_LIMITED', message, { details: { limit, type: 'test_funds', retryAfterS } });
}

/** Takes back a gift of which no payment came: a repetition found the earlier one. */
export const returnGrant = ({ db }: Store, id: string): Promise<unknown> =>
  db.transaction((tx) => dropTestGrant(tx, id));

/**
 * Ends a gift after this error, which is thrown again: it is taken back unless its payment may still arrive. A refused payment is the
 * faucet's: UNAVAILABLE.
 */
export async function endGrant(ctx: Store, id: string, error: unknown): Promise<never> {
  // A payment that may still arrive keeps its gift.
  if (!isPaymentPending(error)) await returnGrant(ctx, id);
  if (!(error instanceof PaymentRequiredError)) throw error;
  throw new AppError('UNAVAILABLE', "The node's faucet cannot pay now. Nothing was paid.", {}, { cause: error });
}

/** A transfer from the faucet to the node's wallet, as a client of x402 signs it: by itself, or for an offer of this node. */
export async function signFromFaucet(
  { chain, clock }: GrantContext,
  faucet: Signer,
  valueMicro: bigint,
  offer: PresentedTransfer['accepted'] = null,
): Promise<PresentedTransfer> {
  const authorization: Authorization = {
    from: faucet.address,
    to: chain.wallet,
    valueMicro,
    validAfterS: 0n,
    validBeforeS: BigInt(Math.floor(clock.now().getTime() / 1000) + PAYMENT_WINDOW_S),
    nonce: offer === null ? `0x${randomBytes(32).toString('hex')}` : (offer.extra.nonce as Authorization['nonce']),
  };
  return {
    ...{ scheme: 'exact', namedScheme: 'exact', identifier: null, accepted: offer },
    ...(offer === null ? { version: 1, network: chain.name } : { version: 2, network: offer.network }),
    payer: faucet.address,
    authorization,
    signature: await faucet.signHash(authorizationDigest(chain.domainSeparator, authorization)),
  };
}
