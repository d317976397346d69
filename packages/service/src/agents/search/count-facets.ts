import type { AgentFacets } from '@agent-network/contracts/agents/agent-figures';
import type { Api } from '@agent-network/contracts/api';
import type { Parsed } from '@agent-network/contracts/endpoint';
import type { FacetQuestion } from '@agent-network/search-index/listing';
import { limitsIn } from '@agent-network/search-index/listing-fields';
import { wantedOf, wordsOf } from '@agent-network/search-index/words/words';
import type { HasListing, HasNodeLabel } from './listing.ts';

type FacetQuery = Parsed<Api['getAgentFacets']>['query'];

/** Counts facets, exactly and all of the same moment. */
export async function countFacets(ctx: HasListing & HasNodeLabel, query: FacetQuery): Promise<AgentFacets> {
  const question = toQuestion(query);
  const { homes, capabilities, ...counts } = await ctx.listing.read((index) => index.facets(question));
  return {
    ...counts,
    capabilities: [...capabilities],
    locations: homes.map(({ home, count }) => ({
      value: home === null ? ctx.nodeLabel : ctx.listing.labelOf(home),
      nodeId: home,
      count,
    })),
  };
}

function toQuestion({ status, verified, text, ...query }: FacetQuery): FacetQuestion {
  const { capability, any, all = [], home } = query;
  return {
    wanted: wantedOf({ capabilities: { any, all: capability === undefined ? all : [...all, capability] }, home }),
    beside: all,
    words: text === undefined ? null : wordsOf(text),
    filter: {
      isOnline: status === 'online' ? [true] : status === 'offline' ? [false] : [true, false],
      isVerified: verified === undefined ? [true, false] : [verified === 'true'],
      limits: limitsIn(query),
    },
  };
}
