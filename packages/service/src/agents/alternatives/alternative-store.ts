import type { Sql, Tx } from '../../db/sql.ts';
import { bestReputationFirst } from '../search/index/search-order.ts';
import { planByBits, readBitsPage } from '../search/search-bits-store.ts';
import { readTermCounts } from '../search/search-store.ts';
import type { Comparable } from './similarity.ts';

/** Conditions for the alternatives of an agent that can't be called. */
export interface Wish {
  /** Maximum price per request; null for any. */
  readonly maxPerRequestMicro: bigint | null;
  /** The only candidates; null for all. */
  readonly among: readonly string[] | null;
  readonly except: readonly string[];
}

export type ComparableAgent = Comparable & { readonly id: string };

interface Wanted {
  readonly capabilities: readonly string[];
  readonly perRequestMicro: bigint;
}

const MOST = 30;

/**
 * Online agents that share capabilities with the wanted one, most shared first. For each capability it reads 100 candidates by best
 * reputation and 100 by nearest price, from the wanted price downwards.
 */
export async function findSharing(sql: Sql, wanted: Wanted, wish: Wish): Promise<string[]> {
  const { maxPerRequestMicro: most } = wish;
  const from = most !== null && most < wanted.perRequestMicro ? most : wanted.perRequestMicro;
  const rows = await sql.query<{ id: string }>(
    'find-sharing',
    `with near as (
       select l.* from unnest($1::text[]) as c cross join lateral (
         (select agent_id, capability, is_online, reputation, price_micro from agent_listing
           where capability = c order by reputation desc, agent_id limit 100)
         union
         (select agent_id, capability, is_online, reputation, price_micro from agent_listing
           where capability = c and price_micro <= $2 order by price_micro desc, agent_id desc limit 100)
       ) l
     )
     select agent_id as id from near
      where is_online and agent_id <> all($4::text[]) and ($3::bigint is null or price_micro <= $3)
      group by agent_id order by count(*) desc, max(reputation) desc, agent_id limit ${MOST}`,
    [wanted.capabilities, from, most, wish.except],
  );
  return rows.map(({ id }) => id);
}

/** Those of the given agents that are online, share a capability with the wanted one, and fit the wish. */
export async function findSharingAmong(
  sql: Sql,
  wanted: Wanted,
  wish: Wish & { readonly among: readonly string[] },
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'find-sharing-among',
    `select id from agent where id = any($1) and status = 'online' and capabilities && $2::text[] and id <> all($3::text[])
        and ($4::bigint is null or per_request_micro <= $4)`,
    [wish.among, wanted.capabilities, wish.except, wish.maxPerRequestMicro],
  );
  return rows.map(({ id }) => id);
}

/** Up to this many agents are gathered from the sets of terms; beyond it, agents are walked from the best reputation down. */
const GATHERED = 2000;
const MAX_TERMS = 60;

/**
 * Online agents that match any of the terms, by the rules of search, best reputation first. Of many terms the rarest are used: they
 * discriminate most.
 */
export async function findByTerms(tx: Tx, terms: readonly string[], wish: Wish): Promise<string[]> {
  const states = { isOnline: [true], isVerified: [true, false] };
  await planByBits(tx);
  const counts = await readTermCounts(tx, terms, states);
  const sizeOf = (term: string) => counts(term).fitting;
  const rarest = terms.filter((term) => sizeOf(term) > 0).toSorted((a, b) => sizeOf(a) - sizeOf(b));
  const taken = rarest.slice(0, MAX_TERMS);
  if (taken.length === 0) return [];
  const found = await readBitsPage(tx, {
    bits: [{ any: taken.map((term) => ({ term })) }],
    terms: taken.map((term) => `'${term}'`).join(' | '),
    ...{ inTitle: '', inName: '', relevance: null, groups: [], head: null },
    filter: { ...states, minReputation: 0, maxPriceMicro: wish.maxPerRequestMicro, maxPerHourMicro: null },
    ...{ order: bestReputationFirst, after: null, limit: MOST + wish.except.length, offset: 0 },
    walk: taken.reduce((sum, term) => sum + sizeOf(term), 0) > GATHERED ? { capability: '' } : null,
  });
  return found.map(({ id }) => id).filter((id) => !wish.except.includes(id));
}

/** The fields by which agents are compared; without removed agents. */
export const readComparables = (sql: Sql, ids: readonly string[]): Promise<ComparableAgent[]> =>
  sql.query<ComparableAgent>(
    'read-comparables',
    `select g.id, g.capabilities, g.per_request_micro as "perRequestMicro", g.reputation, tsvector_to_array(s.terms) as terms
       from agent g join agent_search s on s.agent_id = g.id where g.id = any($1)`,
    [ids],
  );
