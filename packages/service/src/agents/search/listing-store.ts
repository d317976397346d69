import type { Sql } from '../../db/sql.ts';
import type { Agent } from '../agent.ts';
import { HOME_MARK, termsOf } from './index/words.ts';

/**
 * Rewrites the rows by which agents are found from what `agent` says of them, and the counts with them. In the transaction that
 * has locked and changed the agents; removed ones are found no longer.
 */
export async function writeListings(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query(
    'write-listings',
    `with fact as (
       select g.id, g.capabilities, g.reputation, g.status = 'online' as is_online, g.per_request_micro, g.per_hour_micro,
              g.endpoint_proven_at is not null
                and (g.home_node is not null or a.wallet_proven_at is not null and g.frozen_at is null) as is_verified,
              coalesce(g.response_ms, 'Infinity') as response_ms, g.created_at
         from agent g join account a on a.id = g.account_id where g.id = any($1) and g.status <> 'removed'
     ), old as (
       select agent_id as id, slot, terms, is_online, is_verified,
              agent_marks(is_online, is_verified, reputation, price_micro, per_hour_micro) as marks
         from agent_search where agent_id = any($1)
     ), hidden as (
       delete from agent_search s where agent_id = any($1) and not exists (select from fact f where f.id = s.agent_id)
     ), added as (
       insert into agent_search (agent_id, reputation, is_online, is_verified, price_micro, per_hour_micro, created_at, name, terms)
       select id, reputation, is_online, is_verified, per_request_micro, per_hour_micro, created_at, '', ''
         from fact f where not exists (select from old o where o.id = f.id)
       returning agent_id as id, slot
     ), changed as (
       update agent_search s
          set reputation = f.reputation, is_online = f.is_online, is_verified = f.is_verified, price_micro = f.per_request_micro,
              per_hour_micro = f.per_hour_micro, created_at = f.created_at
         from fact f where s.agent_id = f.id and (s.reputation, s.is_online, s.is_verified, s.price_micro, s.per_hour_micro, s.created_at)
           is distinct from (f.reputation, f.is_online, f.is_verified, f.per_request_micro, f.per_hour_micro, f.created_at)
     ), place as (
       select id, slot from old union all select id, slot from added
     ), silenced as (
       delete from agent_response r using old o where r.slot = o.slot and not exists (select from fact f where f.id = o.id)
     ), timed as (
       insert into agent_response as r (slot, agent_id, response_ms)
       select p.slot, f.id, f.response_ms from fact f join place p using (id) order by p.slot
       on conflict (slot) do update set response_ms = excluded.response_ms where r.response_ms <> excluded.response_ms
     ), wanted as (
       select c as capability, p.slot, f.* from fact f join place p using (id) cross join unnest(f.capabilities || '{""}'::text[]) as c
     ), dropped as (
       delete from agent_listing l where agent_id = any($1)
          and not exists (select from wanted w where w.id = l.agent_id and w.capability = l.capability)
     ), listed as (
       insert into agent_listing as l (agent_id, capability, reputation, is_online, is_verified, price_micro, per_hour_micro, slot)
       select id, capability, reputation, is_online, is_verified, per_request_micro, per_hour_micro, slot from wanted
       on conflict (agent_id, capability) do update
          set reputation = excluded.reputation, is_online = excluded.is_online, is_verified = excluded.is_verified,
              price_micro = excluded.price_micro, per_hour_micro = excluded.per_hour_micro
        where (l.reputation, l.is_online, l.is_verified, l.price_micro, l.per_hour_micro) is distinct from
              (excluded.reputation, excluded.is_online, excluded.is_verified, excluded.price_micro, excluded.per_hour_micro)
     ), toggled as (
       insert into agent_toggle (slot, terms)
       select p.slot, array_agg(term) from place p join (
         select id, term from (
           select id, unnest(agent_marks(is_online, is_verified, reputation, per_request_micro, per_hour_micro)) as term from fact
           union all select id, unnest(marks) from old
           union all select id, unnest(tsvector_to_array(terms)) from old o where not exists (select from fact f where f.id = o.id)
         ) each group by id, term having count(*) = 1
       ) odd using (id) group by p.slot
     ), same as (
       select f.id from fact f join old o using (id, is_online, is_verified)
     )
     insert into agent_count (term, is_online, is_verified, change, is_folded)
     select term, is_online, is_verified, sum(change), false from (
       select f.id, o.terms, f.is_online, f.is_verified, 1 as change from fact f left join old o using (id)
       union all select id, terms, is_online, is_verified, -1 from old
     ) each cross join unnest(coalesce(tsvector_to_array(terms), '{}') || '{""}'::text[]) as term
      where not exists (select from same s where s.id = each.id)
      group by term, is_online, is_verified having sum(change) <> 0`,
    [ids],
  );
}

