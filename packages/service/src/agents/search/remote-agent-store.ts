import type { Sql, Tx } from '../../store/sql.ts';
import type { StoredStatus } from '../agent.ts';
import { type HomeNode, type RemoteAgent, remoteTypesId } from './remote-agent.ts';

/** Inserts or updates agents of a node where fields differ; returns the ids that were written. Types that are not stored yet are none. */
export async function upsertRemoteRows(
  tx: Tx,
  { nodeId, accountId, baseUrl }: HomeNode,
  agents: readonly RemoteAgent[],
  { reputation, now }: { reputation: number; now: Date },
): Promise<string[]> {
  const rows = agents.map((agent) => ({
    ...agent,
    perRequestMicro: String(agent.perRequestMicro),
    perHourMicro: String(agent.perHourMicro),
    endpoint: `${baseUrl}/invoke/${agent.id}`,
    typesId: remoteTypesId(agent),
  }));
  const written = await tx.query<{ id: string }>(
    'upsert-remote-agents',
    `insert into agent as g (id, account_id, home_node, token_id, owner_address, name, description, capabilities, per_request_micro,
       per_hour_micro, tiers, endpoint, metadata, status, removed_at, reputation, endpoint_proven_at, last_seen_at, created_at, updated_at,
       types_id, example_questions)
     select r.id, $2, $3, r."tokenId", r.owner, r.name, r.description, array(select json_array_elements_text(r.capabilities)),
            r."perRequestMicro", r."perHourMicro", r.tiers, r.endpoint, r.metadata, r.status,
            case when r.status = 'removed' then $5::timestamptz end, $4, case when r."isVerified" then $5::timestamptz end, $5,
            r."createdAt", r."updatedAt", (select t.id from agent_types t where t.id = r."typesId"),
            array(select json_array_elements_text(r."exampleQuestions"))
       from json_to_recordset($1::json) as r(id text, "tokenId" numeric, owner text, name text, description text, capabilities json,
         "perRequestMicro" bigint, "perHourMicro" bigint, tiers json, endpoint text, metadata json, status text, "isVerified" boolean,
         "createdAt" timestamptz, "updatedAt" timestamptz, "typesId" text, "exampleQuestions" json)
      order by r.id
     on conflict (id) do update
       set account_id = excluded.account_id, token_id = excluded.token_id, owner_address = excluded.owner_address,
           name = excluded.name, description = excluded.description, capabilities = excluded.capabilities,
           per_request_micro = excluded.per_request_micro, per_hour_micro = excluded.per_hour_micro, tiers = excluded.tiers,
           endpoint = excluded.endpoint, metadata = excluded.metadata, status = excluded.status,
           removed_at = excluded.removed_at, updated_at = excluded.updated_at, last_seen_at = excluded.last_seen_at, types_id = excluded.types_id,
           example_questions = excluded.example_questions,
           endpoint_proven_at = case when excluded.endpoint_proven_at is not null
                                     then coalesce(g.endpoint_proven_at, excluded.endpoint_proven_at) end
     where g.home_node = excluded.home_node
       and (g.account_id, g.token_id, g.owner_address, g.name, g.description, g.capabilities, g.per_request_micro, g.per_hour_micro,
            g.tiers::text, g.endpoint, g.metadata::text, g.status, g.updated_at, g.types_id, g.example_questions, g.endpoint_proven_at is null)
           is distinct from
           (excluded.account_id, excluded.token_id, excluded.owner_address, excluded.name, excluded.description,
            excluded.capabilities, excluded.per_request_micro, excluded.per_hour_micro, excluded.tiers::text, excluded.endpoint,
            excluded.metadata::text, excluded.status, excluded.updated_at, excluded.types_id, excluded.example_questions, excluded.endpoint_proven_at is null)
     returning g.id`,
    [JSON.stringify(rows), accountId, nodeId, reputation, now],
  );
  const ids = written.map(({ id }) => id);
  await tx.query(
    'insert-remote-totals',
    'insert into agent_totals (agent_id) select unnest($1::text[]) on conflict do nothing',
    [ids],
  );
  // The computations of an agent end with its removal; the outcomes that were counted since then are to bear upon its score.
  await tx.query(
    'resume-remote-reputations',
    `insert into agent_reputation (agent_id, due_at)
     select id, $2 from unnest($1::text[]) as n(id) where exists (select from outcome_day where agent_id = n.id) order by id
     on conflict do nothing`,
    [ids, now],
  );
  return ids;
}

/** Version of an agent's row, which changes with every write; null: not found. */
export async function readRowVersion(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql.query<{ version: string }>(
    'read-agent-row-version',
    'select xmin::text as version from agent where id = $1',
    [id],
  );
  return row?.version ?? null;
}

/** The given ids that belong to this node or to another one than `nodeId`. */
export async function listTakenIds(sql: Sql, nodeId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'list-taken-agent-ids',
    'select id from agent where id = any($1) and home_node is distinct from $2',
    [ids, nodeId],
  );
  return rows.map(({ id }) => id);
}

/** Moves agents of a node from one of the given statuses; `ids` restricts them. Returns their ids. */
export async function moveRemoteStatus(
  tx: Tx,
  move: {
    readonly nodeId: string;
    readonly from: readonly StoredStatus[];
    readonly to: StoredStatus;
    readonly ids: readonly string[] | null;
    readonly limit: number;
    readonly now: Date;
  },
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    'move-remote-status',
    `with chosen as (
       select id from agent where home_node = $1 and status = any($2) and ($4::text[] is null or id = any($4))
        order by id limit $5 for update
     )
     update agent g set status = $3, removed_at = case when $3 = 'removed' then $6::timestamptz end,
            last_seen_at = case when g.status = 'online' then n.last_seen_at else g.last_seen_at end
       from chosen, network_node n where g.id = chosen.id and n.id = $1
     returning g.id`,
    [move.nodeId, move.from, move.to, move.ids, move.limit, move.now],
  );
  return rows.map(({ id }) => id);
}

/** Records the account that owns the agents of a node. */
export async function moveRemoteAccount(tx: Tx, nodeId: string, accountId: string): Promise<void> {
  await tx.query('move-remote-account', 'update agent set account_id = $2 where home_node = $1 and account_id <> $2', [
    nodeId,
    accountId,
  ]);
}

/** Records the home node of a remote agent. */
export async function moveRemoteHome(tx: Tx, id: string, nodeId: string): Promise<void> {
  await tx.query('move-remote-home', 'update agent set home_node = $2 where id = $1 and home_node <> $2', [id, nodeId]);
}
