-- The database of a node of commit 7e95b59a after its examples, stopped: the schema, the record of its migrations, and the rows, but for those of keys,
-- of chain and registry, and of work that comes again. A test opens it (before-baseline.test.ts).

create table schema_migration (
  version integer primary key,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now(),
  needs integer
);

create table process (
  id uuid primary key,
  worker_ids text[] not null default '{}',
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  label text not null,
  event_loop_delay_ms double precision[],
  place text,
  version text,
  schema_version integer,
  drain_asked_at timestamptz,
  draining_since timestamptz,
  open_work jsonb
);
comment on column process.place is 'Host name and port.';
comment on column process.schema_version is 'Newest migration that its code has; null: older than 106.';
comment on column process.drain_asked_at is 'An operator asked it to take no more calls.';
comment on column process.draining_since is 'It refuses new calls since then; null: it takes them.';
comment on column process.open_work is 'What it still has, while it drains: invocations, calls, streams.';

create table recurring (
  name text primary key,
  due_at timestamptz not null
);

create table account (
  id text primary key,
  address text not null unique check (address ~ '^0x[0-9a-f]{40}$'),
  plan text not null check (plan in ('free', 'pro', 'enterprise')),
  wallet_proven_at timestamptz,
  created_at timestamptz not null,
  node_url text,
  suspended_at timestamptz,
  suspended_reason text
);
create index account_suspended on account (id) where (suspended_at is not null);
create index account_address_start on account (address text_pattern_ops);

create table api_key (
  id text primary key,
  account_id text not null references account (id),
  name text not null,
  start text not null,
  secret_hash bytea not null,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  replaced_by text,
  per_call_micro bigint check (per_call_micro >= 0),
  per_day_micro bigint check (per_day_micro >= 0),
  allowed_agents text[],
  budget_id text,
  kind text not null default 'key' check (kind in ('key', 'session')),
  user_agent text,
  is_local boolean not null default false,
  from_sign_in boolean not null default false
);
create index api_key_account on api_key (account_id);
create index api_key_session_created on api_key (created_at) where (kind = 'session');
create index api_key_living on api_key (account_id, coalesce(expires_at, timestamptz 'infinity')) where ((kind = 'key') and (revoked_at is null));
create index api_key_created on api_key (account_id, created_at) where (kind = 'key');
create index api_key_ended on api_key (least(revoked_at, expires_at)) where (kind = 'key');

create table rate_window (
  subject text not null,
  class text not null,
  started_at timestamptz not null,
  used integer not null,
  granted integer not null,
  most integer not null default 0,
  primary key (subject, class)
) with (fillfactor = 50);
create index rate_window_age on rate_window (started_at);

create table network_node (
  id text primary key,
  chain_id integer not null,
  token_id numeric(78,0) not null,
  base_url text not null,
  label text not null,
  version text not null,
  wallet text not null,
  account_id text not null references account (id),
  status text not null check (status in ('online', 'offline')),
  is_listed boolean not null default true,
  is_shown boolean not null default true,
  failed_in_a_row integer not null default 0,
  feed_cursor text,
  feed_read integer not null default 0,
  next_check_at timestamptz not null,
  joined_at timestamptz not null,
  last_seen_at timestamptz not null,
  api_key_sealed bytea
);
create unique index network_node_base_url on network_node (base_url);
create unique index network_node_token on network_node (chain_id, token_id) where is_listed;
create index network_node_check on network_node (next_check_at) where is_listed;
create index network_node_account on network_node (account_id);

create table agent_types (
  id text primary key,
  agent_id text not null,
  declared json not null,
  estimated_time text,
  created_at timestamptz not null,
  replaced_at timestamptz
);
create index agent_types_agent on agent_types (agent_id);
create index agent_types_replaced on agent_types (replaced_at) where (replaced_at is not null);

create table agent (
  id text primary key,
  account_id text not null references account (id),
  owner_address text not null,
  name text not null,
  description text not null,
  capabilities text[] not null,
  per_request_micro bigint not null check (per_request_micro >= 0),
  per_hour_micro bigint not null check (per_hour_micro >= 0),
  tiers json not null,
  endpoint text not null,
  metadata json not null,
  status text not null check (status in ('pending_verification', 'online', 'offline', 'removed')),
  reputation integer not null check ((reputation >= 0) and (reputation <= 1000)),
  token_hash bytea unique,
  token_sealed bytea,
  endpoint_proven_at timestamptz,
  next_check_at timestamptz,
  checks_done integer not null default 0,
  failed_in_a_row integer not null default 0,
  passed_in_a_row integer not null default 0,
  last_ping_at timestamptz,
  last_seen_at timestamptz not null,
  response_ms double precision,
  reported_load double precision,
  reported_at timestamptz,
  is_accepting boolean not null default true,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  removed_at timestamptz,
  final_block bigint,
  home_node text references network_node (id),
  token_id numeric(78,0),
  frozen_at timestamptz,
  changed_at timestamptz not null default now(),
  token_claimed_at timestamptz,
  id_salt bytea,
  protocol text not null default 'http',
  upstream json not null default '{}',
  upstream_headers_sealed bytea,
  upstream_digest text,
  fault text,
  types_id text references agent_types (id),
  owned_since timestamptz,
  fault_detail json,
  constraint agent_metadata_readable check ((metadata)::jsonb is not null),
  constraint agent_token_check check (((home_node is null) = (token_hash is not null)) and ((home_node is null) = (token_sealed is not null)))
);
create index agent_next_check on agent (next_check_at) where (next_check_at is not null);
create index agent_home on agent (home_node, status, id) where (home_node is not null);
create unique index agent_token on agent (token_id) where ((token_id is not null) and (status <> 'removed'));
create index agent_changed on agent (changed_at, id) where ((home_node is null) and (token_id is not null));
create index agent_token_claimed on agent (token_id) where ((token_claimed_at is not null) and (status <> 'removed'));
create index agent_unregistered on agent (id) where ((token_id is null) and (home_node is null) and (endpoint_proven_at is not null));
create index agent_account on agent (account_id, id);
create index agent_types_used on agent (types_id) where (types_id is not null);

create table agent_totals (
  agent_id text primary key references agent (id),
  completed bigint not null default 0,
  failed bigint not null default 0,
  duration_ms bigint not null default 0,
  probes_passed bigint not null default 0,
  probes bigint not null default 0
) with (fillfactor = 50);

create table ledger_account (
  id text primary key,
  kind text not null check (kind in ('treasury', 'agent', 'payer', 'suspense', 'channel', 'wallet', 'vouchers', 'claimed', 'outgoing', 'fees', 'loss')),
  account_id text references account (id),
  agent_id text references agent (id),
  address text,
  label text,
  posted_micro bigint not null default 0,
  held_micro bigint not null default 0,
  created_at timestamptz not null,
  entries bigint not null default 0,
  last_entry_at timestamptz,
  frozen_at timestamptz,
  constraint ledger_account_check check ((held_micro >= 0) and (posted_micro >= held_micro))
) with (fillfactor = 50);
create unique index ledger_account_treasury on ledger_account (account_id) where (kind = 'treasury');
create unique index ledger_account_agent on ledger_account (agent_id) where (kind = 'agent');
create unique index ledger_account_payer on ledger_account (address) where (kind = 'payer');
create index ledger_account_account on ledger_account (account_id) where (account_id is not null);
create unique index ledger_account_suspense on ledger_account (address) where (kind = 'suspense');

create table transfer (
  id text primary key,
  debit text not null,
  credit text not null,
  amount_micro bigint not null check (amount_micro > 0),
  kind text not null check (kind in ('deposit', 'charge', 'fee', 'refund', 'payout', 'withdrawal', 'return', 'reversal', 'claim', 'bill', 'bill_return', 'fee_payout', 'voucher', 'voucher_release', 'voucher_claim', 'sweep', 'voucher_loss')),
  subject_id text not null,
  created_at timestamptz not null,
  debit_sequence bigint,
  debit_balance_micro bigint,
  credit_sequence bigint,
  credit_balance_micro bigint,
  constraint transfer_check check (debit <> credit)
);
create index transfer_debit on transfer (debit, created_at, debit_sequence) where (debit_sequence is not null);
create index transfer_credit on transfer (credit, created_at, credit_sequence) where (credit_sequence is not null);

create table hold (
  id text primary key,
  ledger_account_id text not null,
  amount_micro bigint not null check (amount_micro > 0),
  captured_micro bigint,
  created_at timestamptz not null,
  ended_at timestamptz,
  expires_at timestamptz not null,
  constraint hold_check check ((captured_micro >= 0) and (captured_micro <= amount_micro)),
  constraint hold_check1 check ((captured_micro is null) = (ended_at is null))
) with (fillfactor = 80);
create index hold_open on hold (expires_at) where (ended_at is null);

create table channel (
  id text primary key,
  chain_id integer not null,
  payer text not null,
  payer_authorizer text not null,
  receiver text not null,
  receiver_authorizer text not null,
  token text not null,
  withdraw_delay_s integer not null,
  salt text not null,
  balance_micro bigint not null default 0 check (balance_micro >= 0),
  claimed_micro bigint not null default 0 check (claimed_micro >= 0),
  charged_micro bigint not null default 0 check (charged_micro >= 0),
  reserved_micro bigint not null default 0 check (reserved_micro >= 0),
  signed_micro bigint not null default 0,
  signature text,
  published_micro bigint not null default 0,
  refund_nonce bigint not null default 0,
  withdraw_requested_at timestamptz,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  read_block bigint not null default 0,
  due_block bigint,
  lost_micro bigint not null default 0 check (lost_micro >= 0),
  booking integer not null default 0,
  refund_id text,
  turn_request text,
  turn_until timestamptz,
  has_rest boolean not null generated always as (balance_micro > charged_micro) stored,
  owes boolean not null generated always as (charged_micro > (claimed_micro + lost_micro)) stored,
  is_under_way boolean not null generated always as ((charged_micro + reserved_micro) <> (claimed_micro + lost_micro)) stored,
  is_lossy boolean not null generated always as ((charged_micro > balance_micro) or (lost_micro > 0)) stored,
  constraint channel_check check ((charged_micro + reserved_micro) <= signed_micro)
) with (fillfactor = 50);
create index channel_payer on channel (payer, created_at);
create index channel_read_block on channel (chain_id, read_block);
create index channel_due_block on channel (chain_id, due_block) where (due_block is not null);
create index channel_refunding on channel (chain_id, id) where (refund_id is not null);
create index channel_withdrawing on channel (chain_id, id) where (withdraw_requested_at is not null);
create index channel_with_rest on channel (chain_id) where has_rest;
create index channel_owing on channel (chain_id, id) where owes;
create index channel_under_way on channel (chain_id, id) where is_under_way;
create index channel_lossy on channel (chain_id, id) where is_lossy;
comment on column channel.has_rest is 'holds more than was charged';
comment on column channel.owes is 'was charged more than is claimed or lost';
comment on column channel.is_under_way is 'owes, or has calls in flight';
comment on column channel.is_lossy is 'was charged more than it holds, or has a loss in the books';

create table chain_payment (
  id text primary key,
  chain_id integer not null,
  token text not null,
  from_address text not null,
  nonce text not null,
  direction text not null,
  purpose text not null check (purpose in ('invocation', 'deposit', 'refund', 'withdrawal', 'bill', 'return', 'home_refund', 'home_return', 'second_return', 'channel_deposit')),
  subject_id text not null,
  account_id text references account (id),
  ledger_account_id text not null,
  to_address text not null,
  value_micro bigint not null check (value_micro > 0),
  valid_after bigint not null,
  valid_before bigint not null,
  signature text not null,
  fingerprint bytea,
  x402_version smallint,
  state text not null check (state in ('claimed', 'broadcasting', 'settled', 'failed', 'reversed')),
  reason text,
  transaction_hash text,
  block_number bigint,
  created_at timestamptz not null,
  ended_at timestamptz,
  block_hash text,
  lost_at timestamptz,
  client text,
  channel_id text references channel (id),
  deposit_call text,
  unique (chain_id, token, from_address, nonce),
  constraint chain_payment_deposit_check check ((purpose = 'channel_deposit') = ((channel_id is not null) and (deposit_call is not null))),
  constraint chain_payment_direction_check check ((direction in ('in', 'out', 'channel')) and ((direction = 'channel') = (purpose = 'channel_deposit'))),
  constraint chain_payment_lost_check check ((lost_at is null) or (state in ('settled', 'reversed')))
);
create unique index chain_payment_subject on chain_payment (subject_id, purpose);
create index chain_payment_account on chain_payment (account_id, created_at);
create index chain_payment_treasury on chain_payment (ledger_account_id, created_at) where (purpose in ('deposit', 'withdrawal'));
create index chain_payment_block_hash on chain_payment (chain_id, block_number) where (block_hash is not null);
create index chain_payment_lost on chain_payment (created_at, id) where ((lost_at is not null) and (state = 'settled'));
create index chain_payment_open on chain_payment (created_at, id) where (state in ('claimed', 'broadcasting'));
create index chain_payment_bill on chain_payment (created_at, id) where ((purpose = 'bill') and (state in ('claimed', 'broadcasting')));
create index chain_payment_funding on chain_payment (account_id, purpose, from_address, to_address) where ((purpose in ('deposit', 'withdrawal')) and (state = 'settled'));
create index chain_payment_refund_to on chain_payment (to_address, created_at) where ((direction = 'out') and (purpose in ('refund', 'return', 'second_return')) and (signature <> '0x'));
create index chain_payment_refund_of on chain_payment (account_id, created_at) where ((direction = 'out') and (purpose in ('refund', 'return', 'second_return')) and (signature <> '0x'));
create index chain_payment_failed on chain_payment (created_at, id) where ((state = 'failed') and (direction <> 'out'));
create index chain_payment_channel on chain_payment (channel_id, created_at) where (channel_id is not null);
create index chain_payment_home on chain_payment (ledger_account_id, created_at) where (purpose in ('home_refund', 'home_return'));
create index chain_payment_refunded on chain_payment (account_id, created_at) where (purpose in ('refund', 'return', 'second_return'));
create index chain_payment_bill_age on chain_payment (created_at) where (purpose = 'bill');

create table chain_signer (
  chain_id integer not null,
  address text not null,
  next_nonce bigint not null,
  leased_by text,
  leased_until timestamptz,
  constraint chain_signer_lease_check check ((leased_by is null) = (leased_until is null)),
  primary key (chain_id, address)
);

create table chain_transaction (
  hash text primary key,
  chain_id integer not null,
  signer text not null,
  nonce bigint not null,
  raw text not null,
  state text not null check (state in ('sent', 'mined', 'replaced')),
  created_at timestamptz not null,
  mined_block bigint,
  mined_at_s bigint,
  block_hash text,
  block_index integer
);
create index chain_transaction_open on chain_transaction (chain_id, signer, nonce) where (state = 'sent');
create index chain_transaction_nonce on chain_transaction (chain_id, signer, nonce);
create unique index chain_transaction_mined_nonce on chain_transaction (chain_id, signer, nonce) where (state = 'mined');
create index chain_transaction_block on chain_transaction (chain_id, mined_block) where (block_hash is not null);

create table quote (
  id text primary key,
  account_id text not null references account (id),
  agent_id text not null references agent (id),
  price_micro bigint not null,
  valid_until timestamptz not null,
  used_by text unique,
  created_at timestamptz not null,
  multiplier_hundredths integer,
  unit_count bigint,
  unit_pointer text,
  multiplier_ten_thousandths integer,
  factors json
);
create index quote_age on quote (valid_until);

