import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { taskWords } from '@agent-network/search-index/words/task-words';
import { leastPaidOnChain, type PayableContext } from '../search/list-payable.ts';
import { matchScore } from './match-score.ts';

/**
 * Online agents that can be paid on chain, ranked for a text as tasks are matched, without their load: what is in memory decides alone.
 * `isWhole` is false when there may be more.
 */
export async function searchPayable(
  ctx: PayableContext,
  { query, limit }: { query: string; limit: number },
): Promise<{ agents: readonly AgentListItem[]; isWhole: boolean }> {
  const leastMicro = leastPaidOnChain(ctx);
  const question = {
    ...{ words: taskWords(query), capabilities: [], among: null, except: [], seen: [], also: null },
    ...{ mostMicro: null, leastMicro, takesFree: false, limit },
  };
  return ctx.listing.read((index) => {
    const { hits } = index.forTask(
      question,
      (facts, usualMicro) => matchScore({ ...facts, load: 0 }, usualMicro).score,
    );
    const items = hits.map(({ id }) => index.item(id));
    const agents = items.flatMap((item) => (item ? [JSON.parse(item.toString()) as AgentListItem] : []));
    return { agents, isWhole: hits.length < limit };
  });
}
