import type { HasClock } from '../../lib/clock.ts';
import { isPlainName } from '../../lib/json/json-object.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import { type AskedPause, readJson } from '../entries/network-file-client.ts';
import type { Reason } from '../nodes/entry.ts';

/** Page size. */
const LIMIT = 200;
/** Fits a page of agents of maximum size. */
const MAX_BYTES = 8 * 2 ** 20;

const MAX_CURSOR_CHARS = 200;

export interface FeedPage {
  /** Registration files, not validated. */
  readonly agents: readonly unknown[];
  readonly hasMore: boolean;
  readonly cursor: string;
}

type Asked =
  | { readonly page: FeedPage }
  /** `pause`: the node asks to be left alone. */
  | { readonly failed: Reason; readonly pause: AskedPause | null };

/** Reads the agents of a node that changed since a cursor. Throws only when the signal aborts. */
export async function askFeed(
  ctx: HasGuardedFetch & HasClock,
  { baseUrl, cursor, signal }: { baseUrl: string; cursor: string | null; signal: AbortSignal },
): Promise<Asked> {
  const query = new URLSearchParams({ limit: String(LIMIT), ...(cursor === null ? {} : { cursor }) });
  const read = await readJson(ctx, { url: `${baseUrl}/network/agents?${query}`, maxBytes: MAX_BYTES, signal });
  if ('reason' in read) return { failed: read.reason, pause: read.pause };
  const page = (read.file as { data?: Partial<Record<keyof FeedPage, unknown>> } | null)?.data;
  return isPage(page) ? { page } : { failed: 'bad_file', pause: null };
}

const isPage = (page: Partial<Record<keyof FeedPage, unknown>> | undefined): page is FeedPage & typeof page =>
  Array.isArray(page?.agents) &&
  page.agents.length <= LIMIT &&
  typeof page.hasMore === 'boolean' &&
  typeof page.cursor === 'string' &&
  page.cursor.length <= MAX_CURSOR_CHARS &&
  isPlainName(page.cursor);
