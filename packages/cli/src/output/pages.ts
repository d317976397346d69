import { Option } from 'commander';
import { integer } from './arguments.ts';
import type { Terminal } from './terminal.ts';

/** Last page that can be asked for by number; further ones have cursors. */
const MAX_PAGE = 100;

export const pageOption = (): Option =>
  new Option('--page <number>', 'page of the list').argParser(integer(1, MAX_PAGE));

/** The query of a page by its number; nothing for the first one. */
export const offsetOf = (page: number | undefined, limit: number): { offset?: number } =>
  page === undefined || page === 1 ? {} : { offset: (page - 1) * limit };

interface Shown {
  /** Number of the page; undefined: the first one. */
  readonly page?: number | undefined;
  /** The cursor that was given for it. */
  readonly cursor?: string | undefined;
  readonly total: number;
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

/** Tells how to get the next page, if there is one: by its number, or by the cursor where the list was continued by one. */
export function noteMore(
  terminal: Terminal,
  count: number,
  { page = 1, cursor, total, hasMore, nextCursor }: Shown,
): void {
  if (!hasMore) return;
  const isByCursor = cursor !== undefined || page >= MAX_PAGE;
  terminal.note(`${count} of ${total}; more: ${isByCursor ? `--cursor ${nextCursor}` : `--page ${page + 1}`}`);
}
