import { AgentSearch } from '@agent-network/contracts/agents/agent-search';
import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import type { ardExplore, ardSearch } from '@agent-network/contracts/agents/catalogs';
import type { Parsed } from '@agent-network/contracts/endpoint';
import { type CatalogAgent, readCatalog } from '../../agents/search/list-catalog.ts';
import { countFacets, searchTextOf, searchWithScores } from '../../agents/search/search-agents.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { invalid } from '../../lib/app-error.ts';
import type { Peer } from '../../network/read-network.ts';
import type { HttpContext } from '../request/http-context.ts';
import { agentEntry, type EntryKind, kindsOf, publisherOf, referralOf, registryUrl, typeOf } from './entries.ts';

/** Rank of the last agent that a search shows. */
const MAX_DEPTH = 10_000;
/** Maximum number of home nodes in a filter, and of agents that are ranked when it has several. */
const MAX_HOMES = 10;
const MAX_MERGED = 1000;
const MAX_REFERRALS = 50;

type SearchInput = Parsed<typeof ardSearch>['body'];
type ExploreInput = Parsed<typeof ardExplore>['body'];
type Filter = NonNullable<ExploreInput['query']['filter']>;

/** A question of ARD in terms of the node's own search. */
interface Question {
  readonly text: string | undefined;
  /** Kinds of entries wanted for each agent; none: no entry fits. */
  readonly kinds: readonly EntryKind[];
  /** Home nodes, as the search names them; null: all. Empty: no agent fits. */
  readonly homes: readonly string[] | null;
  /** At least one of these; null: any. Empty: no agent fits. */
  readonly capabilities: readonly string[] | null;
  readonly isOnline: boolean | undefined;
}

const FIELDS = ['type', 'publisher', 'capabilities', 'metadata.online'] as const;
type Field = (typeof FIELDS)[number];

const unknownField = (path: string, field: string) =>
  invalid(path, `has the field ${field.slice(0, 50)}, which is not one of ${FIELDS.join(', ')}`);

const isField = (name: string): name is Field => (FIELDS as readonly string[]).includes(name);

const CAPABILITY = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Reads text and filter. `isFederated`: agents of other nodes are wanted too. Throws VALIDATION_ERROR for a field that is not indexed. */
function readQuestion(
  node: HttpContext,
  { text, filter = {} }: { readonly text?: string | undefined; readonly filter?: Filter | undefined },
  { isFederated, peers }: { readonly isFederated: boolean; readonly peers: readonly Peer[] },
): Question {
  const wanted = new Map<Field, readonly string[]>();
  for (const [name, given] of Object.entries(filter)) {
    if (!isField(name)) throw unknownField('query.filter', name);
    wanted.set(name, [...new Set([given].flat().map(String))]);
  }
  const available = kindsOf(node);
  const [chosen, names, publishers] = [wanted.get('type'), wanted.get('capabilities'), wanted.get('publisher')];
  const online = wanted.get('metadata.online') ?? ['true'];
  return {
    text: text === undefined ? undefined : searchTextOf(text),
    kinds: chosen ? available.filter((kind) => chosen.includes(typeOf(kind))) : available.slice(0, 1),
    homes: homesOf(node, publishers, isFederated ? peers : null),
    capabilities: names
      ? [...new Set(names.map((name) => name.toLowerCase()).filter((name) => CAPABILITY.test(name)))]
      : null,
    isOnline: online.length === 1 ? online[0] === 'true' : undefined,
  };
}

function homesOf(
  { baseUrl }: HttpContext,
  publishers: readonly string[] | undefined,
  peers: readonly Peer[] | null,
): readonly string[] | null {
  const isNamed = (url: string) => publishers === undefined || publishers.includes(publisherOf(url));
  const here = isNamed(baseUrl) ? ['this'] : [];
  if (peers === null) return here;
  if (publishers === undefined) return null;
  const homes = [...here, ...peers.filter((peer) => isNamed(peer.baseUrl)).map(({ nodeId }) => nodeId)];
  if (homes.length > MAX_HOMES) throw invalid('query.filter', `names more than ${MAX_HOMES} nodes by their publisher`);
  return homes;
}

const isEmpty = ({ kinds, homes, capabilities }: Question): boolean =>
  kinds.length === 0 || homes?.length === 0 || capabilities?.length === 0;

interface Found {
  readonly agents: readonly ScoredAgent[];
  readonly hasMore: boolean;
}

interface ScoredAgent extends CatalogAgent {
  /** Relevance, 0 to 100. */
  readonly score: number;
}

