import type { Sql } from '../../store/sql.ts';
import type { PayerOutcomes } from './evidence.ts';
import type { ReputationParts } from './reputation-parts.ts';

export const HAS_DUE_REPUTATIONS = '(select min(due_at) from agent_reputation) <= given.now';

/** Takes agents with a due reputation and postpones them, so that other processes get different ones. */
export async function takeDueReputations(sql: Sql, now: Date, busyUntil: Date, limit: number): Promise<string[]> {
  const rows = await sql.query<{ agentId: string }>(
    'take-due-reputations',
    `with due as (
       select agent_id from agent_reputation where due_at <= $1 order by due_at limit $3 for update skip locked
     )
     update agent_reputation r set due_at = $2 from due where r.agent_id = due.agent_id returning r.agent_id as "agentId"`,
    [now, busyUntil, limit],
  );
  return rows.map(({ agentId }) => agentId);
}

/** The stored reputation of an agent; null when it was never computed. */
export async function findReputation(
  sql: Sql,
  agentId: string,
): Promise<{ parts: ReputationParts; formulaVersion: number; computedAt: Date } | null> {
  const [row] = await sql.query<{ parts: ReputationParts; formulaVersion: number; computedAt: Date }>(
    'find-reputation',
    `select parts, formula_version as "formulaVersion", computed_at as "computedAt"
       from agent_reputation where agent_id = $1 and parts is not null`,
    [agentId],
  );
  return row ?? null;
}

/**
 * Writes the parts of an agent's reputation under the agent's lock. `due` moves the next computation from its postponed time, unless
 * outcomes that came in the meantime made it earlier.
 */
export async function saveReputation(
  sql: Sql,
  row: { agentId: string; formulaVersion: number; parts: ReputationParts; now: Date; next: Date; due: Date | null },
): Promise<void> {
  await sql.query(
    'save-reputation',
    `insert into agent_reputation as r (agent_id, formula_version, computed_at, parts, due_at) values ($1, $2, $3, $4, $5)
     on conflict (agent_id) do update
        set formula_version = $2, computed_at = $3, parts = $4, due_at = case when r.due_at = $6 then $5 else r.due_at end`,
    [row.agentId, row.formulaVersion, row.now, JSON.stringify(row.parts), row.next, row.due],
  );
}

export const forgetReputation = async (sql: Sql, agentId: string): Promise<void> =>
  void (await sql.query('forget-reputation', 'delete from agent_reputation where agent_id = $1', [agentId]));

/**
 * Ends of an agent's paid calls, summed by payer: one row per payer, regardless of days and wallets. `weights`: by age, from 0 days; older
 * ends do not count.
 */
export async function listPayerOutcomes(
  sql: Sql,
  agentId: string,
  now: Date,
  weights: readonly bigint[],
): Promise<PayerOutcomes[]> {
  const rows = await sql.query<Omit<PayerOutcomes, 'good' | 'bad'> & { good: string; bad: string }>(
    'list-payer-outcomes',
    `select account_id as "accountId", sum(good_micro * weight) as good, sum(bad_micro * weight) as bad,
            sum(good_calls)::bigint as "goodCalls", sum(bad_calls)::bigint as "badCalls", count(*) as records
       from (select *, ($3::bigint[])[1 + greatest(0, ($2::timestamptz at time zone 'utc')::date - day)]::numeric as weight
               from outcome_day
              where agent_id = $1 and day > ($2::timestamptz at time zone 'utc')::date - cardinality($3::bigint[])) weighted
      group by account_id`,
    [agentId, now, weights],
  );
  return rows.map(({ good, bad, ...row }) => ({ ...row, good: BigInt(good), bad: BigInt(bad) }));
}

/** The wallet that the shared registry names for an agent, signed for by its holder. */
export async function findRegistryWallet(sql: Sql, agentId: string, chainId: number): Promise<string | null> {
  const [row] = await sql.query<{ wallet: string }>(
    'find-registry-wallet',
    `select lower(t.wallet) as wallet from agent g join registry_token t on t.token_id = g.token_id and t.chain_id = $2
      where g.id = $1 and t.wallet is not null`,
    [agentId, chainId],
  );
  return row?.wallet ?? null;
}
