import type { Api } from '@agent-network/contracts/api';
import type { Call } from '@agent-network/contracts/endpoint';
import { parseUsdc } from '@agent-network/contracts/money';
import type { Sql } from '../../../../src/store/sql.ts';

export interface Facts {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly capabilities: readonly string[];
  readonly perRequestMicro: bigint;
  readonly perHourMicro: bigint;
  readonly reputation: number;
  readonly isOnline: boolean;
  readonly isVerified: boolean;
  readonly responseMs: number;
  readonly createdAtMs: number;
}

export type Search = NonNullable<Call<Api['searchAgents']>['body']>;

const split = (text: string) =>
  text
    .toLowerCase()
    .split(/[\s.,?!]+/)
    .filter((word) => word !== '');

/** The words that differ by their endings only, of those that the tests use. */
const forms = ['translate', 'translator'];
const isSame = (a: string, b: string) => a === b || (forms.includes(a) && forms.includes(b));

const titleOf = (agent: Facts) => [...split(agent.name), ...agent.tags.flatMap(split), ...agent.capabilities];
const wordsIn = (agent: Facts) => [...titleOf(agent), ...split(agent.description)];

/** How well each agent matches the text; agents that do not match have no value. */
function relevances(agents: readonly Facts[], text: string): Map<Facts, number> {
  const wanted = [...new Set(split(text))];
  const last = wanted.at(-1) ?? '';
  const isOpen = last.length >= 3 && !agents.some((agent) => wordsIn(agent).some((word) => isSame(word, last)));
  const has = (words: readonly string[], word: string) =>
    words.some((each) => isSame(each, word) || (isOpen && word === last && each.startsWith(word)));
  const weighed = wanted.map((word) => {
    const having = agents.filter((agent) => has(wordsIn(agent), word)).length;
    return { word, weight: Math.log(1 + Math.max(agents.length, 1) / Math.max(having, 1)) };
  });
  const whole = weighed.reduce((sum, { weight }) => sum + weight, 0);
  /** In twentieths. */
  const shareOf = (agent: Facts) => {
    const had = weighed.filter(({ word }) => has(wordsIn(agent), word));
    if (had.length === weighed.length) return 20;
    const sum = had.reduce((all, { weight }) => all + Math.round((weight / whole) * 1000), 0);
    return Math.floor(Math.min(999, sum) / 50);
  };
  const rankOf = (agent: Facts) => {
    const had = wanted.filter((word) => has(wordsIn(agent), word));
    const isIn = (words: readonly string[]) => had.every((word) => has(words, word));
    const place = isIn(split(agent.name)) ? 2 : isIn(titleOf(agent)) ? 1 : 0;
    return 3 * shareOf(agent) + place;
  };
  const matching = agents.filter((agent) => wanted.some((word) => has(wordsIn(agent), word)));
  const proven = matching.filter((agent) => agent.isOnline || agent.isVerified).map(shareOf);
  const best = proven.some((share) => share > 0) ? Math.max(...proven) : Math.max(0, ...matching.map(shareOf));
  const enough = Math.min(10, best);
  return new Map(matching.filter((agent) => shareOf(agent) >= enough).map((agent) => [agent, rankOf(agent)] as const));
}

function fits(agent: Facts, query: NonNullable<Search['query']>, relevant: Map<Facts, number>): boolean {
  const { any, all } = query.capabilities ?? {};
  const { perRequest, perHour } = query.rates ?? {};
  return (
    (any === undefined || any.some((capability) => agent.capabilities.includes(capability))) &&
    (all === undefined || all.every((capability) => agent.capabilities.includes(capability))) &&
    (perRequest === undefined || agent.perRequestMicro <= parseUsdc(String(perRequest.max))) &&
    (perHour === undefined || agent.perHourMicro <= parseUsdc(String(perHour.max))) &&
    (query.reputation === undefined || agent.reputation >= query.reputation.min) &&
    (query.verified === undefined || agent.isVerified === query.verified) &&
    (query.online === undefined || agent.isOnline === query.online) &&
    (query.text === undefined || relevant.has(agent))
  );
}

const bestFirst = {
  reputation: 'desc',
  'rates.perRequest': 'asc',
  'rates.perHour': 'asc',
  responseTime: 'asc',
  name: 'asc',
  createdAt: 'desc',
  relevance: 'desc',
};

/** A search as anyone would write it over a list in memory. */
export function naiveSearch(agents: readonly Facts[], { query = {}, sort = [] }: Search): Facts[] {
  const text = query.text;
  const relevant = relevances(agents, text ?? '');
  const keyOf = (agent: Facts, field: keyof typeof bestFirst): number | bigint | string => {
    if (field === 'reputation') return agent.reputation;
    if (field === 'rates.perRequest') return agent.perRequestMicro;
    if (field === 'rates.perHour') return agent.perHourMicro;
    if (field === 'responseTime') return agent.responseMs;
    if (field === 'name') return agent.name.toLowerCase();
    return field === 'createdAt' ? agent.createdAtMs : (relevant.get(agent) ?? 0);
  };
  const asked = sort.filter(({ field }) => text !== undefined || field !== 'relevance');
  const usual = [
    ...(text === undefined ? [] : [{ field: 'relevance' as const, order: 'desc' }]),
    { field: 'reputation' as const, order: 'desc' },
  ];
  const keys = asked.length > 0 ? asked : usual;
  const isBackwards = (keys[0]?.order ?? 'desc') !== bestFirst[keys[0]?.field ?? 'reputation'];
  const compare = (a: Facts, b: Facts) => {
    for (const { field, order = 'desc' } of keys) {
      const [x, y] = [keyOf(a, field), keyOf(b, field)];
      if (x !== y) return x < y === (order === 'asc') ? -1 : 1;
    }
    return a.id < b.id === !isBackwards ? -1 : 1;
  };
  return agents.filter((agent) => fits(agent, query, relevant)).sort(compare);
}

/** Facts about the listed agents, from the database. */
export async function readFacts(sql: Sql): Promise<Facts[]> {
  // biome-ignore lint/suspicious/noExplicitAny: a row as it is stored
  const rows = await sql.query<any>(
    '',
    `select g.*, g.endpoint_proven_at is not null
              and (g.home_node is not null or a.wallet_proven_at is not null and g.frozen_at is null) as verified
       from agent g join account a on a.id = g.account_id where g.status <> 'removed'`,
  );
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    description: row.description,
    tags: row.metadata.tags ?? [],
    capabilities: row.capabilities,
    perRequestMicro: row.per_request_micro,
    perHourMicro: row.per_hour_micro,
    reputation: row.reputation,
    isOnline: row.status === 'online',
    isVerified: row.verified,
    responseMs: row.response_ms ?? Number.POSITIVE_INFINITY,
    createdAtMs: row.created_at.getTime(),
  }));
}
