import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { PreparedJson, preparedArray } from '../../lib/json/prepared-json.ts';
import type { AgentServices } from '../agent-services.ts';
import { requireAgent } from './find-agent.ts';
import { alternativesIn } from './find-alternatives.ts';
import type { Listed } from './listing.ts';

/** The alternatives that AGENT_UNAVAILABLE would name for this agent, as list items. */
export async function listAlternatives(
  ctx: AgentServices,
  id: string,
): Promise<Listed<DataOf<Api['listAlternatives']>>> {
  const wanted = await requireAgent(ctx, id);
  const items = await ctx.listing.read((index) =>
    alternativesIn(index, wanted).flatMap(({ agentId, similarity }) => {
      const item = index.item(agentId);
      return item ? [withSimilarity(item, similarity)] : [];
    }),
  );
  return { agents: preparedArray(items) };
}

/** The item with one more field before its closing brace. */
const withSimilarity = (item: Buffer, similarity: number) =>
  new PreparedJson(item.subarray(0, -1), `,"similarity":${similarity}}`);
