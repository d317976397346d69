import { agentFigureEndpoints } from '@agent-network/contracts/agents/agent-figures';
import { agentEndpoints } from '@agent-network/contracts/agents/agents';
import { expect, it } from 'vitest';
import { facetQuery, hasFilter, searchBody, sortOf, sortText, toggled } from './explore-search.ts';

const every = {
  text: 'summary of texts',
  any: 'a,b',
  all: 'c',
  maxPrice: '0.05',
  minReputation: '500',
  status: 'offline',
  verified: 'true',
  home: 'this',
  sort: 'rates.perRequest.asc,reputation.desc',
  cursor: 'x',
};

it('says in the words of a search everything that an address says', () => {
  expect(agentEndpoints.searchAgents.body.parse(searchBody(every))).toEqual({
    query: {
      text: 'summary of texts',
      capabilities: { any: ['a', 'b'], all: ['c'] },
      rates: { perRequest: { max: '0.05' } },
      reputation: { min: 500 },
      online: false,
      verified: true,
      home: 'this',
    },
    sort: [
      { field: 'rates.perRequest', order: 'asc' },
      { field: 'reputation', order: 'desc' },
    ],
    by: 'auto',
    cursor: 'x',
    limit: 30,
    describe: true,
    offset: 0,
  });
  expect(searchBody({}).query).toEqual({});
});

it('asks for counts with the same filters', () => {
  expect(agentFigureEndpoints.getAgentFacets.query.parse(facetQuery(every))).toEqual({
    text: 'summary of texts',
    any: ['a', 'b'],
    all: ['c'],
    maxPrice: '0.05',
    minReputation: 500,
    status: 'offline',
    verified: 'true',
    home: 'this',
  });
});

it('leaves what nobody could have meant for the API to refuse', () => {
  const body = searchBody({ sort: 'beauty.up', minReputation: 'high', maxPrice: '-1' });
  expect(agentEndpoints.searchAgents.body.safeParse(body).success).toBe(false);
});

it('tells filters from order and page, and orders survive the address', () => {
  expect(hasFilter({ sort: 'name.asc', cursor: 'x' })).toBe(false);
  expect(hasFilter({ sort: 'name.asc', all: 'a' })).toBe(true);
  expect(sortText(sortOf(every.sort))).toBe(every.sort);
});

it('takes a value in, and out again', () => {
  expect(toggled(['a'], 'b')).toBe('a,b');
  expect(toggled(['a', 'b'], 'a')).toBe('b');
});
