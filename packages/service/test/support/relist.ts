import { writeListing } from '../../src/agents/search/listing-store.ts';
import type { Harness } from './harness.ts';

/** Brings what agents are found by up to what a test wrote into `agent` directly. */
export async function relist({ ctx }: Harness): Promise<void> {
  const { rows } = await ctx.db.pool.query<{ id: string }>('select id from agent order by id');
  for (const agent of rows) await ctx.db.transaction((tx) => writeListing(tx, agent));
}
