import { callChain } from '@agent-network/chain/chain-rpc-client';
import { askDatabase } from '../../../support/books.ts';
import type { Harness } from '../../../support/harness.ts';

/** How much gas the node's keys have used so far, by the receipts of all that they sent. */
export async function gasUsed(h: Pick<Harness, 'databaseUrl' | 'rpcUrl'>): Promise<number> {
  const sent = await askDatabase<{ hash: string }>(h.databaseUrl, 'select hash from chain_transaction');
  const receipts = await Promise.all(
    sent.map(({ hash }) => callChain<{ gasUsed: string } | null>(h.rpcUrl, 'eth_getTransactionReceipt', hash)),
  );
  return receipts.reduce((sum, receipt) => sum + Number(receipt?.gasUsed ?? 0), 0);
}

/** Gas that the node's keys used for an action. */
export async function gasOfDoing(h: Harness, act: () => Promise<unknown>): Promise<number> {
  const before = await gasUsed(h);
  await act();
  await h.ctx.settler.idle();
  return (await gasUsed(h)) - before;
}
