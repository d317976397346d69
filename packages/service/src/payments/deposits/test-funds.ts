import { randomBytes } from 'node:crypto';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../accounts/caller.ts';
import { findByIdempotencyKey, type Once } from '../../accounts/idempotency/once.ts';
import { authorizationDigest } from '../../chain/keys/authorization.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import type { Signer } from '../../chain/keys/signer.ts';
import type { FaucetSettings } from '../../config/payments.ts';
import { AppError } from '../../lib/app-error.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { newId } from '../../lib/id.ts';
import { networkOf } from '../../lib/net/address-ranges.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { findBySubject } from '../chain-outbox/chain-payment-store.ts';
import { createTreasury } from '../ledger/treasury.ts';
import type { PresentedTransfer } from '../schemes/exact/exact-on-wire.ts';
import { isPaymentPending, PaymentRequiredError } from '../x402/payment-required.ts';
import { PAYMENT_WINDOW_S } from '../x402/x402-scheme.ts';
import { type DepositAnswer, type DepositContext, deposit, hasCreditedNothing } from './deposit.ts';
import { dropTestGrant, noteTestGrant } from './test-grant-store.ts';

export interface TestFundsServices extends Pick<NodeKeys, 'faucet'> {
  readonly faucetSettings: FaucetSettings;
}

type TestFundsContext = DepositContext & TestFundsServices;

/**
 * Gives the account test USDC: the faucet's wallet pays a deposit into its treasury, as any wallet does over x402. The gift is noted before
 * anything is signed, so that no number of calls at once gets more than the bounds allow; a call under the same Idempotency-Key is the same
 * gift, whatever became of the first. Throws NOT_FOUND where the node gives none, RATE_LIMITED at a bound, UNAVAILABLE when the faucet
 * could not pay.
 */
export async function addTestFunds(
  ctx: TestFundsContext,
  caller: AccountCaller,
  client: string,
  once: Once,
): Promise<DepositAnswer['data']> {
  const { faucet, faucetSettings } = ctx;
  if (faucet === null) throw new AppError('NOT_FOUND', 'This node gives no test money. Add funds from a wallet.');
  const find = (id: string) => findBySubject(ctx.db, id, 'deposit');
  const { made, id: keyed } = await findByIdempotencyKey(ctx, once, 'trf', find, (it) => !hasCreditedNothing(it.state));
  const id = keyed ?? newId('trf');
  if (!made) await note(ctx, faucet, { id, accountId: caller.accountId, network: networkOf(client) ?? client });
  try {
    await createTreasury(ctx, caller, {});
    const shown = made ? null : await pay(ctx, faucet);
    return (await deposit(ctx, caller, { amount: formatUsdc(faucetSettings.amountMicro) }, shown, { once })).data;
  } catch (error) {
    // A payment that may still arrive keeps its gift.
    if (!isPaymentPending(error)) await ctx.db.transaction((tx) => dropTestGrant(tx, id));
    if (!(error instanceof PaymentRequiredError)) throw error;
    throw new AppError('UNAVAILABLE', "The node's faucet cannot pay now. Nothing was added.", {}, { cause: error });
  }
}

async function note(
  { db, clock, faucetSettings }: TestFundsContext,
  { address: faucetAddress }: Signer,
  gift: { readonly id: string; readonly accountId: string; readonly network: string },
): Promise<void> {
  const now = clock.now();
  const since = new Date(now.getTime() - DAY_MS);
  const fullSince = await db.transaction((tx) => {
    failpoint('before-test-grant-commit');
    return noteTestGrant(tx, { ...gift, ...faucetSettings, faucetAddress, since, now });
  });
  failpoint('after-test-grant-commit');
  if (fullSince === null) return;
  const { perAccount, perAddress, perDay } = faucetSettings;
  const retryAfterS = Math.max(1, Math.ceil((fullSince.getTime() + DAY_MS - now.getTime()) / 1000));
  const message = `In 24 hours this node gives test USDC at most ${perAccount} times to an account, ${perAddress} times to a network address, and ${perDay} times in all. Repeat the call after Retry-After.`;
  throw new AppError('RATE_LIMITED', message, { details: { limit: perAccount, type: 'test_funds', retryAfterS } });
}

/** A transfer from the faucet to the node's wallet, as a client of x402 signs it. */
async function pay({ chain, clock, faucetSettings }: TestFundsContext, faucet: Signer): Promise<PresentedTransfer> {
  const authorization = {
    from: faucet.address,
    to: chain.wallet,
    valueMicro: faucetSettings.amountMicro,
    validAfterS: 0n,
    validBeforeS: BigInt(Math.floor(clock.now().getTime() / 1000) + PAYMENT_WINDOW_S),
    nonce: `0x${randomBytes(32).toString('hex')}`,
  };
  return {
    ...{ scheme: 'exact', namedScheme: 'exact', version: 1, network: chain.name, accepted: null, identifier: null },
    payer: faucet.address,
    authorization,
    signature: await faucet.signHash(authorizationDigest(chain.domainSeparator, authorization)),
  };
}