/** The same for one agent. */
export const writeListing = (sql: Sql, { id }: Pick<Agent, 'id'>): Promise<void> => writeListings(sql, [id]);

export type Worded = Pick<Agent, 'id' | 'name' | 'description' | 'capabilities' | 'metadata'>;

/**
 * Rewrites the names and the terms by which agents are found, with the node that they are at home at; after `writeListings`, in the same
 * transaction.
 */
export async function writeAllTerms(sql: Sql, agents: readonly Worded[]): Promise<void> {
  const given = agents.map((agent) => ({ id: agent.id, name: agent.name.toLowerCase(), terms: termsOf(agent) }));
  await sql.query(
    'write-all-terms',
    `with given as (
       select g.id, g.name,
              array(select json_array_elements_text(g.terms)) || case when a.home_node is not null then array['${HOME_MARK}' || a.home_node] end as terms
         from json_to_recordset($1::json) as g(id text, name text, terms json) join agent a on a.id = g.id
     ), old as (
       select s.slot, s.terms, s.is_online, s.is_verified, g.terms as wanted from agent_search s join given g on g.id = s.agent_id
     ), written as (
       update agent_search s set name = g.name, terms = array_to_tsvector(g.terms) from given g
        where s.agent_id = g.id and (s.name, s.terms) is distinct from (g.name, array_to_tsvector(g.terms))
     ), changed as (
       select slot, term, is_online, is_verified, sum(change) as change from (
         select slot, unnest(wanted) as term, is_online, is_verified, 1 as change from old
         union all select slot, unnest(tsvector_to_array(terms)), is_online, is_verified, -1 from old
       ) each group by slot, term, is_online, is_verified having sum(change) <> 0
     ), toggled as (
       insert into agent_toggle (slot, terms) select slot, array_agg(term) from changed group by slot
     )
     insert into agent_count (term, is_online, is_verified, change, is_folded)
     select term, is_online, is_verified, sum(change), false from changed
      group by term, is_online, is_verified having sum(change) <> 0`,
    [JSON.stringify(given)],
  );
}

/** The same for one agent. */
export const writeTerms = (sql: Sql, agent: Worded): Promise<void> => writeAllTerms(sql, [agent]);

/** Notes a new response time, by which agents may be sorted; nothing else is written. */
export async function writeResponseTime(sql: Sql, id: string, responseMs: number): Promise<void> {
  await sql.query(
    'write-response-time',
    `update agent_response set response_ms = $2 where slot = (select slot from agent_search where agent_id = $1)`,
    [id, responseMs],
  );
}

/** Folds the changes of counts into one row each; returns how many terms had some, at most `limit`. */
export async function foldCountRows(sql: Sql, limit: number): Promise<number> {
  const [row] = await sql.query<{ folded: bigint }>(
    'fold-counts',
    `with due as (
       select distinct term from agent_count where not is_folded order by term limit $1
     ), gone as (
       delete from agent_count where term in (select term from due) returning *
     ), folded as (
       insert into agent_count (term, is_online, is_verified, change, is_folded)
       select term, is_online, is_verified, sum(change), true from gone
        group by term, is_online, is_verified having sum(change) <> 0
     )
     select count(*) as folded from due`,
    [limit],
  );
  return Number(row?.folded ?? 0);
}

/** Carries changes into the bits, and returns how many there were, at most `limit`. Which are taken first does not matter. */
export async function foldToggles(sql: Sql, limit: number): Promise<number> {
  const [row] = await sql.query<{ folded: bigint }>(
    'fold-toggles',
    `with gone as (
       delete from agent_toggle where ctid = any(array(select ctid from agent_toggle limit $1 for update skip locked))
       returning slot, terms
     ), flipped as (
       select term collate "C" as term, slot >> 16 as block, bit_xor(set_bit(0::bit(65536), slot & 65535, 1)) as bits
         from gone cross join unnest(terms) as term group by 1, 2
     ), carried as (
       insert into agent_bits as b (term, block, sparse) select term, block, bits from flipped order by 1, 2
       on conflict (term, block) do update
          set dense = case when bit_count(coalesce(b.dense, b.sparse) # excluded.sparse) >= 64
                           then coalesce(b.dense, b.sparse) # excluded.sparse end,
              sparse = case when bit_count(coalesce(b.dense, b.sparse) # excluded.sparse) < 64
                            then coalesce(b.dense, b.sparse) # excluded.sparse end
     )
     select count(*) as folded from gone`,
    [limit],
  );
  return Number(row?.folded ?? 0);
}
