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

/** Every word of the text stands there; the last one may be the beginning of one, if it is open. */
function holds(words: readonly string[], text: string, isOpen: boolean): boolean {
  const wanted = split(text);
  return wanted.every((word, index) =>
    words.some((each) => each === word || (index === wanted.length - 1 && isOpen && each.startsWith(word))),
  );
}

function relevance(agent: Facts, text: string, isOpen: boolean): number {
  if (holds(split(agent.name), text, isOpen)) return 2;
  return holds([...split(agent.name), ...agent.tags.flatMap(split)], text, isOpen) ? 1 : 0;
}

const wordsIn = (agent: Facts) => [...split(agent.name), ...split(agent.description), ...agent.tags.flatMap(split)];

function fits(agent: Facts, query: NonNullable<Search['query']>, isOpen: boolean): boolean {
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
    (query.text === undefined || (split(query.text).length > 0 && holds(wordsIn(agent), query.text, isOpen)))
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
  const last = split(text ?? '').at(-1) ?? '';
  const isOpen = last.length >= 3 && !agents.some((agent) => wordsIn(agent).includes(last));
  const keyOf = (agent: Facts, field: keyof typeof bestFirst): number | bigint | string => {
    if (field === 'reputation') return agent.reputation;
    if (field === 'rates.perRequest') return agent.perRequestMicro;
    if (field === 'rates.perHour') return agent.perHourMicro;
    if (field === 'responseTime') return agent.responseMs;
    if (field === 'name') return agent.name.toLowerCase();
    return field === 'createdAt' ? agent.createdAtMs : relevance(agent, text ?? '', isOpen);
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
  return agents.filter((agent) => fits(agent, query, isOpen)).sort(compare);
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
