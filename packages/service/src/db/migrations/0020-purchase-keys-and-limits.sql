-- Second names of a purchase, beside its authorization: the Idempotency-Key that it came under, and the x402 payment-identifier. A
-- payment signed anew for the same purchase finds the first one by them.
create table purchase_key (
  account_id text not null,
  key text not null,
  payment_id text not null,
  created_at timestamptz not null,
  primary key (account_id, key)
);
create index purchase_key_created on purchase_key (created_at);

-- What a key may spend on invocations. Rolled, its successor keeps the limits and what was spent under them (`budget_id`).
alter table api_key
  add column per_call_micro bigint check (per_call_micro >= 0),
  add column per_day_micro bigint check (per_day_micro >= 0),
  add column allowed_agents text[],
  add column budget_id text;
create table key_spending (
  budget_id text not null,
  day date not null,
  spent_micro bigint not null check (spent_micro >= 0),
  primary key (budget_id, day)
) with (fillfactor = 50);
alter table invocation add column budget_id text;
