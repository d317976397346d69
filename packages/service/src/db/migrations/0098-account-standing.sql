-- An operator suspends and resumes accounts and sets their plans; each change is kept with its reason.
alter table account add column suspended_at timestamptz;
alter table account add column suspended_reason text;
create trigger account_suspended after update of suspended_at on account
  for each row when (old.suspended_at is distinct from new.suspended_at) execute function note_replica_change('account');
create index account_suspended on account (id) where suspended_at is not null;
create index account_address_start on account (address text_pattern_ops);

create table account_change (
  id text primary key,
  account_id text not null references account,
  kind text not null check (kind in ('plan', 'suspended', 'resumed')),
  plan text,
  reason text not null,
  actor_account_id text not null,
  actor_id text not null,
  at timestamptz not null
);
create index account_change_of on account_change (account_id, at desc);
