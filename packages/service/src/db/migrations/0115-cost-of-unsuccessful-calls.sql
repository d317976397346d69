-- The sums of an account's calls hold no cost by status. An agent that collects its bill and then fails leaves a cost: few rows, which tell it.
create index invocation_unsuccessful_cost on invocation (account_id, status, created_at) include (agent_id, cost_micro)
 where status in ('failed', 'cancelled') and cost_micro > 0;
