import { invalid } from './app-error.ts';
import { DAY_MS } from './duration.ts';

/** Encodes a cursor as Base64, which shows clients that it is opaque. Never change the texts, as clients store cursors. */
export const encodeCursor = (text: string): string => Buffer.from(text).toString('base64url');

/** The groups of a cursor's pattern. Throws VALIDATION_ERROR for a cursor that this node did not make. */
export function decodeCursor(cursor: string, pattern: RegExp): (string | undefined)[] {
  const match = pattern.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match) throw invalid('cursor', 'is not a cursor of this node');
  return match.slice(1);
}

/** Position in a list, newest first; the page begins after it. */
export interface PagePosition {
  readonly createdAt: Date;
  readonly id: string;
}

export const pageCursor = ({ createdAt, id }: PagePosition): string => encodeCursor(`${createdAt.getTime()}.${id}`);

export function readPageCursor(cursor: string): PagePosition {
  const [ms, id = ''] = decodeCursor(cursor, /^(\d{1,15})\.([\w:-]{1,100})$/);
  return { createdAt: new Date(Number(ms)), id };
}

/** Returns the start of the page that a query asks for. Throws VALIDATION_ERROR when it has both a cursor and an offset. */
export function pageStartOf(query: {
  readonly cursor?: string | undefined;
  readonly offset?: number | undefined;
}): PagePosition | null {
  if (query.cursor === undefined) return null;
  if (query.offset !== undefined) throw invalid('cursor', 'cannot be used together with offset');
  return readPageCursor(query.cursor);
}

/** Converts whole days (UTC), the last one included, to a half-open interval. Throws VALIDATION_ERROR when the end is before the start. */
export function readDays({ startDate, endDate }: { startDate?: string | undefined; endDate?: string | undefined }) {
  if (startDate && endDate && startDate > endDate) throw invalid('endDate', 'is before startDate');
  return {
    from: startDate === undefined ? null : new Date(startDate),
    before: endDate === undefined ? null : new Date(new Date(endDate).getTime() + DAY_MS),
  };
}