/** The agents of one part of the ranking. */
async function findAgents(
  ctx: HttpContext,
  question: Question,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<Found> {
  const { text, homes, capabilities, isOnline } = question;
  const ask = async (home: string | undefined, page: { offset: number; limit: number }) => {
    const query = {
      ...(text === undefined ? {} : { text }),
      ...(capabilities === null ? {} : { capabilities: { any: [...capabilities] } }),
      ...(isOnline === undefined ? {} : { online: isOnline }),
      ...(home === undefined ? {} : { home }),
    };
    const { answer, scores } = await searchWithScores(ctx, { ...AgentSearch.parse({ query }), ...page });
    const ids = (answer.agents.value as AgentListItem[]).map(({ id }) => id);
    const scoreOf = new Map(ids.map((id, index) => [id, Math.round(100 * (scores[index] ?? 0))]));
    const agents = (await readCatalog(ctx, ids)).map((agent) => ({ ...agent, score: scoreOf.get(agent.id) ?? 0 }));
    return { agents, hasMore: answer.hasMore };
  };
  if (homes === null || homes.length === 1) return ask(homes?.[0], { offset, limit });
  const end = Math.min(offset + limit, MAX_MERGED);
  const all = await Promise.all(homes.map((home) => ask(home, { offset: 0, limit: end })));
  const merged = all.flatMap(({ agents }) => agents).sort((a, b) => b.score - a.score);
  return {
    agents: merged.slice(offset, end),
    hasMore: end < MAX_MERGED && (merged.length > end || all.some(({ hasMore }) => hasMore)),
  };
}

const PURPOSE = 'ard-page';

/** A token for the place in a list that holds for this question only. */
export const makePageToken = ({ secrets }: Pick<NodeKeys, 'secrets'>, question: string, place: string): string =>
  `${place}.${secrets.authenticate(PURPOSE, [question, place])}`;

/** The place of a token. Throws VALIDATION_ERROR for one that was altered, or made for another question or by another node. */
export function readPageToken({ secrets }: Pick<NodeKeys, 'secrets'>, question: string, token: string): string {
  const [, place = '', code = ''] = /^(\w{1,60})\.([\w-]{1,100})$/.exec(token) ?? [];
  if (!secrets.isAuthentic(PURPOSE, [question, place], code))
    throw invalid('pageToken', 'is not one that this node made for this question');
  return place;
}

/** Answers a search. Agents of other nodes come from the node's copy of the network: no other node is asked. */
export async function ardSearchAnswer(ctx: HttpContext, input: SearchInput, peers: readonly Peer[]) {
  const { query, federation, pageSize, pageToken } = input;
  const question = readQuestion(ctx, query, { isFederated: federation === 'auto', peers });
  const name = JSON.stringify([question, federation]);
  const offset = pageToken === undefined ? 0 : Number(readPageToken(ctx, name, pageToken));
  const referrals = federation === 'referrals' ? { referrals: peers.slice(0, MAX_REFERRALS).map(referralOf) } : {};
  if (isEmpty(question)) return { results: [], ...referrals };
  const { kinds } = question;
  const skip = offset % kinds.length;
  const part = { offset: (offset - skip) / kinds.length, limit: Math.ceil((skip + pageSize) / kinds.length) };
  const { agents, hasMore } = await findAgents(ctx, question, part);
  const entries = agents.flatMap((agent) =>
    kinds.map((kind) => ({
      ...agentEntry(ctx, agent, kind),
      score: agent.score,
      source: registryUrl(agent.homeUrl ?? ctx.baseUrl),
    })),
  );
  const end = offset + pageSize;
  const isLast = !(hasMore || entries.length > skip + pageSize) || end / kinds.length > MAX_DEPTH;
  return {
    results: entries.slice(skip, skip + pageSize),
    ...referrals,
    ...(isLast ? {} : { pageToken: makePageToken(ctx, name, String(end)) }),
  };
}

interface Bucket {
  readonly value: string;
  readonly count: number;
}

/** Answers with counts of this node's agents, of the set that a search without federation finds. */
export async function ardExploreAnswer(ctx: HttpContext, { query, resultType }: ExploreInput) {
  const question = readQuestion(ctx, query, { isFederated: false, peers: [] });
  const unknown = resultType.facets.find(({ field }) => !isField(field));
  if (unknown) throw unknownField('resultType.facets', unknown.field);
  const buckets = await countBuckets(ctx, question, query.filter?.type === undefined ? kindsOf(ctx) : question.kinds);
  const facets = resultType.facets.map(({ field, limit, minCount }) => {
    const all = buckets[field as Field].filter(({ count }) => count >= Math.max(1, minCount));
    const others = all.slice(limit).reduce((sum, { count }) => sum + count, 0);
    return [field, { buckets: all.slice(0, limit), ...(others > 0 ? { otherCount: others } : {}) }] as const;
  });
  return { resultType: 'facets', facets: Object.fromEntries(facets) };
}

async function countBuckets(
  ctx: HttpContext,
  question: Question,
  kinds: readonly EntryKind[],
): Promise<Record<Field, readonly Bucket[]>> {
  const none: readonly Bucket[] = [];
  if (isEmpty(question)) return { type: none, publisher: none, capabilities: none, 'metadata.online': none };
  const { text, capabilities, isOnline } = question;
  const { total, ...found } = await countFacets(ctx, {
    ...(text === undefined ? {} : { text }),
    ...(capabilities === null ? {} : { any: [...capabilities] }),
    ...(isOnline === undefined ? {} : { status: isOnline ? 'online' : 'offline' }),
    home: 'this',
  });
  const { online, offline } = found.status;
  return {
    type: kinds.map((kind) => ({ value: typeOf(kind), count: total })),
    publisher: [{ value: publisherOf(ctx.baseUrl), count: total }],
    capabilities: found.capabilities,
    'metadata.online': [
      { value: 'true', count: isOnline === false ? 0 : online },
      { value: 'false', count: isOnline === true ? 0 : offline },
    ],
  };
}
