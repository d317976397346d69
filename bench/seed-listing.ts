import type pg from 'pg';

/** For agents whose words are parted by blanks; an unproven endpoint is all that keeps one from being verified. */
const statements = [
  `insert into agent_search
   select g.id, g.reputation, g.status = 'online', g.endpoint_proven_at is not null, g.per_request_micro, g.per_hour_micro,
          g.response_ms, g.created_at, lower(g.name), array_to_tsvector((select array_agg(distinct term) from (
            select '=' || c from unnest(g.capabilities) as c
            union all select m || w from unnest(string_to_array(lower(g.name), ' ')) as w cross join unnest('{"",+,#}'::text[]) as m
            union all select m || w from json_array_elements_text(g.metadata -> 'tags') as w cross join unnest('{"",+}'::text[]) as m
            union all select unnest(string_to_array(lower(g.description), ' '))) as each (term)))
     from agent g where g.id like $1 || '%'`,
  `insert into agent_listing
   select g.id, c, s.reputation, s.is_online, s.is_verified, s.price_micro, s.per_hour_micro, s.slot
     from agent g join agent_search s on s.agent_id = g.id cross join unnest(g.capabilities || '{""}'::text[]) as c
    where g.id like $1 || '%'`,
  `insert into agent_count
   select term, is_online, is_verified, count(*), true
     from agent_search cross join unnest(tsvector_to_array(terms) || '{""}'::text[]) as term
    where agent_id like $1 || '%' group by term, is_online, is_verified`,
  `insert into agent_bits as b
   select term, block, case when count >= 64 then bits end, case when count < 64 then bits end from (
     select term, block, count(*), string_agg(repeat('0', gap) || '1', '' order by slot)::bit varying::bit(65536) as bits from (
     select term, slot >> 16 as block, slot,
            slot - coalesce(lag(slot) over (partition by term, slot >> 16 order by slot), ((slot >> 16) << 16) - 1) - 1 as gap
       from (select slot, unnest(tsvector_to_array(terms)
                      || agent_marks(is_online, is_verified, reputation, price_micro, per_hour_micro)) collate "C" as term
               from agent_search where agent_id like $1 || '%') as member
     ) as each group by term, block
   ) as kept
   on conflict (term, block) do update
      set dense = coalesce(b.dense, b.sparse) # coalesce(excluded.dense, excluded.sparse), sparse = null`,
];

/** Makes agents with ids of this beginning findable, as the node does when it registers them one by one. */
export async function seedListing(client: pg.Client, idPrefix: string): Promise<void> {
  for (const statement of statements) await client.query(statement, [idPrefix]);
}
