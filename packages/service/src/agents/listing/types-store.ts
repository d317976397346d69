import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { Sql, Tx } from '../../store/sql.ts';

export interface NewTypes {
  readonly id: string;
  readonly agentId: string;
  readonly declared: AgentTypes;
}

export async function insertTypes(tx: Tx, { id, agentId, declared }: NewTypes, now: Date): Promise<void> {
  await tx.query(
    'insert-agent-types',
    'insert into agent_types (id, agent_id, declared, estimated_time, created_at) values ($1, $2, $3, $4, $5)',
    [id, agentId, JSON.stringify(declared), declared.estimatedTime ?? null, now],
  );
}

export async function findTypes(sql: Sql, id: string): Promise<AgentTypes | null> {
  const [row] = await sql.query<{ declared: AgentTypes }>(
    'find-agent-types',
    'select declared from agent_types where id = $1',
    [id],
  );
  return row?.declared ?? null;
}

/** A version, and the account of its agent; for remote agents that is one account for each home. */
export async function findOwnedTypes(
  sql: Sql,
  id: string,
): Promise<{ readonly declared: AgentTypes; readonly accountId: string } | null> {
  const [row] = await sql.query<{ declared: AgentTypes; account_id: string }>(
    'find-owned-types',
    'select t.declared, a.account_id from agent_types t join agent a on a.id = t.agent_id where t.id = $1',
    [id],
  );
  return row ? { declared: row.declared, accountId: row.account_id } : null;
}

/** Stores a version that another node has named, if it is not here yet, and removes the agent's others that nothing points to. */
export async function replaceRemoteTypes(tx: Tx, { id, agentId, declared }: NewTypes, now: Date): Promise<void> {
  await tx.query(
    'replace-remote-types',
    `with removed as (
       delete from agent_types t where t.agent_id = $2 and t.id <> $1 and not exists (select 1 from agent g where g.types_id = t.id)
     )
     insert into agent_types (id, agent_id, declared, estimated_time, created_at) values ($1, $2, $3, $4, $5) on conflict (id) do nothing`,
    [id, agentId, JSON.stringify(declared), declared.estimatedTime ?? null, now],
  );
}

/** The given versions that are stored. */
export async function listKnownTypes(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>('list-known-types', 'select id from agent_types where id = any($1)', [
    ids,
  ]);
  return rows.map(({ id }) => id);
}

/** Notes that a version is no longer the present one of its agent. */
export async function recordReplaced(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.query('replace-agent-types', 'update agent_types set replaced_at = $2 where id = $1', [id, now]);
}

/** Removes up to `most` versions that were replaced before a time and are not in use again. Returns the number removed. */
export async function removeReplaced(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql.query(
    'remove-replaced-types',
    `delete from agent_types where id in (
       select id from agent_types t where replaced_at < $1 and not exists (select from agent g where g.types_id = t.id)
        order by replaced_at limit $2) returning 1`,
    [before, most],
  );
  return rows.length;
}

/** Number of versions of an agent without those that were replaced before a time. */
export async function countTypes(tx: Tx, agentId: string, since: Date): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    'count-agent-types',
    'select count(*)::int as count from agent_types where agent_id = $1 and (replaced_at is null or replaced_at >= $2)',
    [agentId, since],
  );
  return row?.count ?? 0;
}
