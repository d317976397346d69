import type { Store } from '../../store/database.ts';
import { findSitemapAgents, findSitemapStarts, type SitemapAgent } from './sitemap-store.ts';

/** First ids of the steps of `step` agents each, among those listed for search engines. */
export const listIndexedStarts = (ctx: Store, step: number): Promise<string[]> => findSitemapStarts(ctx.db, step);

/** The agents listed for search engines, from one id up to another. */
export const listIndexed = (
  ctx: Store,
  range: { readonly from: string; readonly to: string | null; readonly limit: number },
): Promise<SitemapAgent[]> => findSitemapAgents(ctx.db, range);
