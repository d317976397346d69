import type { Question } from './load-jobs.ts';
import { CAPABILITIES, VOCABULARY, wordOf } from './seed-search.ts';

/** A question as our service is asked, and as PostgreSQL is: one statement that gives the total and the page, or the counts. */
interface Variant {
  readonly path: string;
  readonly body?: object;
  readonly where: string;
  readonly params: readonly unknown[];
}

export interface QuestionKind {
  readonly name: string;
  readonly isFacets: boolean;
  variant(): Variant;
}

/** Common things come up more often, as they do among the agents. */
const rank = (from: number, to: number) => Math.floor(from * (to / from) ** Math.random());
const capability = () => `capability-${rank(1, CAPABILITIES)}`;
const oneOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
const has = 'capabilities @> array[$1::text]';

export const questionKinds: readonly QuestionKind[] = [
  {
    name: 'list of a capability',
    isFacets: false,
    variant() {
      const name = capability();
      return { path: `/agents?capability=${name}`, where: has, params: [name] };
    },
  },
  {
    name: 'search, three filters',
    isFacets: false,
    variant() {
      const [name, max, min] = [capability(), oneOf(['0.01', '0.05', '0.123456', '0.2']), oneOf([100, 500, 777, 900])];
      const query = { capabilities: { all: [name] }, rates: { perRequest: { max } }, reputation: { min } };
      const where = `${has} and price <= $2::bigint and reputation >= $3::int`;
      return { path: '/agents/search', body: { query }, where, params: [name, Math.round(Number(max) * 1e6), min] };
    },
  },
  {
    name: 'text search',
    isFacets: false,
    variant() {
      const text = wordOf(rank(5, VOCABULARY / 20));
      const where = `words @@ plainto_tsquery('simple', $1::text)`;
      return { path: '/agents/search', body: { query: { text }, by: 'words' }, where, params: [text] };
    },
  },
  {
    name: 'facets, two filters',
    isFacets: true,
    variant() {
      const min = oneOf([300, 500, 777, 900]);
      const max = oneOf(['0.05', '0.2']);
      const where = 'reputation >= $1::int and price <= $2::bigint';
      return {
        path: `/agents/facets?minReputation=${min}&maxPrice=${max}`,
        where,
        params: [min, Math.round(Number(max) * 1e6)],
      };
    },
  },
];

/** The question for the load generator: right is only an answer with this total. */
export function questionOf(baseUrl: string, { path, body }: Variant, total: number): Question {
  const method = body === undefined ? 'GET' : 'POST';
  const request = { method, url: `${baseUrl}${path}`, headers: {}, ...(body === undefined ? {} : { body }) };
  return { request, status: 200, includes: `"total":${total},` };
}

/** Exact total and first page by reputation; of facets, the counts by capability, status and verification. */
export const statementOf = ({ isFacets }: QuestionKind, { where }: Variant): string =>
  isFacets
    ? `select (select count(*)::int from plain_agent where ${where}) as total,
         (select json_agg(f) from (select is_online, is_verified, count(*) from plain_agent where ${where} group by 1, 2) f),
         (select json_agg(f) from (select c, count(*) from plain_agent, unnest(capabilities) c where ${where}
           group by c order by 2 desc limit 50) f)`
    : `select (select count(*)::int from plain_agent where ${where}) as total,
         (select json_agg(p) from (select item from plain_agent where ${where} order by reputation desc, id limit 20) p)`;

/** The agents as one table with the indexes that these questions can use: GIN on capabilities and words, B-tree on what is compared. */
export const plainTable: readonly string[] = [
  `create table plain_agent as select id, capabilities, per_request_micro as price, reputation, status = 'online' as is_online,
     endpoint_proven_at is not null as is_verified, json_build_object('id', id, 'name', name, 'capabilities', capabilities) as item,
     to_tsvector('simple', name || ' ' || description || ' ' || coalesce(metadata->>'tags', '')) as words
   from agent where status <> 'removed'`,
  'create index on plain_agent using gin (capabilities)',
  'create index on plain_agent using gin (words)',
  'create index on plain_agent (reputation desc, id)',
  'create index on plain_agent (price)',
  'vacuum analyze plain_agent',
];
