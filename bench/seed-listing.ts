import type pg from 'pg';
import { seedBits } from './seed-bits.ts';

/** For agents whose words are parted by blanks; an unproven endpoint is all that keeps one from being verified. */
const statements = [
  `insert into agent_search
   select g.id, g.reputation, g.status = 'online', g.endpoint_proven_at is not null, g.per_request_micro, g.per_hour_micro,
          g.created_at, lower(g.name), array_to_tsvector((select array_agg(distinct term) from (
            select '=' || c from unnest(g.capabilities) as c
            union all select m || w from unnest(string_to_array(lower(g.name), ' ')) as w cross join unnest('{"",+,#}'::text[]) as m
            union all select m || w from json_array_elements_text(g.metadata -> 'tags') as w cross join unnest('{"",+}'::text[]) as m
            union all select unnest(string_to_array(lower(g.description), ' '))) as each (term)))
     from agent g where g.id like $1 || '%'`,
  `insert into agent_response
   select s.slot, g.id, coalesce(g.response_ms, 'Infinity') from agent g join agent_search s on s.agent_id = g.id
    where g.id like $1 || '%'`,
  `insert into agent_listing
   select g.id, c, s.reputation, s.is_online, s.is_verified, s.price_micro, s.per_hour_micro, s.slot
     from agent g join agent_search s on s.agent_id = g.id cross join unnest(g.capabilities || '{""}'::text[]) as c
    where g.id like $1 || '%'`,
];

/** Makes agents with ids of this beginning findable, as the node does when it registers them one by one. */
export async function seedListing(client: pg.Client, idPrefix: string): Promise<void> {
  for (const statement of statements) await client.query(statement, [idPrefix]);
  await seedBits(client);
}
