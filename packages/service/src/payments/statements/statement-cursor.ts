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
  return Buffer.from((order === 'desc' ? BACK : '') + parts.join('.')).toString('base64url');
}

/** Decodes a cursor; null when this node did not issue it. */
export function readStatementCursor(cursor: string): StatementPosition | null {
  const match = PATTERN.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (!match) return null;
  const part = (index: number) => match[index + 1] as string;
  const dateOf = (ms: string) => (ms === '' ? null : new Date(Number(ms)));
  return {
    order: match[1] === BACK ? 'desc' : 'asc',
    from: dateOf(part(1)),
    to: dateOf(part(2)),
    after: { at: new Date(Number(part(3))), sequence: BigInt(part(4)) },
    closing: { sequence: BigInt(part(5)), balanceMicro: BigInt(part(6)) },
  };
}
