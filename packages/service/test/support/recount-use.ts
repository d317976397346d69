import { askDatabase } from './books.ts';

/** SQL: recounts use. Changes not aggregated yet (`call_change`) are included. */
const COUNT = `
  insert into agent_use (account_id, day, agent_id, calls, completed, failed, spent_micro)
  select account_id, date_trunc('day', made_at, 'UTC'), agent_id, sum(calls), sum(completed), sum(failed), sum(spent_micro)
    from (
      select account_id, created_at as made_at, agent_id, 1 as calls, (status = 'completed')::int as completed,
             (status = 'failed')::int as failed, coalesce(cost_micro, 0) as spent_micro
        from invocation where completed_at is not null
      union all
      select account_id, made_at, agent_id, -calls, -completed, -failed, -spent_micro from call_change
    ) each
   group by 1, 2, 3 having sum(calls) <> 0 or sum(spent_micro) <> 0;`;

/** Recounts the use of agents from the requests. */
export async function recountUse(databaseUrl: string): Promise<void> {
  await askDatabase(databaseUrl, `begin; lock table agent_use, call_change; delete from agent_use; ${COUNT} commit`);
}
