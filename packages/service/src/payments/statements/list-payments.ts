import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../accounts/caller.ts';
import { pageCursor, pageStartOf, readDays } from '../../lib/page-position.ts';
import type { Store } from '../../store/database.ts';
import { countPayments, listPaymentRows, type PaymentRow } from '../ledger/payment-history-store.ts';
import { visibleTreasuries } from '../ledger/treasury.ts';

const DEFAULT_LIMIT = 20;

/** Movements of the caller's money, newest first: charges and earnings of the treasuries, deposits, and x402 payments. */
export async function listPayments(
  ctx: Store,
  caller: KnownCaller,
  query: Parsed<Api['listPayments']>['query'],
): Promise<DataOf<Api['listPayments']>> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = pageStartOf(query);
  const criteria = {
    treasuryIds: (await visibleTreasuries(ctx, caller)).map(({ id }) => id),
    accountId: caller.kind === 'account' ? caller.accountId : null,
    type: query.type ?? null,
    ...readDays(query),
  };
  const [rows, total] = await Promise.all([
    listPaymentRows(ctx.db, criteria, { after, limit: limit + 1, offset: query.offset ?? 0 }),
    countPayments(ctx.db, criteria),
  ]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  return {
    payments: shown.map(toItem),
    total,
    hasMore,
    nextCursor: hasMore && last ? pageCursor({ createdAt: last.createdAt, id: last.paymentId }) : null,
  };
}

const toItem = ({ amountMicro, feeMicro, createdAt, ...rest }: PaymentRow) => ({
  ...rest,
  amount: formatUsdc(amountMicro),
  ...(feeMicro === null ? {} : { fee: formatUsdc(feeMicro) }),
  createdAt: createdAt.toISOString(),
});
