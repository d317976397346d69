-- Whom a request shares its places with: those of the account, or those that its agents make, so that agents which call each other
-- do not wait for their own callers.
alter table invocation
  add column lane text collate "C" not null generated always as
    (case when caller_agent_id is null then account_id else account_id || ':agents' end) stored;
drop index invocation_queue;
create index invocation_queue on invocation (lane, queue_rank, created_at, id)
  where status = 'pending' and worker is null and payment_method <> 'x402';
create index invocation_queue_deadline on invocation (deadline)
  where status = 'pending' and worker is null and payment_method <> 'x402';
