import type { Tx } from '../store/sql.ts';
import type { Agent } from './agent.ts';
import { columns, source } from './agent-row.ts';

/**
 * The agent, unless it is removed, with a row lock until the transaction ends. It is read by a second statement: one that waits for the
 * lock would see the owner's account as of before, and so neither of two concurrent proofs would find the other.
 */
export async function lockAgentRow(tx: Tx, id: string): Promise<Agent | null> {
  const [, rows] = await Promise.all([
    tx.query('lock-agent', 'select from agent where id = $1 for update', [id]),
    tx.query<Agent>('read-locked-agent', `select ${columns} from ${source} where g.id = $1 and g.status <> 'removed'`, [
      id,
    ]),
  ]);
  return rows[0] ?? null;
}

/**
 * The agents that an account registered here, with row locks until the transaction ends; locked in the order of ids, so that two
 * transactions can't deadlock, and read after it, as `lockAgentRow` does.
 */
export async function lockAgentsOf(tx: Tx, accountId: string): Promise<Agent[]> {
  const ofAccount = `account_id = $1 and home_node is null and status <> 'removed'`;
  const locked = await tx.query<{ id: string }>(
    'lock-agents-of',
    `select id from agent where ${ofAccount} order by id for update`,
    [accountId],
  );
  return tx.query<Agent>(
    'read-locked-agents',
    `select ${columns} from ${source} where g.account_id = $1 and g.status <> 'removed' and g.id = any($2) order by g.id`,
    [accountId, locked.map(({ id }) => id)],
  );
}
