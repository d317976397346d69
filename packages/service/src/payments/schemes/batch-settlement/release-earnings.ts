import type { ChainContext } from '../../chain-outbox/chain-context.ts';
import { releaseEarningRows } from './earning-store.ts';

const BATCH = 500;

/**
 * Gives free what was earned by vouchers and is claimed by now. Level by level, as the books of claims: if the process dies, the next run
 * gives it free.
 */
export async function releaseEarnings(ctx: ChainContext): Promise<void> {
  const { chainId, token } = ctx.chain;
  const release = () => ctx.db.transaction((tx) => releaseEarningRows(tx, { chainId, token, limit: BATCH }));
  while ((await release()) === BATCH);
}
