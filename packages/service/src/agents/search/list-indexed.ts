import type { HasDb } from '../../db/database.ts';
import { findSitemapAgents, findSitemapStarts, type SitemapAgent } from './sitemap-store.ts';

/** Where each step of so many agents begins, of those that search engines are told of. */
export const listIndexedStarts = (ctx: HasDb, step: number): Promise<string[]> => findSitemapStarts(ctx.db, step);

/** Those agents from one id up to another. */
export const listIndexed = (
  ctx: HasDb,
  range: { readonly from: string; readonly to: string | null; readonly limit: number },
): Promise<SitemapAgent[]> => findSitemapAgents(ctx.db, range);
