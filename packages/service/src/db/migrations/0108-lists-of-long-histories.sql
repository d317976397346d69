-- Lists read the rows that they show, however many an account has: each filter that may match few of many rows has an index in the order of the list.

create index invocation_called on invocation (account_id, agent_id, created_at desc, id);

create index invocation_unsuccessful on invocation (account_id, status, created_at desc, id) where status in ('failed', 'cancelled');

create index invocation_by_agent on invocation (account_id, caller_agent_id, created_at desc, id) where caller_agent_id is not null;

-- Fields of metadata that have \u0000 or halves of characters anywhere cannot be read, and an entry of an index has a greatest size.
create index invocation_context on invocation
  (account_id, (case when metadata::text !~ '\\u(0000|[dD][89a-fA-F])' then left(metadata #>> '{a2a,contextId}', 257) end))
  where case when metadata::text !~ '\\u(0000|[dD][89a-fA-F])' then left(metadata #>> '{a2a,contextId}', 257) end is not null;

create index webhook_delivery_failed on webhook_delivery (webhook_id, created_at, id) where state = 'failed';

create index chain_payment_home on chain_payment (ledger_account_id, created_at) where purpose in ('home_refund', 'home_return');

create index chain_payment_refunded on chain_payment (account_id, created_at) where purpose in ('refund', 'return', 'second_return');
