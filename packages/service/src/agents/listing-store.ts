import type { Sql } from '../db/sql.ts';
import type { Agent } from './agent.ts';
import type { ListedAgent } from './agent-view.ts';

/** Rewrites the rows by which an agent is found; `''` stands for every agent. In the transaction that changes the agent. */
export async function writeListing(
  sql: Sql,
  agent: Pick<Agent, 'id' | 'capabilities' | 'reputation' | 'status' | 'perRequestMicro'>,
): Promise<void> {
  await sql.query('drop-listing', 'delete from agent_listing where agent_id = $1 and not (capability = any($2))', [
    agent.id,
    agent.status === 'removed' ? [] : ['', ...agent.capabilities],
  ]);
  if (agent.status === 'removed') return;
  await sql.query(
    'write-listing',
    `insert into agent_listing (capability, agent_id, reputation, status, price_micro)
     select c, $1, $3, $4, $5 from unnest($2::text[]) as c
     on conflict (capability, agent_id) do update
        set reputation = excluded.reputation, status = excluded.status, price_micro = excluded.price_micro
      where (agent_listing.reputation, agent_listing.status, agent_listing.price_micro)
            is distinct from (excluded.reputation, excluded.status, excluded.price_micro)`,
    [agent.id, ['', ...agent.capabilities], agent.reputation, agent.status, agent.perRequestMicro],
  );
}

export interface ListingQuery {
  readonly capability: string;
  readonly maxPriceMicro: bigint | null;
  readonly minReputation: number;
  readonly statuses: readonly string[] | null;
  /** Where the page before ended. */
  readonly after: { reputation: number; id: string } | null;
  readonly limit: number;
  readonly offset: number;
}

export interface ListingPage {
  readonly total: number;
  readonly agents: ListedAgent[];
}

/** One page, best reputation first, and the exact number of agents that match. */
export async function readListing(sql: Sql, query: ListingQuery): Promise<ListingPage> {
  const filter = `capability = $1 and reputation >= $2 and ($3::bigint is null or price_micro <= $3)
       and ($4::text[] is null or status = any($4))`;
  const rows = await sql.query<ListedAgent & { total: bigint }>(
    'read-listing',
    `with page as (
       select agent_id, reputation from agent_listing
        where ${filter} and ($5::int is null or reputation < $5 or (reputation = $5 and agent_id > $6))
        order by reputation desc, agent_id limit $7 offset $8
     ), counted as (select count(*) as total from agent_listing where ${filter})
     select c.total, g.id, g.name, g.capabilities, g.per_request_micro as "perRequestMicro",
            g.per_hour_micro as "perHourMicro", g.reputation, g.status, g.response_ms as "responseMs",
            g.endpoint_proven_at as "endpointProvenAt", a.wallet_proven_at is not null as "isWalletProven"
       from counted c left join page p on true left join agent g on g.id = p.agent_id left join account a on a.id = g.account_id
      order by p.reputation desc, p.agent_id`,
    [
      query.capability,
      query.minReputation,
      query.maxPriceMicro,
      query.statuses,
      query.after?.reputation ?? null,
      query.after?.id ?? '',
      query.limit,
      query.offset,
    ],
  );
  return { total: Number(rows[0]?.total ?? 0), agents: rows.filter((row) => row.id !== null) };
}

export interface Candidate {
  readonly id: string;
  readonly capabilities: string[];
  readonly perRequestMicro: bigint;
  readonly reputation: number;
}

/** Online agents that share capabilities with one that can't be called; the best reputations of those that share most. */
export const findCandidates = (sql: Sql, agentId: string, capabilities: readonly string[]): Promise<Candidate[]> =>
  sql.query<Candidate>(
    'find-candidates',
    `with sharing as (
       select agent_id, count(*) as shared, max(reputation) as reputation from (
         select l.* from unnest($2::text[]) as c
           cross join lateral (select agent_id, reputation from agent_listing
             where capability = c and status = 'online' and agent_id <> $1 order by reputation desc, agent_id limit 50) l
       ) each_capability group by agent_id order by shared desc, reputation desc, agent_id limit 20
     )
     select g.id, g.capabilities, g.per_request_micro as "perRequestMicro", g.reputation
       from sharing s join agent g on g.id = s.agent_id`,
    [agentId, capabilities],
  );
