import type { AccountProgress } from '@agent-network/contracts/invocations/figures';
import type { AccountCaller } from '../../accounts/caller.ts';
import type { Store } from '../../store/database.ts';
import { readProgressRow } from './progress-store.ts';

/** The first steps that an account has taken. Each is one look at an index or at sums, for any number of calls. */
export async function readProgress({ db }: Pick<Store, 'db'>, { accountId }: AccountCaller): Promise<AccountProgress> {
  const row = await readProgressRow(db, accountId);
  const { hasUsedKey, isFunded, calls, spent, hasAgent, isVerified, received, earned, hasWithdrawn } = row;
  return {
    buyer: { hasCalled: calls > 0n, isFunded, hasPaid: spent > 0n, hasUsedKey },
    seller: { hasAgent, isVerified, wasCalled: received > 0n, hasEarned: earned > 0n, hasWithdrawn },
  };
}
