import type { AgentFacets } from '@agent-network/contracts/agents/agent-figures';
import type { Api } from '@agent-network/contracts/api';
import type { Parsed } from '@agent-network/contracts/endpoint';
import { parseUsdc } from '@agent-network/contracts/money';
import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';
import { createBatcher } from '../../lib/batcher.ts';
import { listCommonTerms, listNodeLabels } from './common-terms-store.ts';
import type { HasNodeLabel } from './discover-agents.ts';
import type { SearchFilter } from './index/search-filter.ts';
import { HOME_MARK, THIS_NODE, type Wanted, wantedOf, wordsOf } from './index/words.ts';
import { wordBits } from './search-bits.ts';
import { type BitsQuestion, countByBits, countTermsByBits } from './search-bits-store.ts';
import { type SearchQuestion, understand } from './search-page.ts';

type FacetQuery = Parsed<Api['getAgentFacets']>['query'];
type Asked = Pick<SearchQuestion, 'wanted' | 'words' | 'filter'>;

const SHOWN = 50;
const MAX_CAPABILITIES = 300;
const MAX_HOMES = 300;

export interface FacetReader {
  read(query: FacetQuery): Promise<AgentFacets>;
}

export interface HasFacets {
  readonly facets: FacetReader;
}

/**
 * Counts facets, in one snapshot each and exactly, by operations on sets of bits: at most 600 sets and seven counts, whatever the number
 * of agents that match. Two are counted at a time in this process; equal questions that wait together are counted once.
 */
export function createFacetReader(ctx: HasDb & HasNodeLabel): FacetReader {
  const batcher = createBatcher<FacetQuery, AgentFacets>({
    maxSize: 100,
    maxConcurrent: 2,
    run: async (queries) => {
      const found = new Map<string, Promise<AgentFacets>>();
      for (const query of queries) {
        const key = JSON.stringify(query);
        if (!found.has(key)) found.set(key, countFacets(ctx, query));
      }
      return Promise.all(queries.map((query) => found.get(JSON.stringify(query)) as Promise<AgentFacets>));
    },
  });
  return { read: (query) => batcher.add(query) };
}

const countFacets = (ctx: HasDb & HasNodeLabel, query: FacetQuery): Promise<AgentFacets> =>
  ctx.db.transaction((tx) => countIn(ctx, tx, query), { isolation: 'repeatable read' });

async function countIn(ctx: HasNodeLabel, tx: Tx, query: FacetQuery): Promise<AgentFacets> {
  const asked = toAsked(query);
  const anyStatus = withFilter(asked, { isOnline: [true, false] });
  const anyVerified = withFilter(asked, { isVerified: [true, false] });
  const total = await count(tx, asked);
  const listed = query.status === 'online' || query.status === 'offline' ? await count(tx, anyStatus) : total;
  const online = await count(tx, withFilter(asked, { isOnline: [true] }));
  const all = query.verified === undefined ? total : await count(tx, anyVerified);
  const yes = await count(tx, withFilter(asked, { isVerified: [true] }));
  return {
    total,
    capabilities: await countCapabilities(tx, withWanted(asked, { any: [], all: query.all ?? [] })),
    status: { online, offline: listed - online },
    verified: { yes, no: all - yes },
    locations: await countLocations(ctx, tx, withWanted(asked, { home: null })),
  };
}

function toAsked({ status, verified, text, ...query }: FacetQuery): Asked {
  const { capability, any, all = [], home, maxPrice, maxPerHour, minReputation } = query;
  return {
    wanted: wantedOf({ capabilities: { any, all: capability === undefined ? all : [...all, capability] }, home }),
    words: text === undefined ? null : wordsOf(text),
    filter: {
      isOnline: status === 'online' ? [true] : status === 'offline' ? [false] : [true, false],
      isVerified: verified === undefined ? [true, false] : [verified === 'true'],
      minReputation: minReputation ?? 0,
      maxPriceMicro: maxPrice === undefined ? null : parseUsdc(maxPrice),
      maxPerHourMicro: maxPerHour === undefined ? null : parseUsdc(maxPerHour),
    },
  };
}

const withWanted = (asked: Asked, wanted: Partial<Wanted>): Asked => ({
  ...asked,
  wanted: { ...asked.wanted, ...wanted },
});

const withFilter = (asked: Asked, filter: Partial<SearchFilter>): Asked => ({
  ...asked,
  filter: { ...asked.filter, ...filter },
});

/** The question with its words among the sets that all must be in; null: a text without words matches nobody. */
async function toBits(tx: Tx, question: Asked): Promise<BitsQuestion | null> {
  if (question.words?.length === 0) return null;
  const { asked, wording } = await understand(tx, question);
  return wording ? { ...asked, bits: [...asked.bits, ...wordBits(wording, '')] } : asked;
}

async function count(tx: Tx, asked: Asked): Promise<number> {
  const bits = await toBits(tx, asked);
  const [total = 0] = bits ? await countByBits(tx, bits, []) : [];
  return total;
}

async function countCapabilities(tx: Tx, asked: Asked): Promise<AgentFacets['capabilities']> {
  const bits = await toBits(tx, asked);
  if (!bits) return [];
  const counts = await countTermsByBits(tx, bits, await listCommonTerms(tx, '=', MAX_CAPABILITIES));
  return inOrder(counts)
    .slice(0, SHOWN)
    .map(([term, each]) => ({ value: term.slice(1), count: each }));
}

/** Most first; none without agents. */
const inOrder = (counts: ReadonlyMap<string, number>) =>
  [...counts].filter(([, each]) => each > 0).sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1));

async function countLocations(ctx: HasNodeLabel, tx: Tx, asked: Asked): Promise<AgentFacets['locations']> {
  const bits = await toBits(tx, asked);
  if (!bits) return [];
  const local = await count(tx, withWanted(asked, { home: THIS_NODE }));
  const homes = inOrder(await countTermsByBits(tx, bits, await listCommonTerms(tx, HOME_MARK, MAX_HOMES)));
  const idOf = (term: string) => term.slice(HOME_MARK.length);
  const labels = await listNodeLabels(
    tx,
    homes.map(([term]) => idOf(term)),
  );
  return [
    ...(local > 0 ? [{ value: ctx.nodeLabel, nodeId: null, count: local }] : []),
    ...homes.map(([term, each]) => ({ value: labels.get(idOf(term)) ?? '', nodeId: idOf(term), count: each })),
  ];
}
