import { decodeCursor, encodeCursor } from '../../lib/page-position.ts';

/** A half-open period of a statement; null: unbounded on that side. */
export interface Period {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** Position in the statement of a period: the entry after which the next page begins, and the last entry of all pages. */
export interface StatementPosition extends Period {
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
