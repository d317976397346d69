import type { MatchParts } from '@agent-network/contracts/agents/match-score';
import type { MatchRequest } from '@agent-network/contracts/agents/matching';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { TaskAnswer, TaskHit, TaskQuestion, TaskScore } from '@agent-network/search-index/listing';
import { taskWords } from '@agent-network/search-index/words/task-words';
import { wordsOf } from '@agent-network/search-index/words/words';
import { formatDuration } from '../../lib/duration.ts';
import type { Store } from '../../store/database.ts';
import { type Agent, isVerified } from '../agent.ts';
import type { AgentServices } from '../agent-services.ts';
import { findAgentRows } from '../agent-store.ts';
import { loadOf, toListItem } from '../agent-view.ts';
import { type MatchScore, matchScore, matchWeights, rankCandidates } from './match-score.ts';
import { countRunningOf, listOnlineOf } from './match-store.ts';

/** An agent that matches a task, with its score and the parts of the score. */
export interface TaskMatch {
  readonly agent: Agent;
  readonly score: number;
  readonly parts: MatchParts;
}

export type TaskMatching = Omit<TaskAnswer, 'hits'> & {
  readonly matches: readonly TaskMatch[];
  /** The agents already considered, including those that went offline since. */
  readonly seen: readonly string[];
  /** True when no other agent matches. */
  readonly isLast: boolean;
  /** The position of the registry when the candidates were found; their rows are read later. */
  readonly position: string;
};

/** Number of top agents to rank by load, as an agent may rise above others that are nearly as good. */
const FINALISTS = 40;

/** Ranks the agents that match a task, best first: at most some dozens. Their load is not in the listing, so it is read at last. */
export async function matchTask(
  ctx: AgentServices & Store,
  question: Omit<TaskQuestion, 'limit'>,
): Promise<TaskMatching> {
  const { hits, ...answer } = await ctx.listing.read((index, position) => {
    const scoreOf: TaskScore = (facts, usualMicro) => matchScore({ ...facts, load: 0 }, usualMicro).score;
    return { ...index.forTask({ ...question, limit: FINALISTS }, scoreOf), position };
  });
  const ids = hits.map(({ id }) => id);
  const [agents, running] = await Promise.all([findAgentRows(ctx.db, ids), countRunningOf(ctx.db, ids)]);
  const now = ctx.clock.now();
  const hitOf = new Map(hits.map((hit) => [hit.id, hit]));
  const candidates = agents
    .filter(({ status }) => status === 'online')
    .map((agent) => ({
      ...(hitOf.get(agent.id) as TaskHit),
      ...{ agent, isVerified: isVerified(agent), reputation: agent.reputation, responseMs: agent.responseMs },
      ...{ priceMicro: agent.perRequestMicro, load: loadOf(agent, running.get(agent.id) ?? 0, now) },
    }));
  const matches = rankCandidates(candidates, answer.usualMicro).map(({ agent, matched, load, match }) => ({
    ...{ agent, score: match.score },
    parts: toParts(match, { agent, matched, load, usualMicro: answer.usualMicro }),
  }));
  return { ...answer, matches, seen: ids, isLast: ids.length < FINALISTS };
}

/** Online agents that these accounts have here, at most 2,000. */
export const findOnlineOf = async ({ db }: Store, accountIds: readonly string[]): Promise<string[]> =>
  accountIds.length === 0 ? [] : listOnlineOf(db, accountIds);

function toParts(
  { parts, coverage, credit }: MatchScore,
  seen: { agent: Agent; matched: readonly string[]; load: number; usualMicro: bigint },
): MatchParts {
  const { agent, matched, load, usualMicro } = seen;
  const part = (name: keyof typeof parts) => ({ weight: matchWeights[name] / 100, value: parts[name] });
  return {
    text: { ...part('text'), coverage, credit, matched: [...matched] },
    reputation: { ...part('reputation'), reputation: agent.reputation },
    price: { ...part('price'), price: formatUsdc(agent.perRequestMicro), usual: formatUsdc(usualMicro) },
    latency: {
      ...part('latency'),
      responseTime: agent.responseMs === null ? null : formatDuration(agent.responseMs),
    },
    load: { ...part('load'), load },
  };
}

/** Ranks online agents for a task, and explains each score; with the position of the registry that decided who is considered. */
export async function matchAgents(
  ctx: AgentServices & Store & { readonly nodeLabel: string },
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
    maxMicro: maxPrice === undefined ? null : parseUsdc(maxPrice),
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
