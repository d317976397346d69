import { AgentSearch } from '@agent-network/contracts/agents/agent-search';
import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { readHealth } from '../../agents/health/read-health.ts';
import { readReputation } from '../../agents/reputation/reputation-view.ts';
import { describeAgents } from '../../agents/search/describe-agents.ts';
import { readAgent, requireAgent } from '../../agents/search/find-agent.ts';
import { listAlternatives } from '../../agents/search/list-alternatives.ts';
import { countFacets, searchAgents } from '../../agents/search/search-agents.ts';
import { AppError } from '../../lib/app-error.ts';
import type { PreparedJson } from '../../lib/json/prepared-json.ts';
import { readEntry } from '../catalogs/catalog-files.ts';
import type { HttpContext } from '../request/http-context.ts';
import type { AgentFacts } from './agent-page.ts';
import type { ExploreFacts } from './explore-page.ts';
import { type ExploreParams, exploreQuery } from './explore-query.ts';
import type { HomeFacts } from './home-page.ts';
import { type Brief, isFree } from './parts.ts';

const BEST = AgentSearch.parse({ query: { online: true }, sort: [{ field: 'reputation', order: 'desc' }], limit: 6 });
/** Free agents are looked for among the first 50 without a price per request: those of them that charge by units are left out. */
const FREE = AgentSearch.parse({ ...BEST, query: { ...BEST.query, rates: { perRequest: { max: '0' } } }, limit: 50 });
const CHEAPEST = AgentSearch.parse({ ...BEST, sort: [{ field: 'rates.perRequest', order: 'asc' }], limit: 1 });
const MAX_DESCRIPTION_CHARS = 200;
const MAX_ALTERNATIVES = 3;

const itemsOf = (agents: PreparedJson) => agents.value as AgentListItem[];

export async function readHome(ctx: HttpContext): Promise<HomeFacts> {
  const [facets, best, unpriced] = await Promise.all([
    countFacets(ctx, {}),
    searchAgents(ctx, BEST),
    searchAgents(ctx, FREE),
  ]);
  const [agents, candidates] = [itemsOf(best.agents), itemsOf(unpriced.agents)];
  const briefs = await briefly(ctx, [...agents, ...candidates]);
  const free = candidates.filter(({ id, rates }) => isFree(rates.perRequest, briefs.get(id)?.metadata));
  const chosen = free.find(({ verified }) => verified) ?? free[0] ?? (await cheapest(ctx));
  return { facets, agents, live: chosen ? await readPresent(ctx, chosen.id) : null, briefs };
}

const cheapest = async (ctx: HttpContext): Promise<AgentListItem | undefined> =>
  itemsOf((await searchAgents(ctx, CHEAPEST)).agents)[0];

/** An agent as the database has it; null: it was removed a moment ago. */
const readPresent = (ctx: HttpContext, id: string) =>
  readAgent(ctx, id).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
    throw error;
  });

export async function readExplore(ctx: HttpContext, params: ExploreParams): Promise<ExploreFacts> {
  const query = exploreQuery(params);
  const { capabilities } = await countFacets(ctx, {});
  const nothing = { params, capabilities, total: 0, agents: [], others: [], briefs: new Map(), nextCursor: null };
  if (!query.isGood) return { ...nothing, problems: query.problems };
  try {
    const { agents: found, total, nextCursor } = await searchAgents(ctx, query.search);
    const agents = itemsOf(found);
    const others = total === 0 ? itemsOf((await searchAgents(ctx, BEST)).agents) : [];
    const briefs = await briefly(ctx, [...agents, ...others]);
    return { params, capabilities, total, agents, others, briefs, nextCursor, problems: [] };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error;
    return { ...nothing, problems: ['The page: this address does not belong to this search.'] };
  }
}

export async function readAgentFacts(ctx: HttpContext, id: string): Promise<AgentFacts> {
  const [agent, entry, { home }, { agents }, reputation, health] = await Promise.all([
    readAgent(ctx, id),
    readEntry(ctx, id),
    requireAgent(ctx, id),
    listAlternatives(ctx, id),
    readReputation(ctx, id),
    readHealth(ctx, id, {}),
  ]);
  const alternatives = itemsOf(agents).slice(0, MAX_ALTERNATIVES);
  return {
    agent,
    entry,
    reputation,
    health,
    homeUrl: home?.baseUrl ?? null,
    alternatives,
    briefs: await briefly(ctx, alternatives),
  };
}

async function briefly(ctx: HttpContext, agents: readonly AgentListItem[]): Promise<ReadonlyMap<string, Brief>> {
  const found = await describeAgents(
    ctx,
    agents.map(({ id }) => id),
  );
  return new Map(
    [...found].map(([id, { description, metadata }]) => [id, { description: brief(description), metadata }]),
  );
}

function brief(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_DESCRIPTION_CHARS
    ? text
    : `${characters.slice(0, MAX_DESCRIPTION_CHARS).join('').trimEnd()}…`;
}