create table invocation (
  id text primary key,
  account_id text not null,
  caller_agent_id text,
  agent_id text not null,
  task text not null,
  input json not null,
  context text,
  metadata json not null,
  priority text not null check (priority in ('low', 'normal', 'high')),
  price_micro bigint not null,
  estimated_time text not null,
  deadline timestamptz not null,
  payment_method text not null check (payment_method in ('treasury', 'x402', 'free')),
  payer_ledger_id text,
  payment_hash text,
  status text not null check (status in ('pending', 'processing', 'completed', 'failed', 'cancelled')),
  worker uuid,
  attempt integer not null,
  result json,
  cost_micro bigint,
  refund_micro bigint,
  error_code text,
  error_message text,
  created_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz,
  bulk_id text,
  webhook_url text,
  is_streamed boolean not null default false,
  queue_rank smallint not null generated always as (
case priority
    when 'high' then 0
    when 'normal' then 1
    else 2
end) stored,
  billed_micro bigint,
  budget_id text,
  promised_micro bigint check (promised_micro >= 0),
  returned_micro bigint not null default 0 check (returned_micro >= 0),
  requested_agent_id text,
  lane text collate "C" not null generated always as (
case
    when (caller_agent_id is null) then account_id
    else (account_id || ':agents')
end) stored,
  content_removed_at timestamptz,
  cancel_reason text check (cancel_reason in ('cancelled_by_caller', 'bulk_decided')),
  chosen json,
  content_hashes bytea,
  types_id text,
  capability text,
  caller_kind text check (caller_kind in ('account', 'agent', 'wallet', 'node')),
  face text,
  counted_bytes bigint,
  task_hash bytea,
  constraint invocation_check check ((status in ('completed', 'failed', 'cancelled')) = (completed_at is not null)),
  constraint invocation_check1 check ((billed_micro >= 1) and (billed_micro <= price_micro))
) with (fillfactor = 80);
create index invocation_account on invocation (account_id, created_at desc, id);
create index invocation_open on invocation (agent_id, worker) where (status in ('pending', 'processing'));
create index invocation_bulk on invocation (bulk_id) where (bulk_id is not null);
create index invocation_failed on invocation (account_id, completed_at desc) where (status = 'failed');
create index invocation_queue on invocation (lane, queue_rank, created_at, id) where ((status = 'pending') and (worker is null) and (payment_method <> 'x402'));
create index invocation_queue_deadline on invocation (deadline) where ((status = 'pending') and (worker is null) and (payment_method <> 'x402'));
create index invocation_content_due on invocation (completed_at) where ((completed_at is not null) and (content_removed_at is null));
create index invocation_received on invocation (agent_id, status, created_at desc, id);
create index invocation_received_failed on invocation (agent_id, error_code, created_at desc, id) where (status = 'failed');
create index invocation_called on invocation (account_id, agent_id, created_at desc, id);
create index invocation_unsuccessful on invocation (account_id, status, created_at desc, id) where (status in ('failed', 'cancelled'));
create index invocation_by_agent on invocation (account_id, caller_agent_id, created_at desc, id) where (caller_agent_id is not null);
create index invocation_context on invocation (account_id, (
case
    when ((metadata)::text !~ '\\u(0000|[dD][89a-fA-F])') then "left"((metadata #>> '{a2a,contextId}'::text[]), 257)
    else null::text
end)) where (
case
    when ((metadata)::text !~ '\\u(0000|[dD][89a-fA-F])') then "left"((metadata #>> '{a2a,contextId}'::text[]), 257)
    else null::text
end is not null);
create index invocation_unsuccessful_cost on invocation (account_id, status, created_at) include (agent_id, cost_micro) where ((status in ('failed', 'cancelled')) and (cost_micro > 0));

create table event (
  sequence bigint primary key,
  id text not null unique,
  account_id text not null,
  type text not null,
  subject_id text not null,
  data json,
  webhook_url text,
  needs_fan_out boolean not null,
  created_at timestamptz not null
);
create index event_account on event (account_id, sequence);
create index event_fan_out on event (sequence) where needs_fan_out;
create index event_subject on event (subject_id);

create table event_clock (
  only_row boolean default true primary key check (only_row),
  xid_offset bigint not null
);

create table webhook (
  id text primary key,
  account_id text not null references account (id),
  kind text not null check (kind in ('endpoint', 'account')),
  url text,
  description text not null,
  event_types text[],
  status text not null check (status in ('enabled', 'disabled')),
  disabled_reason text,
  secret_sealed bytea not null,
  old_secret_sealed bytea,
  old_valid_until timestamptz,
  failing_since timestamptz,
  paused_until timestamptz,
  due_at timestamptz,
  courier uuid,
  created_at timestamptz not null,
  constraint webhook_check check ((kind = 'endpoint') = (url is not null))
);
create index webhook_account on webhook (account_id);
create unique index webhook_single on webhook (account_id) where (kind = 'account');
create index webhook_due on webhook (due_at) where (due_at is not null);

create table webhook_delivery (
  id text primary key,
  webhook_id text not null references webhook (id) on delete cascade,
  event_id text not null,
  sequence bigint,
  type text not null,
  url text,
  body text,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null,
  tries integer not null,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  is_early boolean not null default false,
  constraint webhook_delivery_check check ((state = 'pending') = (next_attempt_at is not null)),
  unique (webhook_id, event_id)
);
create index webhook_delivery_first on webhook_delivery (webhook_id, sequence) where ((state = 'pending') and (tries = 0));
create index webhook_delivery_retry on webhook_delivery (webhook_id, next_attempt_at) where ((state = 'pending') and (tries > 0));
create index webhook_delivery_list on webhook_delivery (webhook_id, created_at, id);
create index webhook_delivery_age on webhook_delivery (created_at) where (state <> 'pending');
create index webhook_delivery_failed on webhook_delivery (webhook_id, created_at, id) where (state = 'failed');

create table webhook_attempt (
  delivery_id text not null references webhook_delivery (id) on delete cascade,
  number integer not null,
  at timestamptz not null,
  status integer,
  error text,
  duration_ms integer not null,
  response text,
  primary key (delivery_id, number)
);

create table bulk (
  id text primary key,
  account_id text not null,
  caller_agent_id text,
  strategy text not null check (strategy in ('first_success', 'all', 'majority')),
  status text not null check (status in ('processing', 'completed', 'failed')),
  winner text,
  webhook_url text,
  created_at timestamptz not null,
  completed_at timestamptz,
  constraint bulk_check check ((status = 'processing') = (completed_at is null))
);

create table invocation_chunk (
  invocation_id text not null,
  position integer not null,
  type text not null check (type in ('invocation.status', 'invocation.chunk')),
  data json not null,
  created_at timestamptz not null,
  bytes integer,
  primary key (invocation_id, position)
);
create index invocation_chunk_age on invocation_chunk (created_at);

create table idempotency (
  account_id text not null,
  key text not null,
  fingerprint bytea not null,
  worker uuid,
  answer_sealed bytea,
  created_at timestamptz not null,
  answer_headers json,
  caller_id text,
  scopes text[] not null default '{}',
  secret_sealed bytea,
  secret_until timestamptz,
  primary key (account_id, key)
);
create index idempotency_created on idempotency (created_at);
create index idempotency_secret on idempotency (secret_until) where (secret_sealed is not null);

create table ledger_total (
  kind text not null check (kind in ('treasury', 'agent', 'payer', 'suspense', 'channel', 'wallet', 'vouchers', 'claimed', 'outgoing', 'fees', 'loss')),
  change_micro bigint not null,
  is_folded boolean not null default false
);

create table reserves_watch (
  only_row boolean default true primary key check (only_row),
  drifted_checks integer not null,
  is_told boolean not null
);

create table money_audit (
  only_row boolean default true primary key check (only_row),
  account_id text not null
);

create table transfer_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

create table unshown_transfer (
  chain_id integer not null,
  from_address text not null,
  nonce text not null,
  value_micro bigint not null check (value_micro > 0),
  transaction_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  seen_at timestamptz not null,
  primary key (chain_id, from_address, nonce)
);

create table account_wallet (
  address text primary key check (address ~ '^0x[0-9a-f]{40}$'),
  account_id text not null references account (id),
  proven_at timestamptz not null
);
create index account_wallet_account on account_wallet (account_id);

create table agent_bill (
  request_id text primary key,
  payment_id text not null references chain_payment (id),
  terms text not null,
  header_name text not null check (header_name in ('payment-signature', 'x-payment')),
  header_value text not null,
  created_at timestamptz not null
);

create table purchase_key (
  account_id text not null,
  key text not null,
  payment_id text not null,
  created_at timestamptz not null,
  primary key (account_id, key)
);
create index purchase_key_created on purchase_key (created_at);

create table key_spending (
  budget_id text not null,
  day date not null,
  spent_micro bigint not null check (spent_micro >= 0),
  primary key (budget_id, day)
) with (fillfactor = 50);

create table registry_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

create table registry_reading (
  chain_id integer primary key,
  state text not null check (state in ('syncing', 'live', 'stalled')),
  head_block bigint not null,
  safe_block bigint not null,
  good_at timestamptz not null
);

create table registry_log (
  chain_id integer not null,
  block_number bigint not null,
  log_index integer not null,
  transaction_hash text not null,
  token_id numeric(78,0) not null,
  kind text not null check (kind in ('registered', 'uri', 'owner', 'wallet', 'metadata')),
  value text not null,
  bytes bytea,
  fault text,
  primary key (chain_id, block_number, log_index)
);
create index registry_log_token on registry_log (chain_id, token_id, block_number, log_index);
create index registry_log_agent on registry_log (chain_id, "right"(value, 56), block_number, log_index) where ((kind in ('registered', 'uri')) and (value ~~ '%/registration.json'));

create table registry_token (
  chain_id integer not null,
  token_id numeric(78,0) not null,
  owner text not null,
  registered_by text not null,
  uri text not null,
  uri_fault text,
  wallet text,
  metadata jsonb not null,
  registered_block bigint not null,
  registered_hash text not null,
  changed_block bigint not null,
  changed_index integer not null,
  uri_block bigint not null,
  uri_index integer not null,
  uri_by text not null,
  primary key (chain_id, token_id)
);
create index registry_token_uri on registry_token (chain_id, md5(uri));
create index registry_token_owner on registry_token (chain_id, owner);

create sequence registry_change_number;
create table registry_change (
  chain_id integer not null,
  token_id numeric(78,0) not null,
  number bigint not null default nextval('registry_change_number'),
  primary key (chain_id, token_id)
);
create index registry_change_order on registry_change (chain_id, number);

create table registry_write (
  id text primary key,
  chain_id integer not null,
  kind text not null check (kind in ('register', 'uri', 'transfer', 'retire', 'feedback')),
  subject_id text not null,
  target text not null,
  data text not null,
  state text not null check (state in ('due', 'sent', 'done', 'failed')),
  transaction_hash text,
  token_id numeric(78,0),
  block_number bigint,
  failure text,
  created_at timestamptz not null,
  ended_at timestamptz,
  gas bigint not null default 500000,
  uri text,
  place integer,
  tries integer not null default 0,
  block_hash text
);
create index registry_write_open on registry_write (created_at, id) where (state in ('due', 'sent'));
create unique index registry_write_once on registry_write (chain_id, kind, subject_id) where ((state <> 'failed') and (kind <> 'uri'));
create unique index registry_write_once_open on registry_write (chain_id, kind, subject_id) where (state in ('due', 'sent'));
create index registry_write_sent on registry_write (transaction_hash) where (state = 'sent');
create index registry_write_done on registry_write (chain_id, block_number) where (state = 'done');
create index registry_write_subject on registry_write (subject_id, kind);

create table network_follow (
  chain_id integer primary key,
  number bigint not null
);

create table network_entry (
  chain_id integer not null,
  token_id numeric(78,0) not null,
  kind text not null check (kind in ('node', 'agent')),
  base_url text not null,
  agent_id text,
  owner text not null,
  registered_by text not null,
  state text not null check (state in ('new', 'listed', 'ignored')),
  reason text,
  tries integer not null default 0,
  next_try_at timestamptz,
  uri_block bigint not null,
  uri_index integer not null,
  uri_by text not null,
  constraint network_entry_check check ((kind = 'agent') = (agent_id is not null)),
  primary key (chain_id, token_id)
);
create index network_entry_due on network_entry (kind, next_try_at) where (next_try_at is not null);
create index network_entry_base on network_entry (base_url, next_try_at);
create index network_entry_agent on network_entry (agent_id) where (agent_id is not null);

create table home_call (
  request_id text primary key,
  node_id text not null references network_node (id),
  home_request_id text not null,
  created_at timestamptz not null,
  next_look_at timestamptz
);
create index home_call_look on home_call (next_look_at) where (next_look_at is not null);

create table awaited_refund (
  chain_id integer not null,
  from_address text not null,
  nonce text not null,
  request_id text not null,
  purpose text not null check (purpose in ('home_refund', 'home_return')),
  primary key (chain_id, from_address, nonce)
);

create table outcome (
  request_id text primary key,
  agent_id text not null,
  account_id text not null,
  wallet text not null,
  amount_micro bigint not null check (amount_micro > 0),
  is_good boolean not null,
  ended_at timestamptz not null
);

create table outcome_due (
  request_id text not null
);

create table outcome_day (
  agent_id text not null,
  account_id text not null,
  wallet text not null,
  day date not null,
  good_micro bigint not null,
  bad_micro bigint not null,
  good_calls bigint not null,
  bad_calls bigint not null,
  primary key (agent_id, day, account_id, wallet)
) with (fillfactor = 80);

create table payer_agent (
  account_id text not null,
  agent_id text not null,
  paid_micro bigint not null,
  first_paid_at timestamptz not null,
  primary key (account_id, agent_id)
) with (fillfactor = 80);

create table payer_wallet (
  account_id text not null,
  wallet text not null,
  primary key (account_id, wallet)
);

create table agent_payee (
  agent_id text not null,
  wallet text not null,
  primary key (agent_id, wallet)
);

create table payer (
  account_id text primary key,
  breadth double precision not null,
  since timestamptz,
  computed_at timestamptz not null
) with (fillfactor = 80);

create table agent_reputation (
  agent_id text primary key,
  formula_version integer,
  computed_at timestamptz,
  parts json,
  due_at timestamptz not null
) with (fillfactor = 80);
create index agent_reputation_due on agent_reputation (due_at);

create table agent_probe_day (
  agent_id text not null references agent (id),
  day date not null,
  passed integer not null,
  probes integer not null,
  primary key (agent_id, day)
) with (fillfactor = 50);

create table feedback_due (
  request_id text not null
);

create table feedback (
  request_id text primary key,
  agent_id text not null,
  file text not null
);

create table audit_entry (
  id text primary key,
  account_id text not null references account (id),
  at timestamptz not null,
  action text not null,
  actor_kind text not null check (actor_kind in ('key', 'session')),
  actor_id text not null,
  actor_name text not null,
  subject jsonb not null,
  address text not null,
  user_agent text,
  outcome text not null check (outcome in ('done', 'refused', 'unknown')),
  code text,
  replayed boolean not null default false
);
create index audit_entry_account on audit_entry (account_id, id);
create index audit_entry_at on audit_entry (at);

create table call_change (
  account_id text not null,
  agent_id text not null,
  agent_account_id text not null,
  made_at timestamptz not null,
  bin smallint not null,
  calls integer not null,
  completed integer not null,
  failed integer not null,
  spent_micro bigint not null,
  earned_micro bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000000000);

create table call_figure (
  subject_id text not null,
  side text not null check (side in ('made', 'received')),
  span text not null check (span in ('hour', 'day')),
  start timestamptz not null,
  bin smallint not null,
  calls bigint not null,
  completed bigint not null,
  failed bigint not null,
  amount_micro bigint not null,
  primary key (subject_id, side, span, start, bin)
) with (fillfactor = 80);
create index call_figure_hour on call_figure (start) where (span = 'hour');

create table agent_health (
  agent_id text not null references agent (id),
  span text not null check (span in ('hour', 'day')),
  start timestamptz not null,
  bin smallint not null,
  checks integer not null,
  failed integer not null,
  primary key (agent_id, span, start, bin)
) with (fillfactor = 50);

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

create table payer_strike (
  subject text primary key,
  strikes integer not null check (strikes > 0),
  last_at timestamptz not null,
  refused_until timestamptz
);
create index payer_strike_age on payer_strike (last_at);

create table used_challenge (
  id text primary key,
  expires_at timestamptz not null
);
create index used_challenge_expiry on used_challenge (expires_at);

create table event_horizon (
  account_id text primary key,
  sequence bigint not null
);

create table account_storage (
  account_id text primary key,
  bytes bigint not null
);

create table storage_change (
  id bigint generated always as identity primary key,
  account_id text not null,
  bytes bigint not null
);
create index storage_change_account on storage_change (account_id);

create table unaudited_request (
  request_id text primary key,
  since timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index unaudited_request_since on unaudited_request (since);

create table replica_change (
  xid xid8 not null default pg_current_xact_id(),
  topic text not null,
  id text not null,
  changed_at timestamptz not null default clock_timestamp()
);
create index replica_change_xid on replica_change (xid) include (topic, id);

create table replica_forgotten (
  is_only boolean default true primary key check (is_only),
  xid xid8 not null
);

create table channel_charge (
  request_id text primary key,
  channel_id text not null references channel (id),
  amount_micro bigint not null check (amount_micro > 0),
  max_micro bigint not null,
  signature text not null,
  charged_micro bigint,
  created_at timestamptz not null,
  ended_at timestamptz,
  fingerprint bytea not null,
  constraint channel_charge_check check ((charged_micro >= 0) and (charged_micro <= amount_micro)),
  constraint channel_charge_check1 check ((charged_micro is null) = (ended_at is null))
) with (fillfactor = 50);
create index channel_charge_channel on channel_charge (channel_id, max_micro);
create index channel_charge_created on channel_charge (created_at);

create table channel_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

create table channel_claim (
  id text primary key,
  chain_id integer not null,
  reason text not null check (reason in ('threshold', 'age', 'payout', 'stop', 'withdrawal', 'refund')),
  state text not null default 'sent' check (state in ('sent', 'done', 'failed')),
  transaction_hash text not null,
  block_number bigint,
  block_hash text,
  created_at timestamptz not null,
  ended_at timestamptz,
  gas_used bigint,
  constraint channel_claim_check check ((state = 'sent') = (ended_at is null))
);
create index channel_claim_open on channel_claim (chain_id) where (state = 'sent');
create index channel_claim_block on channel_claim (chain_id, block_number) where (state = 'done');
create index channel_claim_ended on channel_claim (ended_at) where (state <> 'sent');
create index channel_claim_created on channel_claim (chain_id, created_at, id);

create table channel_claim_row (
  claim_id text not null references channel_claim (id) on delete cascade,
  channel_id text not null references channel (id),
  max_micro bigint not null,
  total_micro bigint not null,
  is_open boolean not null default true,
  constraint channel_claim_row_check check (total_micro <= max_micro),
  primary key (claim_id, channel_id)
);
create unique index channel_claim_row_open on channel_claim_row (channel_id) where is_open;
create index channel_claim_row_channel on channel_claim_row (channel_id);

create table channel_refund (
  id text primary key,
  channel_id text not null references channel (id),
  payload_key text not null,
  amount_micro bigint not null check (amount_micro > 0),
  nonce bigint constraint channel_refund_nonce_not_null1 not null,
  client text,
  claim_id text not null references channel_claim (id),
  state text not null default 'sent' check (state in ('sent', 'done', 'failed')),
  refunded_micro bigint,
  created_at timestamptz not null,
  ended_at timestamptz
);
create unique index channel_refund_payload on channel_refund (channel_id, payload_key) where (state <> 'failed');
create index channel_refund_claim on channel_refund (claim_id);
create index channel_refund_created on channel_refund (created_at);
create index channel_refund_channel on channel_refund (channel_id, created_at);

create table channel_receiver (
  chain_id integer not null,
  receiver text not null,
  foreign_micro bigint not null,
  settled_micro bigint not null,
  booking integer not null default 0,
  block_number bigint not null,
  block_hash text not null,
  known_micro bigint not null default 0,
  primary key (chain_id, receiver)
);

create table invocation_receipt (
  request_id text primary key references invocation (id),
  receipt json not null,
  issued_at timestamptz not null
);

create table unpaid_task (
  id text primary key,
  account_id text references account (id),
  caller_agent_id text,
  holder text not null,
  agent_id text not null,
  body json not null,
  quote_id text,
  message_key text not null,
  offer json not null,
  refusal text,
  ended text check (ended in ('rejected', 'cancelled')),
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index unpaid_task_holder on unpaid_task (holder, created_at);
create index unpaid_task_expires on unpaid_task (expires_at);
create index unpaid_task_keyless on unpaid_task (id) where (account_id is null);

create table card_key (
  is_only boolean default true primary key check (is_only),
  id text not null,
  sealed bytea not null,
  created_at timestamptz not null
);

create table a2a_push (
  task_id text not null,
  id text not null,
  account_id text not null references account (id),
  url text not null,
  version text not null check (version in ('1.0', '0.3')),
  scheme text,
  sealed bytea not null,
  told text not null default 'nothing' check (told in ('nothing', 'pending', 'processing', 'result', 'ended')),
  is_open boolean not null default true,
  tries integer not null default 0,
  next_at timestamptz not null,
  created_at timestamptz not null,
  primary key (task_id, id)
);
create index a2a_push_open on a2a_push (next_at) where is_open;
create index a2a_push_account on a2a_push (account_id) where is_open;
create index a2a_push_created on a2a_push (created_at);

create table upstream_call (
  request_id text primary key references invocation (id),
  sent_at timestamptz not null,
  handle text
);

create table account_change (
  id text primary key,
  account_id text not null references account (id),
  kind text not null check (kind in ('plan', 'suspended', 'resumed')),
  plan text,
  reason text not null,
  actor_account_id text not null,
  actor_id text not null,
  at timestamptz not null
);
create index account_change_of on account_change (account_id, at desc);

create table database_hole (
  id bigint generated always as identity primary key,
  reason text not null,
  found_by text not null,
  found_at timestamptz not null default now(),
  is_open boolean not null default true,
  accepted_at timestamptz,
  accepted_by text,
  constraint database_hole_check check (is_open = (accepted_at is null)),
  constraint database_hole_check1 check ((accepted_at is null) = (accepted_by is null))
);
create unique index database_hole_open on database_hole (is_open) where is_open;

create table payout_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

create table chain_catch_up (
  chain_id integer not null,
  database text not null,
  from_block bigint not null,
  to_block bigint not null,
  is_restored boolean not null,
  caught_up_at timestamptz not null,
  primary key (chain_id, database)
);

create table found_payout (
  id text primary key,
  chain_id integer not null,
  token text not null,
  from_address text not null,
  nonce text not null,
  is_plain boolean not null,
  to_address text not null,
  value_micro bigint not null check (value_micro > 0),
  transaction_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  is_restored boolean not null,
  state text not null default 'found' check (state in ('found', 'expected', 'explained', 'booked', 'due', 'undecided', 'decided')),
  request_id text,
  purpose text,
  source text,
  due_micro bigint not null default 0 check (due_micro >= 0),
  payment_id text references chain_payment (id),
  decided_by text,
  decision text,
  found_at timestamptz not null,
  changed_at timestamptz not null,
  unique (chain_id, nonce),
  constraint found_payout_check check ((state <> 'decided') or (decided_by is not null)),
  constraint found_payout_check1 check ((due_micro = 0) or (state = 'due'))
);
create index found_payout_open on found_payout (state) where (state in ('found', 'expected', 'due', 'undecided'));

create view account_contact as
 SELECT account.id AS account_id,
    account.address AS wallet
   FROM account
UNION ALL
 SELECT account_wallet.account_id,
    account_wallet.address AS wallet
   FROM account_wallet
UNION ALL
 SELECT payer_wallet.account_id,
    payer_wallet.wallet
   FROM payer_wallet
UNION ALL
 SELECT chain_payment.account_id,
    chain_payment.from_address AS wallet
   FROM chain_payment
  WHERE chain_payment.purpose = 'deposit'::text AND chain_payment.state = 'settled'::text;

create function duration_bin(ms double precision) returns smallint language sql
 IMMUTABLE PARALLEL SAFE
RETURN (CASE WHEN (ms IS NULL) THEN ('-1'::integer)::double precision ELSE LEAST(GREATEST(floor((((8)::double precision * ln(GREATEST(ms, (1)::double precision))) / ln((2.0)::double precision))), (0)::double precision), (250)::double precision) END)::smallint;

create function site_of(base_url text) returns text language sql
 IMMUTABLE PARALLEL SAFE STRICT as $$
  select case when host ~ '^\[|^[0-9.]+$' then host else coalesce(substring(host from '[^.]+\.[^.]+$'), host) end
    from (select substring(base_url from '^https?://(\[[^]]*\]|[^/:]*)') as host) as parsed
$$;

create function first_open_transaction() returns bigint language sql
 STABLE as $$
  select coalesce(min(open.xid::text::bigint), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
    from pg_snapshot_xip(pg_current_snapshot()) as open(xid)
   where open.xid::xid not in (
     select backend_xid from pg_stat_get_activity(null)
      where backend_xid is not null and datid <> (select oid from pg_database where datname = current_database())
     union all
     select transaction from pg_prepared_xacts where database <> current_database())
$$;

create function note_replica_change() returns trigger language plpgsql as $$
begin
  insert into replica_change (topic, id) values (tg_argv[0], coalesce(new.id, old.id));
  return null;
end
$$;

create function note_operator_change() returns trigger language plpgsql as $$
begin
  insert into replica_change (topic, id) values ('account', coalesce(new.account_id, old.account_id));
  return null;
end
$$;

create function note_node_wallet() returns trigger language plpgsql as $$
begin
  insert into replica_change (topic, id)
  select distinct 'wallet', wallet from unnest(array[old.wallet, new.wallet]) as wallet where wallet is not null;
  return null;
end
$$;

create function database_identity() returns text language plpgsql as $$
begin
  return (select (pg_control_system()).system_identifier::text || '.' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
            || '.' || (select oid::text from pg_database where datname = current_database())
            || '.' || coalesce((select max(id) from database_hole where not is_open), 0)::text);
exception when others then
  return null;
end $$;

create trigger agent_added after insert or delete on agent
  for each row execute function note_replica_change('agent');
create trigger agent_changed after update of account_id, owner_address, name, description, capabilities, per_request_micro, per_hour_micro,
    tiers, endpoint, metadata, status, reputation, token_hash, token_sealed, endpoint_proven_at, response_ms, is_accepting, home_node, token_id,
    frozen_at on agent
  for each row when (
    (old.account_id, old.owner_address, old.name, old.description, old.capabilities, old.per_request_micro, old.per_hour_micro,
     old.tiers::text, old.endpoint, old.metadata::text, old.status, old.reputation, old.token_hash, old.token_sealed, old.endpoint_proven_at,
     old.response_ms, old.is_accepting, old.home_node, old.token_id, old.frozen_at)
    is distinct from
    (new.account_id, new.owner_address, new.name, new.description, new.capabilities, new.per_request_micro, new.per_hour_micro,
     new.tiers::text, new.endpoint, new.metadata::text, new.status, new.reputation, new.token_hash, new.token_sealed, new.endpoint_proven_at,
     new.response_ms, new.is_accepting, new.home_node, new.token_id, new.frozen_at)
  ) execute function note_replica_change('agent');
create trigger account_changed after update of address, plan, wallet_proven_at on account
  for each row when ((old.address, old.plan, old.wallet_proven_at) is distinct from (new.address, new.plan, new.wallet_proven_at))
  execute function note_replica_change('account');
create trigger node_changed after update of base_url, label, wallet on network_node
  for each row when ((old.base_url, old.label, old.wallet) is distinct from (new.base_url, new.label, new.wallet))
  execute function note_replica_change('node');
create trigger api_key_changed after update of account_id, name, secret_hash, scopes, expires_at, revoked_at, kind, budget_id, per_call_micro,
    per_day_micro, allowed_agents on api_key
  for each row when (
    (old.account_id, old.name, old.secret_hash, old.scopes, old.expires_at, old.revoked_at, old.kind, old.budget_id, old.per_call_micro,
     old.per_day_micro, old.allowed_agents)
    is distinct from
    (new.account_id, new.name, new.secret_hash, new.scopes, new.expires_at, new.revoked_at, new.kind, new.budget_id, new.per_call_micro,
     new.per_day_micro, new.allowed_agents)
  ) execute function note_replica_change('key');
create trigger api_key_gone after delete on api_key for each row execute function note_replica_change('key');
create trigger operator_key_added after insert on api_key
  for each row when (new.kind = 'key' and 'operator' = any(new.scopes)) execute function note_operator_change();
create trigger operator_key_changed after update of scopes, expires_at, revoked_at on api_key
  for each row when (old.kind = 'key' and 'operator' = any(old.scopes || new.scopes)
    and (old.scopes, old.expires_at, old.revoked_at) is distinct from (new.scopes, new.expires_at, new.revoked_at))
  execute function note_operator_change();
create trigger operator_key_gone after delete on api_key
  for each row when (old.kind = 'key' and 'operator' = any(old.scopes)) execute function note_operator_change();
create trigger account_node_changed after update of node_url on account
  for each row when (old.node_url is distinct from new.node_url) execute function note_replica_change('account');
create trigger node_wallet_added after insert or delete on network_node for each row execute function note_node_wallet();
create trigger node_wallet_changed after update of base_url, wallet, status, is_listed on network_node
  for each row when ((old.base_url, old.wallet, old.status, old.is_listed)
    is distinct from (new.base_url, new.wallet, new.status, new.is_listed))
  execute function note_node_wallet();
create trigger agent_upstream_changed after update of protocol, upstream, upstream_headers_sealed on agent
  for each row when (old.protocol is distinct from new.protocol or old.upstream::text is distinct from new.upstream::text
    or old.upstream_headers_sealed is distinct from new.upstream_headers_sealed)
  execute function note_replica_change('agent');
create trigger agent_types_changed after update of types_id on agent
  for each row when (old.types_id is distinct from new.types_id) execute function note_replica_change('agent');
create trigger account_suspended after update of suspended_at on account
  for each row when (old.suspended_at is distinct from new.suspended_at) execute function note_replica_change('account');

-- No trigger runs, and no reference is checked.
set session_replication_role = replica;
insert into account (id, address, plan, wallet_proven_at, created_at, node_url, suspended_at, suspended_reason) overriding system value
  select id, address, plan, wallet_proven_at, created_at, node_url, suspended_at, suspended_reason from json_populate_recordset(null::account, '[
{"id":"acc_01m8jewx4p0gg051ds249s66dq","address":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","plan":"enterprise","wallet_proven_at":"2026-11-29T01:32:16.918+00:00","created_at":"2026-11-29T01:32:16.918+00:00","node_url":null,"suspended_at":null,"suspended_reason":null},
{"id":"acc_01m8jewx8jzkh2j56chmza2wsa","address":"0xcf37901183de544e82c14a4d0dd22907939bf065","plan":"free","wallet_proven_at":"2026-11-29T01:32:17.042+00:00","created_at":"2026-11-29T01:32:17.042+00:00","node_url":null,"suspended_at":null,"suspended_reason":null},
{"id":"acc_01m8jewx9j12hxgrz94dx1em8e","address":"0x1a231c50c51115ed27a4a417f94eb774875e1a8b","plan":"pro","wallet_proven_at":"2026-11-29T01:32:17.074+00:00","created_at":"2026-11-29T01:32:17.074+00:00","node_url":null,"suspended_at":null,"suspended_reason":null}
]');
insert into account_storage (account_id, bytes) overriding system value
  select account_id, bytes from json_populate_recordset(null::account_storage, '[
{"account_id":"acc_01m8jewx4p0gg051ds249s66dq","bytes":1483}
]');
insert into agent (id, account_id, owner_address, name, description, capabilities, per_request_micro, per_hour_micro, tiers, endpoint, metadata, status, reputation, token_hash, token_sealed, endpoint_proven_at, next_check_at, checks_done, failed_in_a_row, passed_in_a_row, last_ping_at, last_seen_at, response_ms, reported_load, reported_at, is_accepting, created_at, updated_at, removed_at, final_block, home_node, token_id, frozen_at, changed_at, token_claimed_at, id_salt, protocol, upstream, upstream_headers_sealed, upstream_digest, fault, types_id, owned_since, fault_detail) overriding system value
  select id, account_id, owner_address, name, description, capabilities, per_request_micro, per_hour_micro, tiers, endpoint, metadata, status, reputation, token_hash, token_sealed, endpoint_proven_at, next_check_at, checks_done, failed_in_a_row, passed_in_a_row, last_ping_at, last_seen_at, response_ms, reported_load, reported_at, is_accepting, created_at, updated_at, removed_at, final_block, home_node, token_id, frozen_at, changed_at, token_claimed_at, id_salt, protocol, upstream, upstream_headers_sealed, upstream_digest, fault, types_id, owned_since, fault_detail from json_populate_recordset(null::agent, '[
{"id":"agt_g1m8jewxamyf94h0jntdg350k2","account_id":"acc_01m8jewx4p0gg051ds249s66dq","owner_address":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","name":"Echo","description":"Sends back the task and the input that it was given. Good for trying out a node.","capabilities":["echo"],"per_request_micro":10000,"per_hour_micro":10000,"tiers":{},"endpoint":"http://127.0.0.1:42863/","metadata":{},"status":"online","reputation":346,"token_hash":"\\x7d08c38a6d49382d3d8777a95a796330f3ff4b94f71b3a631133db5fb6ed6c90","token_sealed":"\\x049ccdda411254504ca609e880510805d81ef8e86526d613491aec4504bdab8106726268b0ec44295c0291683b73988241051884b5063fd20adfaa7a9d87afb110abf23d8caf6fc606189e54e7c76922176b0847524adccd9de5cc09bbec","endpoint_proven_at":"2026-11-29T01:32:24.46+00:00","next_check_at":"2026-11-29T01:33:23.689+00:00","checks_done":2,"failed_in_a_row":0,"passed_in_a_row":1,"last_ping_at":"2026-11-29T01:32:24.46+00:00","last_seen_at":"2026-11-29T01:32:24.46+00:00","response_ms":80.43465099999594,"reported_load":null,"reported_at":null,"is_accepting":true,"created_at":"2026-11-29T01:32:17.108+00:00","updated_at":"2026-11-29T01:32:17.108+00:00","removed_at":null,"final_block":null,"home_node":null,"token_id":1,"frozen_at":null,"changed_at":"2026-11-29T01:32:26.316+00:00","token_claimed_at":null,"id_salt":"\\x3d1f6eeafd985501a31181a9f0106c6a","protocol":"http","upstream":{"headers":[]},"upstream_headers_sealed":null,"upstream_digest":null,"fault":null,"types_id":null,"owned_since":null,"fault_detail":null},
{"id":"agt_g1m8jewxappb352cwcvt7jvy2g","account_id":"acc_01m8jewx4p0gg051ds249s66dq","owner_address":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","name":"Case Converter","description":"Writes words in camelCase, snake_case, kebab-case and Title Case. Free: anybody can try it, without an account.","capabilities":["case-conversion"],"per_request_micro":0,"per_hour_micro":0,"tiers":{},"endpoint":"http://127.0.0.1:46665/","metadata":{},"status":"online","reputation":346,"token_hash":"\\x6c2e709fecad7cf96068fdeae6dcca0fa6dd43ac0564ba5e57afb24b882929a6","token_sealed":"\\xb37bd8057df8ce6aca8593ef504ee59ebeb5a0dcf3233fdab415e505826e2ae0aafafe8c3771a4da5eaa18ea560349b67fad039fb025c6b7f10d2d42f4277214dcfd693f68803d537a5972bb930015e829aa0500cbaad6562f7f2b51c8d3","endpoint_proven_at":"2026-11-29T01:32:24.995+00:00","next_check_at":"2026-11-29T01:33:31.731+00:00","checks_done":2,"failed_in_a_row":0,"passed_in_a_row":1,"last_ping_at":"2026-11-29T01:32:24.995+00:00","last_seen_at":"2026-11-29T01:32:24.995+00:00","response_ms":51.90754999999626,"reported_load":null,"reported_at":null,"is_accepting":true,"created_at":"2026-11-29T01:32:17.11+00:00","updated_at":"2026-11-29T01:32:17.11+00:00","removed_at":null,"final_block":null,"home_node":null,"token_id":3,"frozen_at":null,"changed_at":"2026-11-29T01:32:26.316+00:00","token_claimed_at":null,"id_salt":"\\xff29e30768d76a683abc0d9738be4cc6","protocol":"http","upstream":{"headers":[]},"upstream_headers_sealed":null,"upstream_digest":null,"fault":null,"types_id":null,"owned_since":null,"fault_detail":null},
{"id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","account_id":"acc_01m8jewx4p0gg051ds249s66dq","owner_address":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","name":"Text Analyst","description":"Counts words and sentences, finds keywords and summarises English text with its own sentences. Send the text as the task, or in the field text of the input.","capabilities":["text-analysis","keyword-extraction","summarization"],"per_request_micro":50000,"per_hour_micro":50000,"tiers":{},"endpoint":"http://127.0.0.1:39037/","metadata":{},"status":"online","reputation":346,"token_hash":"\\x5fb47dcd2cbebf938f841e03b4e1d754318fa15eda0d5aac9a103efaf53ccc72","token_sealed":"\\x98383517337cea1f1de10b46edf83e093903e04c3aa3024d52b961224631a99eb7c150e3d1f0e11ae3950997dfba8659966fa19483a1a4fbd3520fcec3b925212f258913d643a24db32bb2eda939d16af66488ccaf977fd71b0be1b1a614","endpoint_proven_at":"2026-11-29T01:32:24.683+00:00","next_check_at":"2026-11-29T01:33:15.594+00:00","checks_done":2,"failed_in_a_row":0,"passed_in_a_row":1,"last_ping_at":"2026-11-29T01:32:24.683+00:00","last_seen_at":"2026-11-29T01:32:24.683+00:00","response_ms":75.31647399999929,"reported_load":null,"reported_at":null,"is_accepting":true,"created_at":"2026-11-29T01:32:17.11+00:00","updated_at":"2026-11-29T01:32:17.11+00:00","removed_at":null,"final_block":null,"home_node":null,"token_id":2,"frozen_at":null,"changed_at":"2026-11-29T01:32:26.316+00:00","token_claimed_at":null,"id_salt":"\\x315e87e1577dac6111a2f479332c67e6","protocol":"http","upstream":{"headers":[]},"upstream_headers_sealed":null,"upstream_digest":null,"fault":null,"types_id":null,"owned_since":null,"fault_detail":null},
{"id":"agt_g1m8jexv8wkamk18myb0gn93mz","account_id":"acc_01m8jewx4p0gg051ds249s66dq","owner_address":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","name":"Poet","description":"Writes one line about bees, word by word.","capabilities":["poetry"],"per_request_micro":10000,"per_hour_micro":10000,"tiers":{},"endpoint":"http://127.0.0.1:37321/","metadata":{},"status":"removed","reputation":346,"token_hash":"\\x6c6d291fddaabb498a41056027f7118ad8ca9975ca038184dc6dd79f4c5e182a","token_sealed":"\\x5076249fe8b5d38ad0c3f741887e92397d3b8f8ae9cbc1b07b0670ad6cac16d244b1b5940d12bfe68f2b6dbd425ede12623e07d47a09f93ce05cd0dd63c3ff99d79e19e27dda69bf5513fb59975c4e44e01f2032530e1d69091cd8da2d55","endpoint_proven_at":"2026-11-29T01:32:47.96+00:00","next_check_at":null,"checks_done":1,"failed_in_a_row":0,"passed_in_a_row":1,"last_ping_at":"2026-11-29T01:32:47.96+00:00","last_seen_at":"2026-11-29T01:32:47.96+00:00","response_ms":65.69739200000186,"reported_load":null,"reported_at":null,"is_accepting":true,"created_at":"2026-11-29T01:32:47.772+00:00","updated_at":"2026-11-29T01:32:49.515+00:00","removed_at":"2026-11-29T01:32:49.515+00:00","final_block":39,"home_node":null,"token_id":4,"frozen_at":null,"changed_at":"2026-11-29T01:32:49.515+00:00","token_claimed_at":null,"id_salt":"\\x93c1fecc1e5790b0a3161485cdf21575","protocol":"http","upstream":{"headers":[]},"upstream_headers_sealed":null,"upstream_digest":null,"fault":null,"types_id":null,"owned_since":null,"fault_detail":null},
{"id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","account_id":"acc_01m8jewx4p0gg051ds249s66dq","owner_address":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","name":"Dice","description":"Rolls a die with as many sides as you like.","capabilities":["dice"],"per_request_micro":20000,"per_hour_micro":20000,"tiers":{},"endpoint":"http://127.0.0.1:34809/","metadata":{},"status":"removed","reputation":344,"token_hash":"\\x3ae48ba186c09a65b278e56d6d5bc698b820f966a669db23d00bd35cc5aa11d1","token_sealed":"\\x32c132ab1bbc14121fe47a70f40e2d8419c8f3155e598052180a26ffceae8f4823cccda85603fe06ca954daf98c376cb6525b96a5c388be32581a92f47e7e393e833fb3d73ed6de2a86db75adb35bf65a38b2115891f5129199944c31b45","endpoint_proven_at":"2026-11-29T01:32:53.423+00:00","next_check_at":null,"checks_done":1,"failed_in_a_row":0,"passed_in_a_row":1,"last_ping_at":"2026-11-29T01:32:53.423+00:00","last_seen_at":"2026-11-29T01:32:53.423+00:00","response_ms":168.232892,"reported_load":null,"reported_at":null,"is_accepting":true,"created_at":"2026-11-29T01:32:53.08+00:00","updated_at":"2026-11-29T01:32:54.425+00:00","removed_at":"2026-11-29T01:32:54.425+00:00","final_block":49,"home_node":null,"token_id":5,"frozen_at":null,"changed_at":"2026-11-29T01:32:54.425+00:00","token_claimed_at":null,"id_salt":"\\x39d4ac86e33ec6f64c541a17170b06b4","protocol":"http","upstream":{"headers":[]},"upstream_headers_sealed":null,"upstream_digest":null,"fault":null,"types_id":null,"owned_since":null,"fault_detail":null}
]');
insert into agent_reputation (agent_id, formula_version, computed_at, parts, due_at) overriding system value
  select agent_id, formula_version, computed_at, parts, due_at from json_populate_recordset(null::agent_reputation, '[
{"agent_id":"agt_g1m8jewxamyf94h0jntdg350k2","formula_version":3,"computed_at":"2026-11-29T01:32:34.322+00:00","parts":{"score":{"score":346,"outcomes":{"points":800,"value":0.33333333333333337,"contribution":267},"uptime":{"points":120,"value":0,"contribution":0},"latency":{"points":80,"value":0.9839130698000008,"contribution":79}},"outcomes":{"good":0,"bad":0,"quality":0.33333333333333337,"crediblePayers":0,"weakPayers":0,"weakOffered":0,"weakUsed":0,"goodCalls":0,"badCalls":0,"linkedPayers":1,"linkedCalls":2,"records":1},"liveness":{"probes":0,"responseMs":80.43465099999594}},"due_at":"2026-11-30T01:32:34.322+00:00"},
{"agent_id":"agt_g1m8jewxappb352cwcvt7jvy2g","formula_version":3,"computed_at":"2026-11-29T01:32:25.031+00:00","parts":{"score":{"score":346,"outcomes":{"points":800,"value":0.33333333333333337,"contribution":267},"uptime":{"points":120,"value":0,"contribution":0},"latency":{"points":80,"value":0.9896184900000008,"contribution":79}},"outcomes":{"good":0,"bad":0,"quality":0.33333333333333337,"crediblePayers":0,"weakPayers":0,"weakOffered":0,"weakUsed":0,"goodCalls":0,"badCalls":0,"linkedPayers":0,"linkedCalls":0,"records":0},"liveness":{"probes":0,"responseMs":51.90754999999626}},"due_at":"2026-11-30T01:32:17.11+00:00"},
{"agent_id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","formula_version":3,"computed_at":"2026-11-29T01:32:42.713+00:00","parts":{"score":{"score":346,"outcomes":{"points":800,"value":0.33333333333333337,"contribution":267},"uptime":{"points":120,"value":0,"contribution":0},"latency":{"points":80,"value":0.9849367052000001,"contribution":79}},"outcomes":{"good":0,"bad":0,"quality":0.33333333333333337,"crediblePayers":0,"weakPayers":0,"weakOffered":0,"weakUsed":0,"goodCalls":0,"badCalls":0,"linkedPayers":1,"linkedCalls":1,"records":1},"liveness":{"probes":0,"responseMs":75.31647399999929}},"due_at":"2026-11-30T01:32:42.713+00:00"}
]');
insert into agent_totals (agent_id, completed, failed, duration_ms, probes_passed, probes) overriding system value
  select agent_id, completed, failed, duration_ms, probes_passed, probes from json_populate_recordset(null::agent_totals, '[
{"agent_id":"agt_g1m8jewxamyf94h0jntdg350k2","completed":2,"failed":0,"duration_ms":51,"probes_passed":0,"probes":0},
{"agent_id":"agt_g1m8jewxappb352cwcvt7jvy2g","completed":0,"failed":0,"duration_ms":0,"probes_passed":0,"probes":0},
{"agent_id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","completed":1,"failed":0,"duration_ms":72,"probes_passed":0,"probes":0},
{"agent_id":"agt_g1m8jexv8wkamk18myb0gn93mz","completed":1,"failed":0,"duration_ms":256,"probes_passed":0,"probes":0},
{"agent_id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","completed":1,"failed":0,"duration_ms":25,"probes_passed":0,"probes":0}
]');
insert into agent_use (account_id, day, agent_id, calls, completed, failed, spent_micro) overriding system value
  select account_id, day, agent_id, calls, completed, failed, spent_micro from json_populate_recordset(null::agent_use, '[
{"account_id":"acc_01m8jewx4p0gg051ds249s66dq","day":"2026-11-29T00:00:00+00:00","agent_id":"agt_g1m8jewxamyf94h0jntdg350k2","calls":2,"completed":2,"failed":0,"spent_micro":20000},
{"account_id":"acc_01m8jewx4p0gg051ds249s66dq","day":"2026-11-29T00:00:00+00:00","agent_id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","calls":1,"completed":1,"failed":0,"spent_micro":50000},
{"account_id":"acc_01m8jewx4p0gg051ds249s66dq","day":"2026-11-29T00:00:00+00:00","agent_id":"agt_g1m8jexv8wkamk18myb0gn93mz","calls":1,"completed":1,"failed":0,"spent_micro":10000},
{"account_id":"acc_01m8jewx4p0gg051ds249s66dq","day":"2026-11-29T00:00:00+00:00","agent_id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","calls":1,"completed":1,"failed":0,"spent_micro":20000}
]');
insert into call_figure (subject_id, side, span, start, bin, calls, completed, failed, amount_micro) overriding system value
  select subject_id, side, span, start, bin, calls, completed, failed, amount_micro from json_populate_recordset(null::call_figure, '[
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"made","span":"day","start":"2026-11-29T00:00:00+00:00","bin":43,"calls":2,"completed":2,"failed":0,"amount_micro":30000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"made","span":"day","start":"2026-11-29T00:00:00+00:00","bin":47,"calls":1,"completed":1,"failed":0,"amount_micro":10000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"made","span":"day","start":"2026-11-29T00:00:00+00:00","bin":56,"calls":1,"completed":1,"failed":0,"amount_micro":50000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"made","span":"day","start":"2026-11-29T00:00:00+00:00","bin":64,"calls":1,"completed":1,"failed":0,"amount_micro":10000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"made","span":"hour","start":"2026-11-29T01:00:00+00:00","bin":43,"calls":2,"completed":2,"failed":0,"amount_micro":30000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"made","span":"hour","start":"2026-11-29T01:00:00+00:00","bin":47,"calls":1,"completed":1,"failed":0,"amount_micro":10000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"made","span":"hour","start":"2026-11-29T01:00:00+00:00","bin":56,"calls":1,"completed":1,"failed":0,"amount_micro":50000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"made","span":"hour","start":"2026-11-29T01:00:00+00:00","bin":64,"calls":1,"completed":1,"failed":0,"amount_micro":10000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"received","span":"day","start":"2026-11-29T00:00:00+00:00","bin":43,"calls":2,"completed":2,"failed":0,"amount_micro":30000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"received","span":"day","start":"2026-11-29T00:00:00+00:00","bin":47,"calls":1,"completed":1,"failed":0,"amount_micro":10000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"received","span":"day","start":"2026-11-29T00:00:00+00:00","bin":56,"calls":1,"completed":1,"failed":0,"amount_micro":50000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"received","span":"day","start":"2026-11-29T00:00:00+00:00","bin":64,"calls":1,"completed":1,"failed":0,"amount_micro":10000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"received","span":"hour","start":"2026-11-29T01:00:00+00:00","bin":43,"calls":2,"completed":2,"failed":0,"amount_micro":30000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"received","span":"hour","start":"2026-11-29T01:00:00+00:00","bin":47,"calls":1,"completed":1,"failed":0,"amount_micro":10000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"received","span":"hour","start":"2026-11-29T01:00:00+00:00","bin":56,"calls":1,"completed":1,"failed":0,"amount_micro":50000},
{"subject_id":"acc_01m8jewx4p0gg051ds249s66dq","side":"received","span":"hour","start":"2026-11-29T01:00:00+00:00","bin":64,"calls":1,"completed":1,"failed":0,"amount_micro":10000},
{"subject_id":"agt_g1m8jewxamyf94h0jntdg350k2","side":"received","span":"day","start":"2026-11-29T00:00:00+00:00","bin":-1,"calls":2,"completed":2,"failed":0,"amount_micro":20000},
{"subject_id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","side":"received","span":"day","start":"2026-11-29T00:00:00+00:00","bin":-1,"calls":1,"completed":1,"failed":0,"amount_micro":50000},
{"subject_id":"agt_g1m8jexv8wkamk18myb0gn93mz","side":"received","span":"day","start":"2026-11-29T00:00:00+00:00","bin":-1,"calls":1,"completed":1,"failed":0,"amount_micro":10000},
{"subject_id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","side":"received","span":"day","start":"2026-11-29T00:00:00+00:00","bin":-1,"calls":1,"completed":1,"failed":0,"amount_micro":20000}
]');
insert into chain_payment (id, chain_id, token, from_address, nonce, direction, purpose, subject_id, account_id, ledger_account_id, to_address, value_micro, valid_after, valid_before, signature, fingerprint, x402_version, state, reason, transaction_hash, block_number, created_at, ended_at, block_hash, lost_at, client, channel_id, deposit_call) overriding system value
  select id, chain_id, token, from_address, nonce, direction, purpose, subject_id, account_id, ledger_account_id, to_address, value_micro, valid_after, valid_before, signature, fingerprint, x402_version, state, reason, transaction_hash, block_number, created_at, ended_at, block_hash, lost_at, client, channel_id, deposit_call from json_populate_recordset(null::chain_payment, '[
{"id":"pay_01m8jex93zs244ntzkssnjfnzn","chain_id":84532,"token":"0x036cbd53842c5426634e7929541ec2318f3dcf7e","from_address":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","nonce":"0xf20430ce13ffa2799881c51b22437e8f0e8caccfbbb987ebad3860e5b733a609","direction":"in","purpose":"invocation","subject_id":"req_01m8jex8tm4hxveph57rb2c2r9","account_id":"acc_01m8jewx4p0gg051ds249s66dq","ledger_account_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","to_address":"0x2d4371ed2de5a798dc44b4bc0666d54afbf6e804","value_micro":10000,"valid_after":0,"valid_before":1795916248,"signature":"0x92b00c2f938e8a31c9c4e3119fc10a945aa9bbc81ca51bf795f2a50e6fffbdfd731a686500a1c5c52bd592c92462fca9821bd604f3dedece6951392e6913cb531b","fingerprint":"\\x2d4da4ef027b854e4bf04ac82353ebe5179225c983aea70b98f7222ff4d14b61","x402_version":2,"state":"settled","reason":null,"transaction_hash":"0x1cb328b2f4686c12a2ae0cc173c09ceff7bacb47d879a999a3c3914b4208894e","block_number":13,"created_at":"2026-11-29T01:32:29.366+00:00","ended_at":"2026-11-29T01:32:29.533+00:00","block_hash":"0x0aec577b80d05efa2e525dc980bb8f2b7d78bbf9efa39a46e2d150571d7bccca","lost_at":null,"client":"127.0.0.1","channel_id":null,"deposit_call":null},
{"id":"pay_01m8jexd6jk77jjrwyy27g04pq","chain_id":84532,"token":"0x036cbd53842c5426634e7929541ec2318f3dcf7e","from_address":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","nonce":"0xbd7e2b5e34124879df5b4c1fd4a8fbc292ee0523a0722431c3e5a90367433510","direction":"in","purpose":"invocation","subject_id":"req_01m8jexd6jjdtx8c6pygxpagdy","account_id":"acc_01m8jewx4p0gg051ds249s66dq","ledger_account_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","to_address":"0x2d4371ed2de5a798dc44b4bc0666d54afbf6e804","value_micro":10000,"valid_after":1795915352,"valid_before":1795916252,"signature":"0x8a46ecf5d167e3a0fd8c8f05f61f6ba62f2a59e8c6cbb322af4f1d4b736c627a09de22855e827c397c3a1796dcc422180caea8f71b6755513a7b5cbbe2cc49cf1c","fingerprint":"\\xe31c755e227c93fef160716222657131e5b20c609f54623104f27271bdf8aee5","x402_version":1,"state":"settled","reason":null,"transaction_hash":"0x3c28cb2e177429acf117cc128d9fe89e5279af65d045c0dd389d5cff29e76acd","block_number":18,"created_at":"2026-11-29T01:32:33.419+00:00","ended_at":"2026-11-29T01:32:33.639+00:00","block_hash":"0x61925426041609d78c89a243c09aba9176f42fc3a5cd301691dcaa929caf6ffd","lost_at":null,"client":"127.0.0.1","channel_id":null,"deposit_call":null},
{"id":"pay_01m8jexmmy48cf2ymancktnxfv","chain_id":84532,"token":"0x036cbd53842c5426634e7929541ec2318f3dcf7e","from_address":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","nonce":"0x34d1fadb8604b5e3948b80da46d79556c92402881d89827f67e7529b9ede9f4c","direction":"in","purpose":"deposit","subject_id":"trf_5532100734b3129f752cd14864","account_id":"acc_01m8jewx4p0gg051ds249s66dq","ledger_account_id":"trs_01m8jexknedt77g09711h3gbhm","to_address":"0x2d4371ed2de5a798dc44b4bc0666d54afbf6e804","value_micro":1000000,"valid_after":0,"valid_before":1795916260,"signature":"0xb47f2392b28f09493d0310841dbc4b285a299da54f8706fedab826cb2c34376a1f0e7ea3e7a0ef7ab50f8e93a35c0afacf5abd19b3d6181a93940bd960d82b4b1b","fingerprint":"\\x46d72d624c3439072ee3ea09abbff51b2b28b81a0329d655d009d26ecb52d7e7","x402_version":2,"state":"settled","reason":null,"transaction_hash":"0x798f8f2798bf776d344a59a395d5865a051f6d7dd39f13180725e3ebd6c13f99","block_number":28,"created_at":"2026-11-29T01:32:41.09+00:00","ended_at":"2026-11-29T01:32:41.376+00:00","block_hash":"0x4064fc68d9836592b2a5aca8d8c6debfd3d3aa82560d27737340a6f2b32914ad","lost_at":null,"client":"127.0.0.1","channel_id":null,"deposit_call":null},
{"id":"pay_01m8jexwdfdgjzvnp9w0anjgxk","chain_id":84532,"token":"0x036cbd53842c5426634e7929541ec2318f3dcf7e","from_address":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","nonce":"0x966df45ae2bd05e0c4e1222c23f87bd2534a8139760fd33234f9e0043469ce26","direction":"in","purpose":"invocation","subject_id":"req_1c1f4b07c35bba288741a6c1d8","account_id":"acc_01m8jewx4p0gg051ds249s66dq","ledger_account_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","to_address":"0x2d4371ed2de5a798dc44b4bc0666d54afbf6e804","value_micro":10000,"valid_after":0,"valid_before":1795916268,"signature":"0xcb26cd1be360694525f181138ac7f22c224541224f0ddda44402f34ab0d752a60be6881c172e09cb1455b9f5da8c6fdae5b160d1c8d8ced0c128f898c68a789e1c","fingerprint":"\\xfc9eb557abac6818e2c4ae036900629dafc17a36c028c7accfcd91b1e7c79413","x402_version":2,"state":"settled","reason":null,"transaction_hash":"0x881fbfa7a1341ada2ef93a79dc63cfdfb24fe1ee2a81fd33952d4082f17ce1eb","block_number":38,"created_at":"2026-11-29T01:32:48.971+00:00","ended_at":"2026-11-29T01:32:49.049+00:00","block_hash":"0xe391c2ec5fe21bcb9d08e425137f704c0f7fe663c7c451856863527f6938698b","lost_at":null,"client":"127.0.0.1","channel_id":null,"deposit_call":null},
{"id":"pay_01m8jey1dy3w2x4d9e3amk9fvg","chain_id":84532,"token":"0x036cbd53842c5426634e7929541ec2318f3dcf7e","from_address":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","nonce":"0xbc0994f04a8314ce936b1b07977072057171cb7c9d69d201b68fddb7a9ca3bb3","direction":"in","purpose":"invocation","subject_id":"req_0f58b699731e3f20ac7c3fef88","account_id":"acc_01m8jewx4p0gg051ds249s66dq","ledger_account_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","to_address":"0x2d4371ed2de5a798dc44b4bc0666d54afbf6e804","value_micro":20000,"valid_after":0,"valid_before":1795916273,"signature":"0x5856df388991d3fffb988d161a079c5279d03d50595175b16ed22ffa576d540a36200fed2a62261d615cf7265f0df544b1e25ccf5488dfdf198227ff0a0e6dcf1c","fingerprint":"\\xf48d29979b6067dd86ccd860d7b75b92708fcacec5447eade4e814ef2e29a8db","x402_version":2,"state":"settled","reason":null,"transaction_hash":"0xf7eb841381d102d6983d41bfed664ab1983c2c1ffc1126030f28fc0af4d72814","block_number":48,"created_at":"2026-11-29T01:32:54.089+00:00","ended_at":"2026-11-29T01:32:54.219+00:00","block_hash":"0x7073a458970480e6a44c332cb4cfd22c34bfc11a7f9d9139670e7c30eac0d35d","lost_at":null,"client":"127.0.0.1","channel_id":null,"deposit_call":null}
]');
insert into event (sequence, id, account_id, type, subject_id, data, webhook_url, needs_fan_out, created_at) overriding system value
  select sequence, id, account_id, type, subject_id, data, webhook_url, needs_fan_out, created_at from json_populate_recordset(null::event, '[
{"sequence":3629056,"id":"evt_01m8jex2bzknh58nttm1rvkx89","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"replication.status","subject_id":"0x2d4371ed2de5a798dc44b4bc0666d54afbf6e804","data":{"nodeId":"0x2d4371ed2de5a798dc44b4bc0666d54afbf6e804","label":"kept","state":"live","block":2,"lagBlocks":0},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:21.151+00:00"},
{"sequence":3710976,"id":"evt_01m8jex4kp89jbtxbdzv6cbhea","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.verified","subject_id":"agt_g1m8jewxamyf94h0jntdg350k2","data":{"id":"agt_g1m8jewxamyf94h0jntdg350k2","name":"Echo","description":"Sends back the task and the input that it was given. Good for trying out a node.","capabilities":["echo"],"rates":{"perRequest":"0.01","perHour":"0.01","tiers":{"basic":"0.01","premium":"0.01","enterprise":"0.01"}},"owner":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","reputation":346,"totalRequests":0,"successRate":0,"avgResponseTime":"0s","uptime":0,"verified":true,"online":true,"endpoint":"http://127.0.0.1:42863/","lastSeen":"2026-11-29T01:32:24.460Z","createdAt":"2026-11-29T01:32:17.108Z","status":"online","location":"kept","metadata":{},"updatedAt":"2026-11-29T01:32:17.108Z","frozen":false},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:24.492+00:00"},
{"sequence":3710977,"id":"evt_01m8jex4kpfhejzt77dgwv5t5h","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.online","subject_id":"agt_g1m8jewxamyf94h0jntdg350k2","data":{"id":"agt_g1m8jewxamyf94h0jntdg350k2","name":"Echo","description":"Sends back the task and the input that it was given. Good for trying out a node.","capabilities":["echo"],"rates":{"perRequest":"0.01","perHour":"0.01","tiers":{"basic":"0.01","premium":"0.01","enterprise":"0.01"}},"owner":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","reputation":346,"totalRequests":0,"successRate":0,"avgResponseTime":"0s","uptime":0,"verified":true,"online":true,"endpoint":"http://127.0.0.1:42863/","lastSeen":"2026-11-29T01:32:24.460Z","createdAt":"2026-11-29T01:32:17.108Z","status":"online","location":"kept","metadata":{},"updatedAt":"2026-11-29T01:32:17.108Z","frozen":false},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:24.492+00:00"},
{"sequence":3735552,"id":"evt_01m8jex4sngrd53ahv8d98327a","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.verified","subject_id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","data":{"id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","name":"Text Analyst","description":"Counts words and sentences, finds keywords and summarises English text with its own sentences. Send the text as the task, or in the field text of the input.","capabilities":["text-analysis","keyword-extraction","summarization"],"rates":{"perRequest":"0.05","perHour":"0.05","tiers":{"basic":"0.05","premium":"0.05","enterprise":"0.05"}},"owner":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","reputation":346,"totalRequests":0,"successRate":0,"avgResponseTime":"0s","uptime":0,"verified":true,"online":true,"endpoint":"http://127.0.0.1:39037/","lastSeen":"2026-11-29T01:32:24.683Z","createdAt":"2026-11-29T01:32:17.110Z","status":"online","location":"kept","metadata":{},"updatedAt":"2026-11-29T01:32:17.110Z","frozen":false},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:24.696+00:00"},
{"sequence":3735553,"id":"evt_01m8jex4snq2a4faxgyyv8qj9y","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.online","subject_id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","data":{"id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","name":"Text Analyst","description":"Counts words and sentences, finds keywords and summarises English text with its own sentences. Send the text as the task, or in the field text of the input.","capabilities":["text-analysis","keyword-extraction","summarization"],"rates":{"perRequest":"0.05","perHour":"0.05","tiers":{"basic":"0.05","premium":"0.05","enterprise":"0.05"}},"owner":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","reputation":346,"totalRequests":0,"successRate":0,"avgResponseTime":"0s","uptime":0,"verified":true,"online":true,"endpoint":"http://127.0.0.1:39037/","lastSeen":"2026-11-29T01:32:24.683Z","createdAt":"2026-11-29T01:32:17.110Z","status":"online","location":"kept","metadata":{},"updatedAt":"2026-11-29T01:32:17.110Z","frozen":false},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:24.696+00:00"},
{"sequence":3760128,"id":"evt_01m8jex57gq34ne947fz4mv9f8","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.verified","subject_id":"agt_g1m8jewxappb352cwcvt7jvy2g","data":{"id":"agt_g1m8jewxappb352cwcvt7jvy2g","name":"Case Converter","description":"Writes words in camelCase, snake_case, kebab-case and Title Case. Free: anybody can try it, without an account.","capabilities":["case-conversion"],"rates":{"perRequest":"0.00","perHour":"0.00","tiers":{"basic":"0.00","premium":"0.00","enterprise":"0.00"}},"owner":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","reputation":346,"totalRequests":0,"successRate":0,"avgResponseTime":"0s","uptime":0,"verified":true,"online":true,"endpoint":"http://127.0.0.1:46665/","lastSeen":"2026-11-29T01:32:24.995Z","createdAt":"2026-11-29T01:32:17.110Z","status":"online","location":"kept","metadata":{},"updatedAt":"2026-11-29T01:32:17.110Z","frozen":false},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:25.031+00:00"},
{"sequence":3760129,"id":"evt_01m8jex57gnxjwk8f8tfgbprvf","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.online","subject_id":"agt_g1m8jewxappb352cwcvt7jvy2g","data":{"id":"agt_g1m8jewxappb352cwcvt7jvy2g","name":"Case Converter","description":"Writes words in camelCase, snake_case, kebab-case and Title Case. Free: anybody can try it, without an account.","capabilities":["case-conversion"],"rates":{"perRequest":"0.00","perHour":"0.00","tiers":{"basic":"0.00","premium":"0.00","enterprise":"0.00"}},"owner":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","reputation":346,"totalRequests":0,"successRate":0,"avgResponseTime":"0s","uptime":0,"verified":true,"online":true,"endpoint":"http://127.0.0.1:46665/","lastSeen":"2026-11-29T01:32:24.995Z","createdAt":"2026-11-29T01:32:17.110Z","status":"online","location":"kept","metadata":{},"updatedAt":"2026-11-29T01:32:17.110Z","frozen":false},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:25.031+00:00"},
{"sequence":4014080,"id":"evt_01m8jex9f68r8cwns5x6jkbgyn","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"payment.confirmed","subject_id":"pay_01m8jex93zs244ntzkssnjfnzn","data":{"paymentId":"pay_01m8jex93zs244ntzkssnjfnzn","type":"x402","amount":"0.01","status":"confirmed","requestId":"req_01m8jex8tm4hxveph57rb2c2r9","transactionHash":"0x1cb328b2f4686c12a2ae0cc173c09ceff7bacb47d879a999a3c3914b4208894e","createdAt":"2026-11-29T01:32:29.366Z"},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:29.533+00:00"},
{"sequence":4030464,"id":"evt_01m8jex9hjxzaxde2d315q7ezy","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"invocation.completed","subject_id":"req_01m8jex8tm4hxveph57rb2c2r9","data":null,"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:29.613+00:00"},
{"sequence":4243456,"id":"evt_01m8jexdffemz7sss28kh0yamn","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"payment.confirmed","subject_id":"pay_01m8jexd6jk77jjrwyy27g04pq","data":{"paymentId":"pay_01m8jexd6jk77jjrwyy27g04pq","type":"x402","amount":"0.01","status":"confirmed","requestId":"req_01m8jexd6jjdtx8c6pygxpagdy","transactionHash":"0x3c28cb2e177429acf117cc128d9fe89e5279af65d045c0dd389d5cff29e76acd","createdAt":"2026-11-29T01:32:33.419Z"},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:33.639+00:00"},
{"sequence":4263936,"id":"evt_01m8jexdkfxgpx0vf2ys45m98t","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"invocation.completed","subject_id":"req_01m8jexd6jjdtx8c6pygxpagdy","data":null,"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:33.761+00:00"},
{"sequence":4648960,"id":"evt_01m8jexn1frfhj64dwarq25t01","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"payment.confirmed","subject_id":"pay_01m8jexmmy48cf2ymancktnxfv","data":{"paymentId":"pay_01m8jexmmy48cf2ymancktnxfv","type":"deposit","amount":"1.00","status":"confirmed","requestId":null,"transactionHash":"0x798f8f2798bf776d344a59a395d5865a051f6d7dd39f13180725e3ebd6c13f99","createdAt":"2026-11-29T01:32:41.090Z"},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:41.376+00:00"},
{"sequence":4694016,"id":"evt_01m8jexnd6mp5f94vkm923zdsc","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"invocation.completed","subject_id":"req_698816c22007e31237bf9899d3","data":null,"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:41.749+00:00"},
{"sequence":5029888,"id":"evt_01m8jexvjt96pk5n71d4zwe895","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.verified","subject_id":"agt_g1m8jexv8wkamk18myb0gn93mz","data":{"id":"agt_g1m8jexv8wkamk18myb0gn93mz","name":"Poet","description":"Writes one line about bees, word by word.","capabilities":["poetry"],"rates":{"perRequest":"0.01","perHour":"0.01","tiers":{"basic":"0.01","premium":"0.01","enterprise":"0.01"}},"owner":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","reputation":346,"totalRequests":0,"successRate":0,"avgResponseTime":"0s","uptime":0,"verified":true,"online":true,"endpoint":"http://127.0.0.1:37321/","lastSeen":"2026-11-29T01:32:47.960Z","createdAt":"2026-11-29T01:32:47.772Z","status":"online","location":"kept","metadata":{},"updatedAt":"2026-11-29T01:32:47.772Z","frozen":false},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:48.003+00:00"},
{"sequence":5029889,"id":"evt_01m8jexvjt1vfjg8nay2d939ym","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.online","subject_id":"agt_g1m8jexv8wkamk18myb0gn93mz","data":{"id":"agt_g1m8jexv8wkamk18myb0gn93mz","name":"Poet","description":"Writes one line about bees, word by word.","capabilities":["poetry"],"rates":{"perRequest":"0.01","perHour":"0.01","tiers":{"basic":"0.01","premium":"0.01","enterprise":"0.01"}},"owner":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","reputation":346,"totalRequests":0,"successRate":0,"avgResponseTime":"0s","uptime":0,"verified":true,"online":true,"endpoint":"http://127.0.0.1:37321/","lastSeen":"2026-11-29T01:32:47.960Z","createdAt":"2026-11-29T01:32:47.772Z","status":"online","location":"kept","metadata":{},"updatedAt":"2026-11-29T01:32:47.772Z","frozen":false},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:48.003+00:00"},
{"sequence":5103616,"id":"evt_01m8jexwh2kfb4d2fzgwrm3n6d","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"payment.confirmed","subject_id":"pay_01m8jexwdfdgjzvnp9w0anjgxk","data":{"paymentId":"pay_01m8jexwdfdgjzvnp9w0anjgxk","type":"x402","amount":"0.01","status":"confirmed","requestId":"req_1c1f4b07c35bba288741a6c1d8","transactionHash":"0x881fbfa7a1341ada2ef93a79dc63cfdfb24fe1ee2a81fd33952d4082f17ce1eb","createdAt":"2026-11-29T01:32:48.971Z"},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:49.049+00:00"},
{"sequence":5165056,"id":"evt_01m8jexwtqdnbmmjykx8j8fd4r","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"invocation.completed","subject_id":"req_1c1f4b07c35bba288741a6c1d8","data":null,"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:49.354+00:00"},
{"sequence":5214208,"id":"evt_01m8jexx53gtc9x4eqmhhr8nyt","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.removed","subject_id":"agt_g1m8jexv8wkamk18myb0gn93mz","data":{"id":"agt_g1m8jexv8wkamk18myb0gn93mz","unregistered":true,"finalBlock":39},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:49.681+00:00"},
{"sequence":5451776,"id":"evt_01m8jey0wvx8a573b2s81nshv3","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.verified","subject_id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","data":{"id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","name":"Dice","description":"Rolls a die with as many sides as you like.","capabilities":["dice"],"rates":{"perRequest":"0.02","perHour":"0.02","tiers":{"basic":"0.02","premium":"0.02","enterprise":"0.02"}},"owner":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","reputation":344,"totalRequests":0,"successRate":0,"avgResponseTime":"0s","uptime":0,"verified":true,"online":true,"endpoint":"http://127.0.0.1:34809/","lastSeen":"2026-11-29T01:32:53.423Z","createdAt":"2026-11-29T01:32:53.080Z","status":"online","location":"kept","metadata":{},"updatedAt":"2026-11-29T01:32:53.080Z","frozen":false},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:53.466+00:00"},
{"sequence":5451777,"id":"evt_01m8jey0wv23cdjkdnzzgqp483","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.online","subject_id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","data":{"id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","name":"Dice","description":"Rolls a die with as many sides as you like.","capabilities":["dice"],"rates":{"perRequest":"0.02","perHour":"0.02","tiers":{"basic":"0.02","premium":"0.02","enterprise":"0.02"}},"owner":"0xfd842ef5d52a7c675b1b6e7cb85a4ceed9f08b03","reputation":344,"totalRequests":0,"successRate":0,"avgResponseTime":"0s","uptime":0,"verified":true,"online":true,"endpoint":"http://127.0.0.1:34809/","lastSeen":"2026-11-29T01:32:53.423Z","createdAt":"2026-11-29T01:32:53.080Z","status":"online","location":"kept","metadata":{},"updatedAt":"2026-11-29T01:32:53.080Z","frozen":false},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:53.466+00:00"},
{"sequence":5533696,"id":"evt_01m8jey1jvpfd8wppm3pmafq48","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"payment.confirmed","subject_id":"pay_01m8jey1dy3w2x4d9e3amk9fvg","data":{"paymentId":"pay_01m8jey1dy3w2x4d9e3amk9fvg","type":"x402","amount":"0.02","status":"confirmed","requestId":"req_0f58b699731e3f20ac7c3fef88","transactionHash":"0xf7eb841381d102d6983d41bfed664ab1983c2c1ffc1126030f28fc0af4d72814","createdAt":"2026-11-29T01:32:54.089Z"},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:54.219+00:00"},
{"sequence":5550080,"id":"evt_01m8jey1nwp7kry3es2x0gx5d9","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"invocation.completed","subject_id":"req_0f58b699731e3f20ac7c3fef88","data":null,"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:54.321+00:00"},
{"sequence":5595136,"id":"evt_01m8jey1v285arztk3n6yy2s7g","account_id":"acc_01m8jewx4p0gg051ds249s66dq","type":"agent.removed","subject_id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","data":{"id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","unregistered":true,"finalBlock":49},"webhook_url":null,"needs_fan_out":false,"created_at":"2026-11-29T01:32:54.488+00:00"}
]');
insert into event_clock (only_row, xid_offset) overriding system value
  select only_row, xid_offset from json_populate_recordset(null::event_clock, '[
{"only_row":true,"xid_offset":0}
]');
insert into hold (id, ledger_account_id, amount_micro, captured_micro, created_at, ended_at, expires_at) overriding system value
  select id, ledger_account_id, amount_micro, captured_micro, created_at, ended_at, expires_at from json_populate_recordset(null::hold, '[
{"id":"req_01m8jex8tm4hxveph57rb2c2r9","ledger_account_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":10000,"captured_micro":10000,"created_at":"2026-11-29T01:32:29.571+00:00","ended_at":"2026-11-29T01:32:29.613+00:00","expires_at":"2026-11-29T01:52:29.183+00:00"},
{"id":"req_01m8jexd6jjdtx8c6pygxpagdy","ledger_account_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":10000,"captured_micro":10000,"created_at":"2026-11-29T01:32:33.698+00:00","ended_at":"2026-11-29T01:32:33.761+00:00","expires_at":"2026-11-29T01:52:33.362+00:00"},
{"id":"req_0f58b699731e3f20ac7c3fef88","ledger_account_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":20000,"captured_micro":20000,"created_at":"2026-11-29T01:32:54.279+00:00","ended_at":"2026-11-29T01:32:54.321+00:00","expires_at":"2026-11-29T01:52:54.077+00:00"},
{"id":"req_1c1f4b07c35bba288741a6c1d8","ledger_account_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":10000,"captured_micro":10000,"created_at":"2026-11-29T01:32:49.08+00:00","ended_at":"2026-11-29T01:32:49.354+00:00","expires_at":"2026-11-29T01:57:48.943+00:00"},
{"id":"req_698816c22007e31237bf9899d3","ledger_account_id":"trs_01m8jexknedt77g09711h3gbhm","amount_micro":50000,"captured_micro":50000,"created_at":"2026-11-29T01:32:41.618+00:00","ended_at":"2026-11-29T01:32:41.749+00:00","expires_at":"2026-11-29T01:57:41.602+00:00"}
]');
insert into invocation (id, account_id, caller_agent_id, agent_id, task, input, context, metadata, priority, price_micro, estimated_time, deadline, payment_method, payer_ledger_id, payment_hash, status, worker, attempt, result, cost_micro, refund_micro, error_code, error_message, created_at, started_at, completed_at, bulk_id, webhook_url, is_streamed, billed_micro, budget_id, promised_micro, returned_micro, requested_agent_id, content_removed_at, cancel_reason, chosen, content_hashes, types_id, capability, caller_kind, face, counted_bytes, task_hash) overriding system value
  select id, account_id, caller_agent_id, agent_id, task, input, context, metadata, priority, price_micro, estimated_time, deadline, payment_method, payer_ledger_id, payment_hash, status, worker, attempt, result, cost_micro, refund_micro, error_code, error_message, created_at, started_at, completed_at, bulk_id, webhook_url, is_streamed, billed_micro, budget_id, promised_micro, returned_micro, requested_agent_id, content_removed_at, cancel_reason, chosen, content_hashes, types_id, capability, caller_kind, face, counted_bytes, task_hash from json_populate_recordset(null::invocation, '[
{"id":"req_01m8jex8tm4hxveph57rb2c2r9","account_id":"acc_01m8jewx4p0gg051ds249s66dq","caller_agent_id":null,"agent_id":"agt_g1m8jewxamyf94h0jntdg350k2","task":"say hello","input":{"to":"world"},"context":null,"metadata":{},"priority":"normal","price_micro":10000,"estimated_time":"1-30s","deadline":"2026-11-29T01:37:29.183+00:00","payment_method":"x402","payer_ledger_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","payment_hash":"0x1cb328b2f4686c12a2ae0cc173c09ceff7bacb47d879a999a3c3914b4208894e","status":"completed","worker":"cf82ad9f-3fb3-4dc8-ab29-f1ba1a9da897","attempt":1,"result":{"echo":{"task":"say hello","input":{"to":"world"}}},"cost_micro":10000,"refund_micro":0,"error_code":null,"error_message":null,"created_at":"2026-11-29T01:32:29.324+00:00","started_at":"2026-11-29T01:32:29.571+00:00","completed_at":"2026-11-29T01:32:29.613+00:00","bulk_id":null,"webhook_url":null,"is_streamed":false,"billed_micro":null,"budget_id":null,"promised_micro":null,"returned_micro":0,"requested_agent_id":null,"content_removed_at":null,"cancel_reason":null,"chosen":null,"content_hashes":"\\x3f4306a2bc2a61f3d371e4f71aa1fd0dcec7bf99ca17e11ee6046ede6315621674234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90bde15e8408030aab2badd2832116b9b5786c5e8e9507ca52e6745f8cab348dcbe","types_id":null,"capability":null,"caller_kind":"account","face":"rest","counted_bytes":77,"task_hash":null},
{"id":"req_01m8jexd6jjdtx8c6pygxpagdy","account_id":"acc_01m8jewx4p0gg051ds249s66dq","caller_agent_id":null,"agent_id":"agt_g1m8jewxamyf94h0jntdg350k2","task":"say hello","input":{"version":1},"context":null,"metadata":{},"priority":"normal","price_micro":10000,"estimated_time":"1-2s","deadline":"2026-11-29T01:37:33.362+00:00","payment_method":"x402","payer_ledger_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","payment_hash":"0x3c28cb2e177429acf117cc128d9fe89e5279af65d045c0dd389d5cff29e76acd","status":"completed","worker":"cf82ad9f-3fb3-4dc8-ab29-f1ba1a9da897","attempt":1,"result":{"echo":{"task":"say hello","input":{"version":1}}},"cost_micro":10000,"refund_micro":0,"error_code":null,"error_message":null,"created_at":"2026-11-29T01:32:33.415+00:00","started_at":"2026-11-29T01:32:33.698+00:00","completed_at":"2026-11-29T01:32:33.761+00:00","bulk_id":null,"webhook_url":null,"is_streamed":false,"billed_micro":null,"budget_id":null,"promised_micro":null,"returned_micro":0,"requested_agent_id":null,"content_removed_at":null,"cancel_reason":null,"chosen":null,"content_hashes":"\\x2430f1a2ad2982d0067885488a4c89e21ad1d7c83b115ba8f1b20acc88dfaea874234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90bf869538b0a1f9b03557e2785b4fe97846c16608b85829de2a5823c0d68701035","types_id":null,"capability":null,"caller_kind":"account","face":"rest","counted_bytes":75,"task_hash":null},
{"id":"req_0f58b699731e3f20ac7c3fef88","account_id":"acc_01m8jewx4p0gg051ds249s66dq","caller_agent_id":null,"agent_id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","task":"roll","input":{"sides":20},"context":null,"metadata":{},"priority":"normal","price_micro":20000,"estimated_time":"1-30s","deadline":"2026-11-29T01:37:54.077+00:00","payment_method":"x402","payer_ledger_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","payment_hash":"0xf7eb841381d102d6983d41bfed664ab1983c2c1ffc1126030f28fc0af4d72814","status":"completed","worker":"cf82ad9f-3fb3-4dc8-ab29-f1ba1a9da897","attempt":1,"result":{"sides":20,"rolled":1},"cost_micro":20000,"refund_micro":0,"error_code":null,"error_message":null,"created_at":"2026-11-29T01:32:54.087+00:00","started_at":"2026-11-29T01:32:54.279+00:00","completed_at":"2026-11-29T01:32:54.321+00:00","bulk_id":null,"webhook_url":null,"is_streamed":false,"billed_micro":null,"budget_id":null,"promised_micro":null,"returned_micro":0,"requested_agent_id":null,"content_removed_at":null,"cancel_reason":null,"chosen":null,"content_hashes":"\\x8584fbc131f6dffde6041ea1c68ede5387c2b8bd452e980b64584f41d950767474234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b415de4398f200313c8152a9493f6d29dbd01460d4a005551244d495d510f2d63","types_id":null,"capability":null,"caller_kind":"account","face":"rest","counted_bytes":41,"task_hash":null},
{"id":"req_1c1f4b07c35bba288741a6c1d8","account_id":"acc_01m8jewx4p0gg051ds249s66dq","caller_agent_id":null,"agent_id":"agt_g1m8jexv8wkamk18myb0gn93mz","task":"a line about bees","input":{},"context":null,"metadata":{},"priority":"normal","price_micro":10000,"estimated_time":"1-30s","deadline":"2026-11-29T01:42:48.943+00:00","payment_method":"x402","payer_ledger_id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","payment_hash":"0x881fbfa7a1341ada2ef93a79dc63cfdfb24fe1ee2a81fd33952d4082f17ce1eb","status":"completed","worker":"cf82ad9f-3fb3-4dc8-ab29-f1ba1a9da897","attempt":1,"result":"Bees dance, and others read the way.","cost_micro":10000,"refund_micro":0,"error_code":null,"error_message":null,"created_at":"2026-11-29T01:32:48.97+00:00","started_at":"2026-11-29T01:32:49.08+00:00","completed_at":"2026-11-29T01:32:49.354+00:00","bulk_id":null,"webhook_url":null,"is_streamed":true,"billed_micro":null,"budget_id":null,"promised_micro":null,"returned_micro":0,"requested_agent_id":null,"content_removed_at":null,"cancel_reason":null,"chosen":null,"content_hashes":"\\x44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b52d6297f48a04abd626d4223f1efd8f8dd77fc68adac8aebf1709b90ed4d2929","types_id":null,"capability":null,"caller_kind":"account","face":"rest","counted_bytes":59,"task_hash":null},
{"id":"req_698816c22007e31237bf9899d3","account_id":"acc_01m8jewx4p0gg051ds249s66dq","caller_agent_id":null,"agent_id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","task":"Summarise this text","input":{"text":"Honey bees tell each other where food is by dancing. A bee that has found flowers comes home and runs in a\nfigure of eight on the comb. The angle of her run shows the direction of the flowers, measured from the sun. The length\nof the run shows how far away the flowers are. Other bees follow the dance, fly out and find the flowers themselves.","summarySentences":2},"context":null,"metadata":{},"priority":"normal","price_micro":50000,"estimated_time":"1-30s","deadline":"2026-11-29T01:42:41.602+00:00","payment_method":"treasury","payer_ledger_id":"trs_01m8jexknedt77g09711h3gbhm","payment_hash":null,"status":"completed","worker":"cf82ad9f-3fb3-4dc8-ab29-f1ba1a9da897","attempt":1,"result":{"counts":{"words":67,"sentences":5,"paragraphs":1,"characters":343,"charactersWithoutSpaces":277},"readingTime":"17s","keywords":[{"phrase":"found flowers comes home","count":1,"score":13.75},{"phrase":"honey bees tell","count":1,"score":8.5},{"phrase":"run shows","count":2,"score":6.77},{"phrase":"bees follow","count":1,"score":4.5},{"phrase":"flowers","count":3,"score":3.67},{"phrase":"angle","count":1,"score":1},{"phrase":"bee","count":1,"score":1},{"phrase":"comb","count":1,"score":1},{"phrase":"dance","count":1,"score":1},{"phrase":"dancing","count":1,"score":1}],"summary":"Honey bees tell each other where food is by dancing. The length of the run shows how far away the flowers are."},"cost_micro":50000,"refund_micro":0,"error_code":null,"error_message":null,"created_at":"2026-11-29T01:32:41.614+00:00","started_at":"2026-11-29T01:32:41.614+00:00","completed_at":"2026-11-29T01:32:41.749+00:00","bulk_id":null,"webhook_url":null,"is_streamed":false,"billed_micro":null,"budget_id":null,"promised_micro":null,"returned_micro":0,"requested_agent_id":null,"content_removed_at":null,"cancel_reason":null,"chosen":null,"content_hashes":"\\xe3df83fbda6551d8f2a9c693d1918322edc430d0cd1af59016d2d03d56482c2a74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b50b834b7c203c10014eeafdaca7621426e5dc863a99e1cd66a1c8553f6695a68","types_id":null,"capability":null,"caller_kind":"account","face":"rest","counted_bytes":1097,"task_hash":null}
]');
insert into invocation_chunk (invocation_id, "position", type, data, created_at, bytes) overriding system value
  select invocation_id, "position", type, data, created_at, bytes from json_populate_recordset(null::invocation_chunk, '[
{"invocation_id":"req_1c1f4b07c35bba288741a6c1d8","position":1,"type":"invocation.chunk","data":{"chunk":"Bees "},"created_at":"2026-11-29T01:32:49.107+00:00","bytes":17},
{"invocation_id":"req_1c1f4b07c35bba288741a6c1d8","position":2,"type":"invocation.chunk","data":{"chunk":"dance, "},"created_at":"2026-11-29T01:32:49.142+00:00","bytes":19},
{"invocation_id":"req_1c1f4b07c35bba288741a6c1d8","position":3,"type":"invocation.chunk","data":{"chunk":"and "},"created_at":"2026-11-29T01:32:49.195+00:00","bytes":16},
{"invocation_id":"req_1c1f4b07c35bba288741a6c1d8","position":4,"type":"invocation.chunk","data":{"chunk":"others "},"created_at":"2026-11-29T01:32:49.22+00:00","bytes":19},
{"invocation_id":"req_1c1f4b07c35bba288741a6c1d8","position":5,"type":"invocation.status","data":{"percent":50},"created_at":"2026-11-29T01:32:49.247+00:00","bytes":14},
{"invocation_id":"req_1c1f4b07c35bba288741a6c1d8","position":6,"type":"invocation.chunk","data":{"chunk":"read "},"created_at":"2026-11-29T01:32:49.247+00:00","bytes":17},
{"invocation_id":"req_1c1f4b07c35bba288741a6c1d8","position":7,"type":"invocation.chunk","data":{"chunk":"the "},"created_at":"2026-11-29T01:32:49.271+00:00","bytes":16},
{"invocation_id":"req_1c1f4b07c35bba288741a6c1d8","position":8,"type":"invocation.chunk","data":{"chunk":"way."},"created_at":"2026-11-29T01:32:49.289+00:00","bytes":16}
]');
insert into ledger_account (id, kind, account_id, agent_id, address, label, posted_micro, held_micro, created_at, entries, last_entry_at, frozen_at) overriding system value
  select id, kind, account_id, agent_id, address, label, posted_micro, held_micro, created_at, entries, last_entry_at, frozen_at from json_populate_recordset(null::ledger_account, '[
{"id":"claimed","kind":"claimed","account_id":null,"agent_id":null,"address":null,"label":null,"posted_micro":0,"held_micro":0,"created_at":"2026-11-29T01:32:14.092171+00:00","entries":0,"last_entry_at":null,"frozen_at":null},
{"id":"fees","kind":"fees","account_id":null,"agent_id":null,"address":null,"label":null,"posted_micro":0,"held_micro":0,"created_at":"2026-11-29T01:32:13.157754+00:00","entries":0,"last_entry_at":null,"frozen_at":null},
{"id":"loss","kind":"loss","account_id":null,"agent_id":null,"address":null,"label":null,"posted_micro":0,"held_micro":0,"created_at":"2026-11-29T01:32:13.157754+00:00","entries":0,"last_entry_at":null,"frozen_at":null},
{"id":"outgoing","kind":"outgoing","account_id":null,"agent_id":null,"address":null,"label":null,"posted_micro":0,"held_micro":0,"created_at":"2026-11-29T01:32:12.470687+00:00","entries":0,"last_entry_at":null,"frozen_at":null},
{"id":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","kind":"payer","account_id":null,"agent_id":null,"address":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","label":null,"posted_micro":0,"held_micro":0,"created_at":"2026-11-29T01:32:29.324+00:00","entries":8,"last_entry_at":"2026-11-29T01:32:54.321+00:00","frozen_at":null},
{"id":"trs_01m8jexknedt77g09711h3gbhm","kind":"treasury","account_id":"acc_01m8jewx4p0gg051ds249s66dq","agent_id":null,"address":null,"label":null,"posted_micro":950000,"held_micro":0,"created_at":"2026-11-29T01:32:39.982+00:00","entries":2,"last_entry_at":"2026-11-29T01:32:41.749+00:00","frozen_at":null},
{"id":"trs_g1m8jewxamyf94h0jntdg350k2","kind":"agent","account_id":"acc_01m8jewx4p0gg051ds249s66dq","agent_id":"agt_g1m8jewxamyf94h0jntdg350k2","address":null,"label":null,"posted_micro":20000,"held_micro":0,"created_at":"2026-11-29T01:32:17.108+00:00","entries":2,"last_entry_at":"2026-11-29T01:32:33.761+00:00","frozen_at":null},
{"id":"trs_g1m8jewxappb352cwcvt7jvy2g","kind":"agent","account_id":"acc_01m8jewx4p0gg051ds249s66dq","agent_id":"agt_g1m8jewxappb352cwcvt7jvy2g","address":null,"label":null,"posted_micro":0,"held_micro":0,"created_at":"2026-11-29T01:32:17.11+00:00","entries":0,"last_entry_at":null,"frozen_at":null},
{"id":"trs_g1m8jewxapqx0zmwg1gh9ysm4b","kind":"agent","account_id":"acc_01m8jewx4p0gg051ds249s66dq","agent_id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","address":null,"label":null,"posted_micro":50000,"held_micro":0,"created_at":"2026-11-29T01:32:17.11+00:00","entries":1,"last_entry_at":"2026-11-29T01:32:41.749+00:00","frozen_at":null},
{"id":"trs_g1m8jexv8wkamk18myb0gn93mz","kind":"agent","account_id":"acc_01m8jewx4p0gg051ds249s66dq","agent_id":"agt_g1m8jexv8wkamk18myb0gn93mz","address":null,"label":null,"posted_micro":10000,"held_micro":0,"created_at":"2026-11-29T01:32:47.772+00:00","entries":1,"last_entry_at":"2026-11-29T01:32:49.354+00:00","frozen_at":null},
{"id":"trs_g1m8jey0ers6sgnp7xjryfs8y3","kind":"agent","account_id":"acc_01m8jewx4p0gg051ds249s66dq","agent_id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","address":null,"label":null,"posted_micro":20000,"held_micro":0,"created_at":"2026-11-29T01:32:53.08+00:00","entries":1,"last_entry_at":"2026-11-29T01:32:54.321+00:00","frozen_at":null},
{"id":"vouchers","kind":"vouchers","account_id":null,"agent_id":null,"address":null,"label":null,"posted_micro":0,"held_micro":0,"created_at":"2026-11-29T01:32:14.092171+00:00","entries":0,"last_entry_at":null,"frozen_at":null},
{"id":"wallet","kind":"wallet","account_id":null,"agent_id":null,"address":null,"label":null,"posted_micro":0,"held_micro":0,"created_at":"2026-11-29T01:32:12.470687+00:00","entries":0,"last_entry_at":null,"frozen_at":null}
]');
insert into ledger_total (kind, change_micro, is_folded) overriding system value
  select kind, change_micro, is_folded from json_populate_recordset(null::ledger_total, '[
{"kind":"agent","change_micro":100000,"is_folded":true},
{"kind":"payer","change_micro":0,"is_folded":true},
{"kind":"treasury","change_micro":950000,"is_folded":true},
{"kind":"wallet","change_micro":-1050000,"is_folded":true}
]');
insert into money_audit (only_row, account_id) overriding system value
  select only_row, account_id from json_populate_recordset(null::money_audit, '[
{"only_row":true,"account_id":"wallet"}
]');
insert into outcome (request_id, agent_id, account_id, wallet, amount_micro, is_good, ended_at) overriding system value
  select request_id, agent_id, account_id, wallet, amount_micro, is_good, ended_at from json_populate_recordset(null::outcome, '[
{"request_id":"req_01m8jex8tm4hxveph57rb2c2r9","agent_id":"agt_g1m8jewxamyf94h0jntdg350k2","account_id":"acc_01m8jewx4p0gg051ds249s66dq","wallet":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":10000,"is_good":true,"ended_at":"2026-11-29T01:32:29.613+00:00"},
{"request_id":"req_01m8jexd6jjdtx8c6pygxpagdy","agent_id":"agt_g1m8jewxamyf94h0jntdg350k2","account_id":"acc_01m8jewx4p0gg051ds249s66dq","wallet":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":10000,"is_good":true,"ended_at":"2026-11-29T01:32:33.761+00:00"},
{"request_id":"req_0f58b699731e3f20ac7c3fef88","agent_id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","account_id":"acc_01m8jewx4p0gg051ds249s66dq","wallet":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":20000,"is_good":true,"ended_at":"2026-11-29T01:32:54.321+00:00"},
{"request_id":"req_1c1f4b07c35bba288741a6c1d8","agent_id":"agt_g1m8jexv8wkamk18myb0gn93mz","account_id":"acc_01m8jewx4p0gg051ds249s66dq","wallet":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":10000,"is_good":true,"ended_at":"2026-11-29T01:32:49.354+00:00"},
{"request_id":"req_698816c22007e31237bf9899d3","agent_id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","account_id":"acc_01m8jewx4p0gg051ds249s66dq","wallet":"","amount_micro":50000,"is_good":true,"ended_at":"2026-11-29T01:32:41.749+00:00"}
]');
insert into outcome_day (agent_id, account_id, wallet, day, good_micro, bad_micro, good_calls, bad_calls) overriding system value
  select agent_id, account_id, wallet, day, good_micro, bad_micro, good_calls, bad_calls from json_populate_recordset(null::outcome_day, '[
{"agent_id":"agt_g1m8jewxamyf94h0jntdg350k2","account_id":"acc_01m8jewx4p0gg051ds249s66dq","wallet":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","day":"2026-11-29","good_micro":20000,"bad_micro":0,"good_calls":2,"bad_calls":0},
{"agent_id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","account_id":"acc_01m8jewx4p0gg051ds249s66dq","wallet":"","day":"2026-11-29","good_micro":50000,"bad_micro":0,"good_calls":1,"bad_calls":0},
{"agent_id":"agt_g1m8jexv8wkamk18myb0gn93mz","account_id":"acc_01m8jewx4p0gg051ds249s66dq","wallet":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","day":"2026-11-29","good_micro":10000,"bad_micro":0,"good_calls":1,"bad_calls":0},
{"agent_id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","account_id":"acc_01m8jewx4p0gg051ds249s66dq","wallet":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d","day":"2026-11-29","good_micro":20000,"bad_micro":0,"good_calls":1,"bad_calls":0}
]');
insert into payer_agent (account_id, agent_id, paid_micro, first_paid_at) overriding system value
  select account_id, agent_id, paid_micro, first_paid_at from json_populate_recordset(null::payer_agent, '[
{"account_id":"acc_01m8jewx4p0gg051ds249s66dq","agent_id":"agt_g1m8jewxamyf94h0jntdg350k2","paid_micro":20000,"first_paid_at":"2026-11-29T01:32:29.613+00:00"},
{"account_id":"acc_01m8jewx4p0gg051ds249s66dq","agent_id":"agt_g1m8jewxapqx0zmwg1gh9ysm4b","paid_micro":50000,"first_paid_at":"2026-11-29T01:32:41.749+00:00"},
{"account_id":"acc_01m8jewx4p0gg051ds249s66dq","agent_id":"agt_g1m8jexv8wkamk18myb0gn93mz","paid_micro":10000,"first_paid_at":"2026-11-29T01:32:49.354+00:00"},
{"account_id":"acc_01m8jewx4p0gg051ds249s66dq","agent_id":"agt_g1m8jey0ers6sgnp7xjryfs8y3","paid_micro":20000,"first_paid_at":"2026-11-29T01:32:54.321+00:00"}
]');
insert into payer_wallet (account_id, wallet) overriding system value
  select account_id, wallet from json_populate_recordset(null::payer_wallet, '[
{"account_id":"acc_01m8jewx4p0gg051ds249s66dq","wallet":"0xf436f9f89c119a75e8e1ce62bed107e9526e022d"}
]');
insert into replica_forgotten (is_only, xid) overriding system value
  select is_only, xid from json_populate_recordset(null::replica_forgotten, '[
{"is_only":true,"xid":"0"}
]');
insert into reserves_watch (only_row, drifted_checks, is_told) overriding system value
  select only_row, drifted_checks, is_told from json_populate_recordset(null::reserves_watch, '[
{"only_row":true,"drifted_checks":0,"is_told":false}
]');
insert into schema_migration (version, name, checksum, applied_at, needs) overriding system value
  select version, name, checksum, applied_at, needs from json_populate_recordset(null::schema_migration, '[
{"version":1,"name":"0001-processes","checksum":"bab8dbf4fc1ecf7c168b0e6745059bdf3b88d56b1f9f99f2ae3a8020d56a7248","applied_at":"2026-11-29T01:32:12.293968+00:00","needs":null},
{"version":10,"name":"0010-withdrawals","checksum":"a4a1bdc0454e617c345670146edda3a768570d56ef398017c532b607300aaa17","applied_at":"2026-11-29T01:32:12.844993+00:00","needs":null},
{"version":100,"name":"0100-agent-faults","checksum":"361435c8c5ee79f697e1eeac9f73100725cd2ce71e6413799de0534bf4c11464","applied_at":"2026-11-29T01:32:14.471585+00:00","needs":null},
{"version":101,"name":"0101-database-holes","checksum":"609d34030c643af6579ae0de1d0496ad68f2f91d2a1d0e47ccd7740fc111334a","applied_at":"2026-11-29T01:32:14.475468+00:00","needs":null},
{"version":102,"name":"0102-found-payouts","checksum":"3c7a47676fbecdd41f1b2d8f398227d23ac5c4e6ff7b244b41dce09be58d1d04","applied_at":"2026-11-29T01:32:14.490291+00:00","needs":null},
{"version":106,"name":"0106-processes","checksum":"beb2dc49bf9f9a3b136aefc0fa8a3b09705fe61c33912020b077ea5bc177e2b1","applied_at":"2026-11-29T01:32:14.522598+00:00","needs":null},
{"version":108,"name":"0108-lists-of-long-histories","checksum":"5bfa1ac19a245da2bb8339c1036a55ae59b05c049d9a27303c72e8687dea191b","applied_at":"2026-11-29T01:32:14.531035+00:00","needs":null},
{"version":11,"name":"0011-streams-bulk","checksum":"5ed39147cd91e4bf4c61c3edb7e846fc8e3a5a078dfc2c12f440deec1c09df6e","applied_at":"2026-11-29T01:32:12.858275+00:00","needs":null},
{"version":112,"name":"0112-readable-metadata","checksum":"6317f6f96a4e5afc8d4edcc6c50c88ccff3be1872455530a56eb0fa33aece598","applied_at":"2026-11-29T01:32:14.549758+00:00","needs":null},
{"version":113,"name":"0113-heap-only-channels","checksum":"2aff2ec50457f3841709e4e18154b23e95763af65a0cbe32dac8d1df0bfa8d45","applied_at":"2026-11-29T01:32:14.557671+00:00","needs":null},
{"version":114,"name":"0114-dead-keys","checksum":"9dfcf001a3cf70be30c7bc90ba7bd6449dfd0c98591344a5eb752c7899486030","applied_at":"2026-11-29T01:32:14.595788+00:00","needs":null},
{"version":115,"name":"0115-cost-of-unsuccessful-calls","checksum":"7dc0e5a921b0a4019ecc5ba030d2e7213923aefb9fa618ed85f9fd5501b1a43d","applied_at":"2026-11-29T01:32:14.610215+00:00","needs":null},
{"version":116,"name":"0116-types-of-removed-agents","checksum":"1db95a974dca778d0419c696280457524889accf294e03ba19e048c4549c1c66","applied_at":"2026-11-29T01:32:14.622256+00:00","needs":null},
{"version":117,"name":"0117-counted-bytes","checksum":"88d92dc1703ab8b97c3fd65210d111c065037b19b7d2dc632ca2bd687a7c873a","applied_at":"2026-11-29T01:32:14.639064+00:00","needs":null},
{"version":118,"name":"0118-bills-by-age","checksum":"eae0b10172f033added764a07c82c20f2059180981f423c0f5d808ad36e1cfc5","applied_at":"2026-11-29T01:32:14.646116+00:00","needs":null},
{"version":12,"name":"0012-idempotency","checksum":"bf8d457495ba987cabc657f7c0d9cb78b3a231344a70153b0446eba8e7e8e34d","applied_at":"2026-11-29T01:32:12.901764+00:00","needs":null},
{"version":13,"name":"0013-key-roll","checksum":"551459d796329cfdb084547d516905ed01ce02451ee8795012ddce927f7156d0","applied_at":"2026-11-29T01:32:12.913697+00:00","needs":null},
{"version":14,"name":"0014-search-bits","checksum":"779f1b27f00e7f66056ad84e5c51d235758f73d6d1e3b54f629b15e90cfac148","applied_at":"2026-11-29T01:32:12.930146+00:00","needs":null},
{"version":15,"name":"0015-kept-headers","checksum":"e4115d0fc9a4c1cb19f6d141d46955337de3d4d4b6793e6886dde09b7f231fd7","applied_at":"2026-11-29T01:32:13.093817+00:00","needs":null},
{"version":16,"name":"0016-settlement-engine","checksum":"67b62c8b3ffda170fb2b7b510118b293934188c1aca99f77bbd36e6c59ba485f","applied_at":"2026-11-29T01:32:13.116056+00:00","needs":null},
{"version":17,"name":"0017-books","checksum":"46ef08e310d0e4f50d68450a8421ec901fd77d31323aa1b10b72f5bd06daa925","applied_at":"2026-11-29T01:32:13.157754+00:00","needs":null},
{"version":18,"name":"0018-plain-deposits","checksum":"5d23870e7aaf052d6d8c0758c6f66f0ac77999a24efde47b45972730efafc169","applied_at":"2026-11-29T01:32:13.218848+00:00","needs":null},
{"version":19,"name":"0019-direct-billing","checksum":"0f1bee8bdf96e1f3ca3a52e956ce90adbec0f86a7e2f2b37d0b761c95e066127","applied_at":"2026-11-29T01:32:13.250301+00:00","needs":null},
{"version":2,"name":"0002-access","checksum":"a98c196b5e7138f6c43f3d25c5b6f50d792c029e905dc36bf8427e56875d92d9","applied_at":"2026-11-29T01:32:12.327118+00:00","needs":null},
{"version":20,"name":"0020-purchase-keys-and-limits","checksum":"e04c5e8368c3d0acde8b4ea1d379c5a3f9bf1b213a1db6ca7791d3afdba1e059","applied_at":"2026-11-29T01:32:13.27822+00:00","needs":null},
{"version":21,"name":"0021-search-levels","checksum":"3a755201a247ad49c4ed18789e636825ea1db417e17364cb07bf9adc41c4f151","applied_at":"2026-11-29T01:32:13.338009+00:00","needs":null},
{"version":23,"name":"0023-fee-payouts","checksum":"c6d9e45e61eb85ed474588643fc96e8fae089926ae0d79fe829fe242c7b0799b","applied_at":"2026-11-29T01:32:13.37859+00:00","needs":null},
{"version":24,"name":"0024-network","checksum":"c8a9167867025d854f07be4f2915dbd4bcbbac67f52df6316ebd5b79ed70f52c","applied_at":"2026-11-29T01:32:13.389249+00:00","needs":null},
{"version":25,"name":"0025-remote-calls","checksum":"24d71a07a823e444c59d0f71ded7da004933bc4d3aafdbe351580dad8eeceb09","applied_at":"2026-11-29T01:32:13.46964+00:00","needs":null},
{"version":28,"name":"0028-reputation","checksum":"e142cc5986ccb35d8b0c6c7faa4e281f8d04f77ed62cdd7e59768c42cad253c8","applied_at":"2026-11-29T01:32:13.490444+00:00","needs":null},
{"version":29,"name":"0029-registry-writes","checksum":"5d778a68e17ca42ead8de29b8af52333f051677196a8901aa5e11872618d2149","applied_at":"2026-11-29T01:32:13.561831+00:00","needs":null},
{"version":3,"name":"0003-agents","checksum":"9a386428d83fdf78968a5fecb8964134a994aad2fa951bd8bf1e8906d9f847fe","applied_at":"2026-11-29T01:32:12.386639+00:00","needs":null},
{"version":31,"name":"0031-fallback","checksum":"3494719ca8b641132f5b29b7e15ad3755183aecc7abea8645e235a2408a888ca","applied_at":"2026-11-29T01:32:13.582526+00:00","needs":null},
{"version":32,"name":"0032-sessions","checksum":"dc573a80533ccaa2c964bd081f5f3acf0db74e701bbde72d00831a2f94f44b3b","applied_at":"2026-11-29T01:32:13.586231+00:00","needs":null},
{"version":33,"name":"0033-figures","checksum":"273837bf12e5e99164df5f8120af1dda832515f4284da51e689af9dad44593ad","applied_at":"2026-11-29T01:32:13.610142+00:00","needs":null},
{"version":34,"name":"0034-agent-use","checksum":"0400d937c71e65fb5656aed581f19a09da38b33efc8accc700e73567677e882b","applied_at":"2026-11-29T01:32:13.662596+00:00","needs":null},
{"version":4,"name":"0004-ledger","checksum":"f480d90891e1382346f35bbeb7c1919817567793460e91ffc63b39ad026518f3","applied_at":"2026-11-29T01:32:12.470687+00:00","needs":null},
{"version":40,"name":"0040-price-hints","checksum":"842ff83ec4c4f56c1fc694c5d83b774ffaf2854f715831f2ab6b12fcad406334","applied_at":"2026-11-29T01:32:13.678603+00:00","needs":null},
{"version":43,"name":"0043-payer-strikes","checksum":"26ef53cd2aa7d951faa20fc0cc456986820f083e24e23f94df5d06be02b70991","applied_at":"2026-11-29T01:32:13.681958+00:00","needs":null},
{"version":44,"name":"0044-refund-limits","checksum":"bdf20c27df0abcb82dc6beb408ac34eeee3be349e515cff3eaeb6ccbe522c897","applied_at":"2026-11-29T01:32:13.693796+00:00","needs":null},
{"version":46,"name":"0046-agent-home","checksum":"a9d2d8f0e9de058a9d9dd8c620da14d78dc25170be8630ace277dbe59cd16a12","applied_at":"2026-11-29T01:32:13.706229+00:00","needs":null},
{"version":47,"name":"0047-used-challenges","checksum":"575225aa1bdc4d589508351ad04c4b4eb4041dc5da379ee4d3163d10800996bd","applied_at":"2026-11-29T01:32:13.729884+00:00","needs":null},
{"version":48,"name":"0048-node-sign-ins","checksum":"52587370de67c82f627081b42b8b2939242fe362bcafe0d70b2bfa0b5f5a15f0","applied_at":"2026-11-29T01:32:13.750756+00:00","needs":null},
{"version":49,"name":"0049-sign-in-keys","checksum":"ce8dbe55b8d2b52b767ac6da60b69cd56ba090d07fb454db8996aa198b726f7f","applied_at":"2026-11-29T01:32:13.773681+00:00","needs":null},
{"version":5,"name":"0005-chain","checksum":"82d7680c25739b38aa70009ba1ac3e71eaadec22d4985fbdda8f4f4fe62e8879","applied_at":"2026-11-29T01:32:12.509521+00:00","needs":null},
{"version":52,"name":"0052-lanes","checksum":"4ad7b8b2cde0af61bf606d1d3d12e67221a6f61d247f560f80da820c9b540648","applied_at":"2026-11-29T01:32:13.786224+00:00","needs":null},
{"version":53,"name":"0053-retention","checksum":"351ce6e579bd43fc5fd56e3ea5bec7253434abcc12631269d876d8e91bcfb8bf","applied_at":"2026-11-29T01:32:13.811178+00:00","needs":null},
{"version":56,"name":"0056-idempotency-caller","checksum":"1ba3530111dd8472e1b79d0bc836b59a560c22d07bc89be17aa98f0ddade0ce0","applied_at":"2026-11-29T01:32:13.846571+00:00","needs":null},
{"version":57,"name":"0057-unaudited-requests","checksum":"d69a651fafec4d3d4ae05ed2993be950c2d86a5a924b56c907169b926dc15356","applied_at":"2026-11-29T01:32:13.887596+00:00","needs":null},
{"version":59,"name":"0059-early-deliveries","checksum":"cb5f2814d55e0e5a0448a5dea89fb073708d062d0492abebbb110250087b0e5e","applied_at":"2026-11-29T01:32:13.900729+00:00","needs":null},
{"version":6,"name":"0006-invocations","checksum":"a4b61755e955e2c46edddc95f45097c1c525a5d6cb36cccb53366d6bec5790a2","applied_at":"2026-11-29T01:32:12.566243+00:00","needs":null},
{"version":64,"name":"0064-operator-invocations","checksum":"c41d0e5edc72a099e2195b30f40c672138b951a4c9725b5581722a7779a94afb","applied_at":"2026-11-29T01:32:13.921683+00:00","needs":null},
{"version":65,"name":"0065-first-open-transaction","checksum":"44bb20a733c4d1bb0d34bdb4f2f94957ed64f2fe4cfa00df81edceaa173d39dd","applied_at":"2026-11-29T01:32:13.929257+00:00","needs":null},
{"version":66,"name":"0066-replica-changes","checksum":"0e4ca8aa85fe2042d5f2132771651c21aa43605e7a6746d97d617fcdae15a6f0","applied_at":"2026-11-29T01:32:13.941948+00:00","needs":null},
{"version":67,"name":"0067-registry-in-memory","checksum":"e4754188ed35c7bb8df20b3ee6d59c634c9c75a1e093a9ab4998b34a4ae7a6f3","applied_at":"2026-11-29T01:32:13.97474+00:00","needs":null},
{"version":7,"name":"0007-events","checksum":"66aa089e21afee5068348e38ec51ac0ee72ea5d74f188c649d07be7fbb40cf53","applied_at":"2026-11-29T01:32:12.604551+00:00","needs":null},
{"version":70,"name":"0070-lease-batches","checksum":"46a4a744ff048ae072dc8436772a9bf8815a2de93ae5923d4751eeb2bc10c972","applied_at":"2026-11-29T01:32:13.998541+00:00","needs":null},
{"version":71,"name":"0071-keys-at-hand","checksum":"6dddd2f328f88b81136243cc1e8ab49825a8f3c8b3d3fc7ff787b1e7acdfae39","applied_at":"2026-11-29T01:32:14.010158+00:00","needs":null},
{"version":76,"name":"0076-chosen-agent","checksum":"83dbaead115a92d0c7e40bc2800facf34e667625085a4460cae625c02934bb8b","applied_at":"2026-11-29T01:32:14.021793+00:00","needs":null},
{"version":77,"name":"0077-channels","checksum":"ec73a87672568ae3e329495324b8cf93163ae678d4997506e177f2637cf4f12b","applied_at":"2026-11-29T01:32:14.030085+00:00","needs":null},
{"version":78,"name":"0078-channel-deposits","checksum":"514dc8706c8949342042af0ac370d36ea607dc909b876105e6143db0a8cc4bd2","applied_at":"2026-11-29T01:32:14.070463+00:00","needs":null},
{"version":8,"name":"0008-search","checksum":"f13a668732ced3a126d3c5c2cbedeeb52634f4b0a6d6a3877a3a9e43a46a5f85","applied_at":"2026-11-29T01:32:12.694174+00:00","needs":null},
{"version":80,"name":"0080-channel-purchases","checksum":"f338f62ec88fe131e3864932505354a56b5e94710d4b57ff7792ed5badc9e203","applied_at":"2026-11-29T01:32:14.092171+00:00","needs":null},
{"version":82,"name":"0082-channel-claims","checksum":"d2b65aafae69c89a9b8bb40e964eb58da63c00a0cd7a54f4e4d0ce699d02a0da","applied_at":"2026-11-29T01:32:14.106402+00:00","needs":null},
{"version":83,"name":"0083-channel-books","checksum":"a7e2eeb4b6dc8042a881533dc9c3d0132cdf3ca4da8a02364079d087b4f15589","applied_at":"2026-11-29T01:32:14.158465+00:00","needs":null},
{"version":86,"name":"0086-receipts","checksum":"961f4fdfd47866a6dbb598fa246280b9bafcdba8f1cbe5ffaa0539468c4ef8e2","applied_at":"2026-11-29T01:32:14.174447+00:00","needs":null},
{"version":87,"name":"0087-channel-views","checksum":"254837c05f6c1694dfb6e2cabd1b292b24f3b3a8675facbb93c931ea143d3f2f","applied_at":"2026-11-29T01:32:14.194476+00:00","needs":null},
{"version":89,"name":"0089-channel-turns","checksum":"a3eb542f1fb4d678e91a792d71136b1137541404a0526dd094f7b4c76a04d6e2","applied_at":"2026-11-29T01:32:14.214207+00:00","needs":null},
{"version":9,"name":"0009-identity","checksum":"905750c981953d39f58d5a2ff6ae2fe6369b94a4e8371872b3b4d7cbc6c224d8","applied_at":"2026-11-29T01:32:12.811554+00:00","needs":null},
{"version":90,"name":"0090-unpaid-tasks","checksum":"35acfa9f14ab7b3c0a0cfaa49c465f952ab5ae2ceb8d63754fb8a378fffa6346","applied_at":"2026-11-29T01:32:14.222363+00:00","needs":null},
{"version":91,"name":"0091-a2a-pushes","checksum":"60f67a896173274f84de1cafafd77c5716e579c330120d0df5580ea0b5b2a048","applied_at":"2026-11-29T01:32:14.242402+00:00","needs":null},
{"version":92,"name":"0092-upstreams","checksum":"9b41e82d7cecb1878cc667b3e4d46e8eca81b15b22f7546dabaf06b236be99cf","applied_at":"2026-11-29T01:32:14.275543+00:00","needs":null},
{"version":93,"name":"0093-upstream-calls","checksum":"0b3d2ece7ec96a3fe89506a45b1c216bbbee421978b21afcee664a85f214337a","applied_at":"2026-11-29T01:32:14.294462+00:00","needs":null},
{"version":94,"name":"0094-agent-types","checksum":"9297b7b1b39b35a6d29420a25d88df937ab5c132c22674b8276293547651c668","applied_at":"2026-11-29T01:32:14.325031+00:00","needs":null},
{"version":95,"name":"0095-quoted-units","checksum":"f18b2d5de099388dce9c2231dd7c90ed74385949e6f4620b558dd55e7f1f7fa1","applied_at":"2026-11-29T01:32:14.350906+00:00","needs":null},
{"version":96,"name":"0096-chunk-bytes","checksum":"495774fa24e8efd9cf4f58523628f2bba872dc305feaf0c064b6d9a31cddea04","applied_at":"2026-11-29T01:32:14.406707+00:00","needs":null},
{"version":97,"name":"0097-price-factors","checksum":"d119f16fbf5c1b70d6098fbe34c55112b18eb327412832bdd94c9a5e95a374b5","applied_at":"2026-11-29T01:32:14.414085+00:00","needs":null},
{"version":98,"name":"0098-account-standing","checksum":"02b2206119841247e9d7e299a126ca05ea2d83aeabe69025e6551dcba4263e28","applied_at":"2026-11-29T01:32:14.424427+00:00","needs":null},
{"version":99,"name":"0099-agent-calls","checksum":"f9a89bca7e2d8fe64407a259c5e6e04eb52ac935e9f2b2e99a30d1e9cbe16cf6","applied_at":"2026-11-29T01:32:14.457798+00:00","needs":null}
]');
insert into transfer (id, debit, credit, amount_micro, kind, subject_id, created_at, debit_sequence, debit_balance_micro, credit_sequence, credit_balance_micro) overriding system value
  select id, debit, credit, amount_micro, kind, subject_id, created_at, debit_sequence, debit_balance_micro, credit_sequence, credit_balance_micro from json_populate_recordset(null::transfer, '[
{"id":"charge:req_01m8jex8tm4hxveph57rb2c2r9","debit":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","credit":"trs_g1m8jewxamyf94h0jntdg350k2","amount_micro":10000,"kind":"charge","subject_id":"req_01m8jex8tm4hxveph57rb2c2r9","created_at":"2026-11-29T01:32:29.613+00:00","debit_sequence":2,"debit_balance_micro":0,"credit_sequence":1,"credit_balance_micro":10000},
{"id":"charge:req_01m8jexd6jjdtx8c6pygxpagdy","debit":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","credit":"trs_g1m8jewxamyf94h0jntdg350k2","amount_micro":10000,"kind":"charge","subject_id":"req_01m8jexd6jjdtx8c6pygxpagdy","created_at":"2026-11-29T01:32:33.761+00:00","debit_sequence":4,"debit_balance_micro":0,"credit_sequence":2,"credit_balance_micro":20000},
{"id":"charge:req_0f58b699731e3f20ac7c3fef88","debit":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","credit":"trs_g1m8jey0ers6sgnp7xjryfs8y3","amount_micro":20000,"kind":"charge","subject_id":"req_0f58b699731e3f20ac7c3fef88","created_at":"2026-11-29T01:32:54.321+00:00","debit_sequence":8,"debit_balance_micro":0,"credit_sequence":1,"credit_balance_micro":20000},
{"id":"charge:req_1c1f4b07c35bba288741a6c1d8","debit":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","credit":"trs_g1m8jexv8wkamk18myb0gn93mz","amount_micro":10000,"kind":"charge","subject_id":"req_1c1f4b07c35bba288741a6c1d8","created_at":"2026-11-29T01:32:49.354+00:00","debit_sequence":6,"debit_balance_micro":0,"credit_sequence":1,"credit_balance_micro":10000},
{"id":"charge:req_698816c22007e31237bf9899d3","debit":"trs_01m8jexknedt77g09711h3gbhm","credit":"trs_g1m8jewxapqx0zmwg1gh9ysm4b","amount_micro":50000,"kind":"charge","subject_id":"req_698816c22007e31237bf9899d3","created_at":"2026-11-29T01:32:41.749+00:00","debit_sequence":2,"debit_balance_micro":950000,"credit_sequence":1,"credit_balance_micro":50000},
{"id":"deposit:pay_01m8jex93zs244ntzkssnjfnzn","debit":"wallet","credit":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":10000,"kind":"deposit","subject_id":"req_01m8jex8tm4hxveph57rb2c2r9","created_at":"2026-11-29T01:32:29.533+00:00","debit_sequence":null,"debit_balance_micro":null,"credit_sequence":1,"credit_balance_micro":10000},
{"id":"deposit:pay_01m8jexd6jk77jjrwyy27g04pq","debit":"wallet","credit":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":10000,"kind":"deposit","subject_id":"req_01m8jexd6jjdtx8c6pygxpagdy","created_at":"2026-11-29T01:32:33.639+00:00","debit_sequence":null,"debit_balance_micro":null,"credit_sequence":3,"credit_balance_micro":10000},
{"id":"deposit:pay_01m8jexmmy48cf2ymancktnxfv","debit":"wallet","credit":"trs_01m8jexknedt77g09711h3gbhm","amount_micro":1000000,"kind":"deposit","subject_id":"trf_5532100734b3129f752cd14864","created_at":"2026-11-29T01:32:41.376+00:00","debit_sequence":null,"debit_balance_micro":null,"credit_sequence":1,"credit_balance_micro":1000000},
{"id":"deposit:pay_01m8jexwdfdgjzvnp9w0anjgxk","debit":"wallet","credit":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":10000,"kind":"deposit","subject_id":"req_1c1f4b07c35bba288741a6c1d8","created_at":"2026-11-29T01:32:49.049+00:00","debit_sequence":null,"debit_balance_micro":null,"credit_sequence":5,"credit_balance_micro":10000},
{"id":"deposit:pay_01m8jey1dy3w2x4d9e3amk9fvg","debit":"wallet","credit":"payer:0xf436f9f89c119a75e8e1ce62bed107e9526e022d","amount_micro":20000,"kind":"deposit","subject_id":"req_0f58b699731e3f20ac7c3fef88","created_at":"2026-11-29T01:32:54.219+00:00","debit_sequence":null,"debit_balance_micro":null,"credit_sequence":7,"credit_balance_micro":20000}
]');
insert into unaudited_request (request_id, since) overriding system value
  select request_id, since from json_populate_recordset(null::unaudited_request, '[
{"request_id":"req_01m8jex8tm4hxveph57rb2c2r9","since":"2026-11-29T01:32:29.613+00:00"},
{"request_id":"req_01m8jexd6jjdtx8c6pygxpagdy","since":"2026-11-29T01:32:33.761+00:00"},
{"request_id":"req_0f58b699731e3f20ac7c3fef88","since":"2026-11-29T01:32:54.321+00:00"},
{"request_id":"req_1c1f4b07c35bba288741a6c1d8","since":"2026-11-29T01:32:49.354+00:00"},
{"request_id":"req_698816c22007e31237bf9899d3","since":"2026-11-29T01:32:41.749+00:00"}
]');
select setval('storage_change_id_seq', 12);
set session_replication_role = origin;
