import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../accounts/caller.ts';
import { findByIdempotencyKey, type Once } from '../../accounts/idempotency/once.ts';
import { newId } from '../../lib/id.ts';
import { findBySubject } from '../chain-outbox/chain-payment-store.ts';
import { createTreasury } from '../ledger/treasury.ts';
import { type DepositAnswer, type DepositContext, deposit, hasCreditedNothing } from './deposit.ts';
import { endGrant, noteGrant, requireFaucet, signFromFaucet, type TestFundsServices } from './test-grant.ts';

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
  const faucet = requireFaucet(ctx);
  const { amountMicro, perAccount } = ctx.faucetSettings;
  const find = (id: string) => findBySubject(ctx.db, id, 'deposit');
  const { made, id: keyed } = await findByIdempotencyKey(ctx, once, 'trf', find, (it) => !hasCreditedNothing(it.state));
  const id = keyed ?? newId('trf');
  if (!made) await noteGrant(ctx, faucet, { id, accountId: caller.accountId, client, perAccount });
  try {
    await createTreasury(ctx, caller, {});
    const shown = made ? null : await signFromFaucet(ctx, faucet, amountMicro);
    return (await deposit(ctx, caller, { amount: formatUsdc(amountMicro) }, shown, { once, newId: id })).data;
  } catch (error) {
    return endGrant(ctx, id, error);
  }
}
