import type { Api } from '@agent-network/contracts/api';
import type { Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { Statement, StatementEntry } from '@agent-network/contracts/payments/statements';
import type { KnownCaller } from '../../accounts/caller.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { type Networks, nameOfAsset } from '../../chain/networks.ts';
import { invalid } from '../../lib/app-error.ts';
import { decodeCursor, encodeCursor } from '../../lib/page-position.ts';
import type { Store } from '../../store/database.ts';
import { requireTreasury } from '../ledger/treasury.ts';
import { type EntryRow, findBalance, listEntryRows } from './statement-store.ts';

type Query = Parsed<Api['getStatement']>['query'];

/**
 * A page of a treasury's statement. The pages of a period end with the entry that was the last when the first page was read, so that
 * opening balance, entries and closing balance agree despite later bookings. Throws NOT_FOUND for a treasury that is not the caller's.
 */
export async function readStatement(
  ctx: Store & NodeIdentity & Partial<Networks>,
  caller: KnownCaller,
  treasuryId: string,
  query: Query,
): Promise<Statement> {
  const { id, asset } = await requireTreasury(ctx, caller, treasuryId);
  const { limit = 100, order = 'asc' } = query;
  const period = periodOf(query);
  const position = query.cursor === undefined ? null : positionOf(query.cursor, query, period);
  const { from, to } = position ?? period;
  const [opening, closing] = await Promise.all([
    from ? findBalance(ctx.db, id, from) : { sequence: 0n, balanceMicro: 0n },
    position?.closing ?? findBalance(ctx.db, id, to),
  ]);
  const after = position?.after ?? null;
  const page = { order, after, from, before: to, lastSequence: closing.sequence, limit: limit + 1 };
  const rows = closing.sequence > opening.sequence ? await listEntryRows(ctx.db, id, page) : [];
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    treasuryId: id,
    currency: 'USDC',
    network: nameOfAsset(ctx, asset),
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    openingBalance: formatUsdc(opening.balanceMicro),
    closingBalance: formatUsdc(closing.balanceMicro),
    entries: shown.map(toEntry),
    hasMore,
    nextCursor: hasMore
      ? statementCursor({
          order,
          from,
          to,
          closing,
          after: { at: last.createdAt, sequence: last.sequence },
        })
      : null,
  };
}

function periodOf({ from, to }: Query): Period {
  const period = { from: from === undefined ? null : new Date(from), to: to === undefined ? null : new Date(to) };
  if (period.from && period.to && period.from >= period.to) throw invalid('to', 'must be after `from`');
  return period;
}

function positionOf(cursor: string, query: Query, period: Period): StatementPosition {
  const position = readStatementCursor(cursor);
  if (position.order !== (query.order ?? 'asc')) throw invalid('cursor', 'belongs to the other order');
  for (const side of ['from', 'to'] as const)
    if (query[side] !== undefined && period[side]?.getTime() !== position[side]?.getTime())
      throw invalid('cursor', 'belongs to another period');
  return position;
}

const toEntry = ({ sequence: _sequence, amountMicro, balanceMicro, createdAt, ...rest }: EntryRow): StatementEntry => ({
  ...rest,
  amount: formatUsdc(amountMicro),
  balance: formatUsdc(balanceMicro),
  createdAt: createdAt.toISOString(),
});

/** A half-open period of a statement; null: unbounded on that side. */
interface Period {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Position in the statement of a period: the entry after which the next page begins, and the last entry of all pages. */
interface StatementPosition extends Period {
  readonly order: 'asc' | 'desc';
  readonly after: { readonly sequence: bigint; readonly at: Date };
  readonly closing: { readonly sequence: bigint; readonly balanceMicro: bigint };
}

const BACK = 'back.';
const PATTERN =
  /^(back\.)?(-\d{1,14}|\d{1,15}|)\.(-\d{1,14}|\d{1,15}|)\.(\d{1,15})\.(\d{1,18})\.(\d{1,18})\.(-?\d{1,18})$/;

export function statementCursor({ order, from, to, after, closing }: StatementPosition): string {
  const period = [from?.getTime() ?? '', to?.getTime() ?? ''];
  const parts = [...period, after.at.getTime(), after.sequence, closing.sequence, closing.balanceMicro];
  return encodeCursor((order === 'desc' ? BACK : '') + parts.join('.'));
}

/** Throws VALIDATION_ERROR for a cursor that this node did not make. */
export function readStatementCursor(cursor: string): StatementPosition {
  const [order, ...parts] = decodeCursor(cursor, PATTERN);
  const part = (index: number) => parts[index] as string;
  const dateOf = (ms: string) => (ms === '' ? null : new Date(Number(ms)));
  return {
    order: order === BACK ? 'desc' : 'asc',
    from: dateOf(part(0)),
    to: dateOf(part(1)),
    after: { at: new Date(Number(part(2))), sequence: BigInt(part(3)) },
    closing: { sequence: BigInt(part(4)), balanceMicro: BigInt(part(5)) },
  };
}
