import { openPayerAccount, type PayerAccount, payerAccountOf } from '../../access/accounts/payer-account.ts';
import type { AccountCaller } from '../../access/caller/caller.ts';
import { keylessCaller } from '../../access/caller/keyless-caller.ts';
import { suspended } from '../../access/caller/suspension.ts';
import type { Records } from '../../db/records.ts';
import type { HasPlaceLimits } from '../places/places.ts';
import type { HasRunner } from '../places/runner.ts';
import { type HasStorageMeter, requireStorage } from '../retention/require-storage.ts';
import { requireRoomToPay } from '../start/require-line.ts';

/** Counts a wallet's call, and the opening of its account, against their limits. Throws RATE_LIMITED. */
export type CountPayer = (wallet: string, opensAccount: boolean) => Promise<void>;

type AdmitContext = Records & HasRunner & HasPlaceLimits & HasStorageMeter;

/**
 * The caller in whose name a wallet's call without an API key is accepted: the account of the wallet, opened when there is none. Called
 * with a wallet whose payment is good. Throws FORBIDDEN for a suspended account, RATE_LIMITED and STORAGE_LIMIT_EXCEEDED, before any charge.
 */
export async function admitPayer(ctx: AdmitContext, wallet: string, count: CountPayer): Promise<AccountCaller> {
  const known = await payerAccountOf(ctx, wallet);
  if (known?.isSuspended) throw suspended();
  if (known) {
    const caller = callerOf(wallet, known);
    await requireStorage(ctx, caller);
    requireRoomToPay(ctx, caller);
  }
  await count(wallet, known === null);
  return callerOf(wallet, known ?? (await openPayerAccount(ctx, wallet, ctx.clock.now())));
}

const callerOf = (wallet: string, account: PayerAccount): AccountCaller => ({ ...keylessCaller(wallet), ...account });
