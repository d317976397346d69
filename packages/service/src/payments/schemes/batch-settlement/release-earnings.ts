import type { ChainContext } from '../../chain-outbox/chain-context.ts';
import { releaseEarningRows } from './earning-store.ts';

const BATCH = 500;

/** Releases earnings by vouchers that are claimed by now. If the process dies, the next run releases them. */
export async function releaseEarnings(ctx: ChainContext): Promise<void> {
  const { chainId, token } = ctx.chain;
  const release = () => ctx.db.transaction((tx) => releaseEarningRows(tx, { chainId, token, limit: BATCH }));
  while ((await release()) === BATCH);
}
