import type { MatchRequest } from '@agent-network/contracts/agents/matching';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { parseUsdc } from '@agent-network/contracts/money';
import { taskWords } from '@agent-network/search-index/words/task-words';
import { wordsOf } from '@agent-network/search-index/words/words';
import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { formatDuration } from '../../lib/duration.ts';
import { toListItem } from '../agent-view.ts';
import type { HasListing, HasNodeLabel } from '../search/listing.ts';
import { matchTask } from './match-task.ts';

/** Ranks online agents for a task, and explains each score; with the position of the registry that decided who is considered. */
export async function matchAgents(
  ctx: HasListing & HasDb & HasClock & HasNodeLabel,
  { task, maxPrice, capabilities = [], limit }: MatchRequest,
): Promise<{ data: DataOf<Api['matchAgents']>; position: string }> {
  const startMs = performance.now();
  const words = taskWords(task);
  const {
    matches,
    considered,
    words: deciding,
    position,
  } = await matchTask(ctx, {
    ...{ words, capabilities, among: null, except: [], seen: [], also: null, leastMicro: 0n, takesFree: true },
    mostMicro: maxPrice === undefined ? null : parseUsdc(maxPrice),
  });
  const data = {
    matches: matches
      .slice(0, limit)
      .map(({ agent, score, parts }) => ({ agent: toListItem(agent, ctx.nodeLabel), score, parts })),
    considered,
    words: [...deciding],
    ignoredWords: wordsOf(task).length - deciding.length,
    executionTime: formatDuration(performance.now() - startMs),
  };
  return { data, position };
}
