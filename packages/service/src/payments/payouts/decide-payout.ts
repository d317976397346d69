import { AppError, invalid, notFound } from '../../lib/app-error.ts';
import { invariant } from '../../lib/invariant.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { assetOf, inAsset, type LedgerAsset } from '../ledger/asset-account.ts';
import { findLedgerAsset } from '../ledger/asset-store.ts';
import { FEES, findLedgerAccount, LOSS } from '../ledger/ledger-store.ts';
import { charge } from './charge-payout.ts';
import { type FoundPayout, lockFoundPayout, mayComeToPayout, writeFoundPayout } from './found-payout-store.ts';

/**
 * An operator's word about a payout: `charge`: it was paid from this ledger account. `loss`: the node bears it. `own`: it was the operator's
 * own money, which the books never had.
 */
export type Decision = { readonly kind: 'charge'; readonly account: string } | { readonly kind: 'loss' | 'own' };

const chargeable = ['treasury', 'agent', 'suspense'];

/**
 * Closes a payout that waits for an operator, once, and records who decided. Throws NOT_FOUND unless the payout waits for a decision,
 * CONFLICT while its request may still claim it (booked twice, the request could never be refunded or billed), and VALIDATION_ERROR for a
 * decision that it does not allow.
 */
export async function decidePayout(
  { db, clock }: Store,
  { id, decision, by }: { id: string; decision: Decision; by: string },
): Promise<FoundPayout> {
  return db.transaction(async (tx) => {
    const now = clock.now();
    const payout = await lockFoundPayout(tx, id, ['expected', 'undecided', 'due']);
    if (!payout) throw notFound('payout that waits for a decision');
    const { requestId } = payout;
    if (payout.state === 'expected' && requestId !== null && (await mayComeToPayout(tx, requestId)))
      throw new AppError('CONFLICT', `Request ${requestId} may still claim this payout; it can't be decided yet.`);
    const word = { decidedBy: by, decision: decision.kind === 'charge' ? `charge ${decision.account}` : decision.kind };
    if (payout.state === 'due') {
      // It is booked, and the node bears what the account lacks: it may only be left at that.
      if (decision.kind !== 'loss') throw invalid('decision', 'may only be a loss: the payout is charged already');
      await writeFoundPayout(tx, { ...payout, ...word, state: 'decided', dueMicro: 0n }, now);
    } else if (decision.kind === 'own') {
      await writeFoundPayout(tx, { ...payout, ...word, state: 'decided' }, now);
    } else {
      const asset = await findLedgerAsset(tx, payout);
      const source =
        decision.kind === 'charge' ? await requireChargeable(tx, decision.account, asset) : inAsset(LOSS, asset);
      await charge(tx, { ...payout, ...word }, source, now);
    }
    const decided = await lockFoundPayout(tx, id, ['decided', 'booked', 'due', 'explained']);
    invariant(decided !== null, 'a decided payout is closed');
    return decided;
  });
}

/** `fees` are those in the asset of the payout; any other account is named with its asset, which has to be the same. */
async function requireChargeable(tx: Tx, id: string, asset: LedgerAsset): Promise<string> {
  if (id === FEES) return inAsset(FEES, asset);
  const account = await findLedgerAccount(tx, id);
  if (!account || !chargeable.includes(account.kind))
    throw invalid('account', 'must be a treasury, a suspense account or fees');
  if (assetOf(id) !== asset) throw invalid('account', 'is in another asset than the payout');
  return id;
}
