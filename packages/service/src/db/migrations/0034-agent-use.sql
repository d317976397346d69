-- What the calls of an account to each agent came to, by the day (UTC) of the request; carried here with `call_figure`.
create table agent_use (
  account_id text not null,
  day timestamptz not null,
  agent_id text not null,
  calls bigint not null,
  completed bigint not null,
  failed bigint not null,
  spent_micro bigint not null,
  primary key (account_id, day, agent_id)
) with (fillfactor = 80);

-- What is still to be carried comes with the rest of it.
insert into agent_use (account_id, day, agent_id, calls, completed, failed, spent_micro)
select account_id, date_trunc('day', made_at, 'UTC'), agent_id, sum(calls), sum(completed), sum(failed), sum(spent_micro)
  from (
    select account_id, created_at as made_at, agent_id, 1 as calls, (status = 'completed')::int as completed,
           (status = 'failed')::int as failed, coalesce(cost_micro, 0) as spent_micro
      from invocation where completed_at is not null
    union all
    select account_id, made_at, agent_id, -calls, -completed, -failed, -spent_micro from call_change
  ) each
 group by 1, 2, 3 having sum(calls) <> 0 or sum(spent_micro) <> 0;
