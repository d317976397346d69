-- baseline of commit 7e95b59a, digest 0e5865e3149edb8dc529dee88d33498a3a6969edbc88adce7428066c079455ba
-- The schema that migrations 0001 to 0118 of that commit made, and the rows that they added. The digest is of their checksums (decision 52).

-- One row per living process of this node. Whoever finds a row not seen for 10 s deletes it and recovers its work,
-- in one transaction: the deletion decides who does it.
create table process (
  id uuid primary key,
  worker_ids text[] not null default '{}',
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  label text not null,
  -- How late the event loop of a process was, since it last said so: median, 99th percentile and most, in milliseconds.
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

-- When each piece of recurring work is next due. A process that wants to run it moves due_at first.
create table recurring (
  name text primary key,
  due_at timestamptz not null
);

-- Who may call. An account is a wallet; its keys are stored only as hashes.
create table account (
  id text primary key,
  address text not null unique check (address ~ '^0x[0-9a-f]{40}$'),
  plan text not null check (plan in ('free', 'pro', 'enterprise')),
  wallet_proven_at timestamptz,
  created_at timestamptz not null,
  -- The base address of the node that the account's wallet signed in as. A file may name any wallet: an account counts as a node's where
  -- both say so, the node's file and the wallet.
  node_url text,
  -- An operator suspends and resumes accounts and sets their plans; each change is kept with its reason.
  suspended_at timestamptz,
  suspended_reason text
);
create index account_suspended on account (id) where suspended_at is not null;
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
  -- The key that took this one's place.
  replaced_by text,
  per_call_micro bigint check (per_call_micro >= 0),
  per_day_micro bigint check (per_day_micro >= 0),
  allowed_agents text[],
  budget_id text,
  -- Somebody signed in with a browser has a row like a key's, so that revocation, limits and attribution work the same; it is never
  -- in the list of keys, nor taken as one.
  kind text not null default 'key' check (kind in ('key', 'session')),
  user_agent text,
  -- Signed in as local mode's own account, without a wallet.
  is_local boolean not null default false,
  -- A key that somebody got by signing in with a wallet: the oldest of these gives way when the account has as many keys as it may.
  from_sign_in boolean not null default false
);
create index api_key_account on api_key (account_id);
create index api_key_session_created on api_key (created_at) where kind = 'session';
-- The living keys of an account are counted under its lock, and the newest are listed, however many it has had; dead ones are removed.
create index api_key_living on api_key (account_id, (coalesce(expires_at, 'infinity'))) where kind = 'key' and revoked_at is null;
create index api_key_created on api_key (account_id, created_at) where kind = 'key';
create index api_key_ended on api_key ((least(revoked_at, expires_at))) where kind = 'key';

-- One row per subject (key, agent or address) and class of calls: an anchored window of an hour.
create table rate_window (
  subject text not null,
  class text not null,
  started_at timestamptz not null,
  used integer not null,
  -- How many calls the last lease granted.
  granted integer not null,
  -- The limit that the last lease was taken under: one statement leases from many windows, each with a limit of its own.
  most integer not null default 0,
  primary key (subject, class)
) with (fillfactor = 50);
create index rate_window_age on rate_window (started_at);

-- What agents declare to take and give, as JSON Schemas: one row for each version, which never changes. Versions that were replaced are
-- kept until every call that was accepted with them is over.
create table agent_types (
  id text primary key,
  agent_id text not null,
  declared json not null,
  estimated_time text,
  created_at timestamptz not null,
  replaced_at timestamptz
);
create index agent_types_agent on agent_types (agent_id);
-- Replaced versions are removed after two days, whatever becomes of their agent; the present one of a removed agent counts as replaced. An agent
-- of another node may come back, with the same version.
create index agent_types_replaced on agent_types (replaced_at) where replaced_at is not null;

-- Nodes of other operators, as the chain and their own file say.
create table network_node (
  id text primary key,
  chain_id integer not null,
  token_id numeric(78,0) not null,
  base_url text not null,
  label text not null,
  version text not null,
  -- Where payments for its agents go, and where its refunds come from.
  wallet text not null,
  -- Its agents' rows belong to this account, which is its wallet's.
  account_id text not null references account (id),
  status text not null check (status in ('online', 'offline')),
  -- False: its entry is gone, or its file is no longer good. The row stays for what refers to it, and until it comes back.
  is_listed boolean not null default true,
  -- False: its agents are yet to be shown as `status` and `is_listed` say.
  is_shown boolean not null default true,
  failed_in_a_row integer not null default 0,
  -- How far its agents' changes were read: what it told us to go on with; null: from the beginning.
  feed_cursor text,
  -- How many agents it has told of since it last came to an end.
  feed_read integer not null default 0,
  next_check_at timestamptz not null,
  joined_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- The key that we have at another node, sealed; null: we have not signed in there yet.
  api_key_sealed bytea
);
create unique index network_node_base_url on network_node (base_url);
create unique index network_node_token on network_node (chain_id, token_id) where is_listed;
create index network_node_check on network_node (next_check_at) where is_listed;
create index network_node_account on network_node (account_id);

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
  reputation integer not null check (reputation >= 0 and reputation <= 1000),
  -- The identityToken: a hash finds the agent that shows it, the sealed text signs what we send to the agent.
  token_hash bytea unique,
  token_sealed bytea,
  endpoint_proven_at timestamptz,
  -- Checks of the endpoint: tries to prove it while pending, health probes afterwards.
  next_check_at timestamptz,
  checks_done integer not null default 0,
  failed_in_a_row integer not null default 0,
  passed_in_a_row integer not null default 0,
  last_ping_at timestamptz,
  last_seen_at timestamptz not null,
  response_ms double precision,
  -- What the agent reported of itself; lowers its status, never raises it.
  reported_load double precision,
  reported_at timestamptz,
  is_accepting boolean not null default true,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  removed_at timestamptz,
  final_block bigint,
  -- An agent of another node has a row like any other, without an identityToken: its home node calls it.
  home_node text references network_node (id),
  -- Where an agent stands on chain; for those of this node and of others.
  token_id numeric(78,0),
  -- The chain says that the token is somebody else's, who has not proven the wallet yet: what the agent earned stays where it is.
  frozen_at timestamptz,
  -- When something of an agent changed that other nodes list; they ask for what changed since.
  changed_at timestamptz not null default now(),
  -- Since when the owner's wallet holds the token, or linked one of its own; null: this node's registrar holds it.
  token_claimed_at timestamptz,
  -- What the id of an agent of this node was made with, for others to see whose it is; null for ids that say nothing.
  id_salt bytea,
  -- The protocol of an agent's endpoint, and how it is called (tool, model, names of headers). The values of the headers are sealed together
  -- with the origin that they are for. Agents of other nodes are called through their homes: the defaults.
  protocol text not null default 'http',
  upstream json not null default '{}',
  upstream_headers_sealed bytea,
  -- Digest of what the endpoint takes, as of the last proof or acceptance; null: not read yet.
  upstream_digest text,
  -- What the last check found wrong, for the owner.
  fault text,
  -- The present version; null: the agent declares nothing.
  types_id text references agent_types (id),
  -- Since when the account has had an agent that it took over; null: it registered it. Earlier calls are not its own to read.
  owned_since timestamptz,
  -- What the last check found, for the owner: kind of the fault, status and first characters of the answer. null: nothing, or found before this.
  fault_detail json,
  constraint agent_token_check check (((home_node is null) = (token_hash is not null)) and ((home_node is null) = (token_sealed is not null))),
  -- A text of type json may hold "\u0000" and halves of characters, at which every statement that reads a field of it fails: one such agent
  -- would stop the statements that read all agents.
  constraint agent_metadata_readable check ((metadata)::jsonb is not null)
);
create index agent_next_check on agent (next_check_at) where next_check_at is not null;
create index agent_home on agent (home_node, status, id) where home_node is not null;
create unique index agent_token on agent (token_id) where token_id is not null and status <> 'removed';
create index agent_changed on agent (changed_at, id) where home_node is null and token_id is not null;
create index agent_token_claimed on agent (token_id) where token_claimed_at is not null and status <> 'removed';
-- Agents that may have to be registered: at start they are gone through.
create index agent_unregistered on agent (id) where token_id is null and home_node is null and endpoint_proven_at is not null;
create index agent_account on agent (account_id, id);
-- Each version that is removed is looked for here.
create index agent_types_used on agent (types_id) where types_id is not null;

-- What the calls and probes of an agent added up to. Apart from `agent`, so that counting stays cheap.
create table agent_totals (
  agent_id text primary key references agent (id),
  completed bigint not null default 0,
  failed bigint not null default 0,
  duration_ms bigint not null default 0,
  probes_passed bigint not null default 0,
  probes bigint not null default 0
) with (fillfactor = 50);

-- Double entry in micro-USDC. An account's balance is its credits less its debits; `held_micro` is set aside for running work.
-- `posted_micro` is kept for accounts that authorise spending. The node's own accounts (wallet, outgoing) take part in
-- every movement; a kept balance would make all payments wait for one row, so theirs is the sum of their transfers.
create table ledger_account (
  id text primary key,
  kind text not null
    check (kind in ('treasury', 'agent', 'payer', 'suspense', 'channel', 'wallet', 'vouchers', 'claimed', 'outgoing', 'fees', 'loss')),
  account_id text references account (id),
  agent_id text references agent (id),
  address text,
  label text,
  posted_micro bigint not null default 0,
  held_micro bigint not null default 0,
  created_at timestamptz not null,
  entries bigint not null default 0,
  last_entry_at timestamptz,
  -- Nothing leaves it until its agent's new owner has proven the wallet.
  frozen_at timestamptz,
  constraint ledger_account_check check (held_micro >= 0 and posted_micro >= held_micro)
) with (fillfactor = 50);
create unique index ledger_account_treasury on ledger_account (account_id) where kind = 'treasury';
create unique index ledger_account_agent on ledger_account (agent_id) where kind = 'agent';
create unique index ledger_account_payer on ledger_account (address) where kind = 'payer';
-- Whose treasuries.
create index ledger_account_account on ledger_account (account_id) where account_id is not null;
create unique index ledger_account_suspense on ledger_account (address) where kind = 'suspense';

-- Append-only. The id names the cause, so the same cause cannot move money twice.
create table transfer (
  id text primary key,
  debit text not null,
  credit text not null,
  amount_micro bigint not null check (amount_micro > 0),
  kind text not null
    check (kind in ('deposit', 'charge', 'fee', 'refund', 'payout', 'withdrawal', 'return', 'reversal', 'claim', 'bill', 'bill_return',
      'fee_payout', 'voucher', 'voucher_release', 'voucher_claim', 'sweep', 'voucher_loss')),
  subject_id text not null,
  created_at timestamptz not null,
  debit_sequence bigint,
  debit_balance_micro bigint,
  credit_sequence bigint,
  credit_balance_micro bigint,
  constraint transfer_check check (debit <> credit)
);
-- The node's own accounts, which take part in nearly every transfer, are in no index.
create index transfer_debit on transfer (debit, created_at, debit_sequence) where debit_sequence is not null;
create index transfer_credit on transfer (credit, created_at, credit_sequence) where credit_sequence is not null;

create table hold (
  id text primary key,
  ledger_account_id text not null,
  amount_micro bigint not null check (amount_micro > 0),
  captured_micro bigint,
  created_at timestamptz not null,
  ended_at timestamptz,
  -- When a hold must have ended: a while after the deadline of its request.
  expires_at timestamptz not null,
  constraint hold_check1 check ((captured_micro is null) = (ended_at is null)),
  constraint hold_check check (captured_micro >= 0 and captured_micro <= amount_micro)
) with (fillfactor = 80);
create index hold_open on hold (expires_at) where ended_at is null;

-- Channels of the x402 scheme `batch-settlement`: deposits on chain, of which calls are paid by signed vouchers (decision 28). Updates stay in
-- their pages (heap-only): no index names a sum that each call changes, and `fillfactor` leaves room for the next version of a row.
create table channel (
  -- EIP-712 digest of the configuration, in lower case.
  id text primary key,
  chain_id integer not null,
  payer text not null,
  payer_authorizer text not null,
  receiver text not null,
  receiver_authorizer text not null,
  token text not null,
  withdraw_delay_s integer not null,
  salt text not null,
  -- By the chain, as deep as its amounts ask for: deposits less refunds and withdrawals; claims do not lower it.
  balance_micro bigint not null default 0 check (balance_micro >= 0),
  -- By the chain: total of all claims.
  claimed_micro bigint not null default 0 check (claimed_micro >= 0),
  -- Sum of ended calls. Never falls.
  charged_micro bigint not null default 0 check (charged_micro >= 0),
  -- Sum of calls in flight.
  reserved_micro bigint not null default 0 check (reserved_micro >= 0),
  -- The highest voucher.
  signed_micro bigint not null default 0,
  signature text,
  -- The highest voucher that stands in a claim: anybody can show it.
  published_micro bigint not null default 0,
  refund_nonce bigint not null default 0,
  -- The payer has begun to withdraw: no voucher is taken any more; null: not.
  withdraw_requested_at timestamptz,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  -- The block as of which the balance, the refund nonce and the withdrawal of the channel were read; 0: never.
  read_block bigint not null default 0,
  -- From this block on the channel has to be read again: a deposit is deep enough then; null: only after an event.
  due_block bigint,
  -- Booked as lost: charged, and never to be claimed any more.
  lost_micro bigint not null default 0 check (lost_micro >= 0),
  -- Number of bookings of claims and losses: makes the ids of their transfers unique.
  booking integer not null default 0,
  -- The cooperative refund under way: no voucher is taken meanwhile; null: none.
  refund_id text,
  -- The request that was told the sum, and until when its answer is awaited: no other one is admitted before.
  turn_request text,
  turn_until timestamptz,
  has_rest boolean not null generated always as (balance_micro > charged_micro) stored,
  owes boolean not null generated always as (charged_micro > (claimed_micro + lost_micro)) stored,
  is_under_way boolean not null generated always as ((charged_micro + reserved_micro) <> (claimed_micro + lost_micro)) stored,
  is_lossy boolean not null generated always as (charged_micro > balance_micro or lost_micro > 0) stored,
  constraint channel_check check ((charged_micro + reserved_micro) <= signed_micro)
) with (fillfactor = 50);
create index channel_payer on channel (payer, created_at);
create index channel_read_block on channel (chain_id, read_block);
create index channel_due_block on channel (chain_id, due_block) where due_block is not null;
-- Channels that a refund keeps from taking vouchers.
create index channel_refunding on channel (chain_id, id) where refund_id is not null;
create index channel_withdrawing on channel (chain_id, id) where withdraw_requested_at is not null;
create index channel_with_rest on channel (chain_id) where has_rest;
create index channel_owing on channel (chain_id, id) where owes;
create index channel_under_way on channel (chain_id, id) where is_under_way;
-- Channels that were charged more than they hold, or whose loss is booked.
create index channel_lossy on channel (chain_id, id) where is_lossy;
comment on column channel.has_rest is 'holds more than was charged';
comment on column channel.owes is 'was charged more than is claimed or lost';
comment on column channel.is_under_way is 'owes, or has calls in flight';
comment on column channel.is_lossy is 'was charged more than it holds, or has a loss in the books';

-- Every movement of USDC on chain is an EIP-3009 authorization: signed by a payer (in) or by the node (out).
-- (chain, token, from, nonce) moves money at most once, on chain and here: claiming it is inserting it.
create table chain_payment (
  id text primary key,
  chain_id integer not null,
  token text not null,
  from_address text not null,
  nonce text not null,
  direction text not null,
  purpose text not null
    check (purpose in ('invocation', 'deposit', 'refund', 'withdrawal', 'bill', 'return', 'home_refund', 'home_return', 'second_return',
      'channel_deposit')),
  -- The request, or the deposit or refund itself.
  subject_id text not null,
  account_id text references account (id),
  -- in: credited when settled. out: debited when settled.
  ledger_account_id text not null,
  to_address text not null,
  value_micro bigint not null check (value_micro > 0),
  valid_after bigint not null,
  valid_before bigint not null,
  signature text not null,
  -- What the payment was shown for: the same payment with other words is refused.
  fingerprint bytea,
  x402_version smallint,
  state text not null check (state in ('claimed', 'broadcasting', 'settled', 'failed', 'reversed')),
  reason text,
  transaction_hash text,
  block_number bigint,
  created_at timestamptz not null,
  ended_at timestamptz,
  block_hash text,
  -- Settled in a block that is no longer part of the chain, and not found in another yet.
  lost_at timestamptz,
  -- The network address that showed a payment; whoever records that it failed counts it against that.
  client text,
  channel_id text references channel (id),
  -- Calldata of the deposit for the settlement contract; it contains the salt.
  deposit_call text,
  unique (chain_id, token, from_address, nonce),
  constraint chain_payment_lost_check check (lost_at is null or state in ('settled', 'reversed')),
  constraint chain_payment_deposit_check check ((purpose = 'channel_deposit') = ((channel_id is not null) and deposit_call is not null)),
  -- Deposits into channels pass the node's wallet by: neither in nor out (decision 28).
  constraint chain_payment_direction_check
    check (direction in ('in', 'out', 'channel') and ((direction = 'channel') = (purpose = 'channel_deposit')))
);
create unique index chain_payment_subject on chain_payment (subject_id, purpose);
create index chain_payment_account on chain_payment (account_id, created_at);
create index chain_payment_treasury on chain_payment (ledger_account_id, created_at) where purpose in ('deposit', 'withdrawal');
create index chain_payment_block_hash on chain_payment (chain_id, block_number) where block_hash is not null;
create index chain_payment_lost on chain_payment (created_at, id) where lost_at is not null and state = 'settled';
create index chain_payment_open on chain_payment (created_at, id) where state in ('claimed', 'broadcasting');
create index chain_payment_bill on chain_payment (created_at, id) where purpose = 'bill' and state in ('claimed', 'broadcasting');
-- Wallets that an account has acted with and whose holder agreed to it: its own, those it has proven, those that signed a deposit
-- or a payment of its.
create index chain_payment_funding on chain_payment (account_id, purpose, from_address, to_address)
  where purpose in ('deposit', 'withdrawal') and state = 'settled';
-- How many refunds a wallet and an account were sent on chain lately. Those that were credited here were never signed.
create index chain_payment_refund_to on chain_payment (to_address, created_at)
  where direction = 'out' and purpose in ('refund', 'return', 'second_return') and signature <> '0x';
create index chain_payment_refund_of on chain_payment (account_id, created_at)
  where direction = 'out' and purpose in ('refund', 'return', 'second_return') and signature <> '0x';
create index chain_payment_failed on chain_payment (created_at, id) where state = 'failed' and direction <> 'out';
create index chain_payment_channel on chain_payment (channel_id, created_at) where channel_id is not null;
create index chain_payment_home on chain_payment (ledger_account_id, created_at) where purpose in ('home_refund', 'home_return');
create index chain_payment_refunded on chain_payment (account_id, created_at) where purpose in ('refund', 'return', 'second_return');
-- A restored node relates what it finds on the chain to the bills of the last days, before it starts: however many payments there are.
create index chain_payment_bill_age on chain_payment (created_at) where purpose = 'bill';

-- Write-ahead: raw bytes and hash are stored before they are sent, nonces are given out here and nowhere else.
create table chain_signer (
  chain_id integer not null,
  address text not null,
  next_nonce bigint not null,
  -- Several keys send. A key carries one open transaction at a time, in the care of whoever holds its lease.
  leased_by text,
  leased_until timestamptz,
  primary key (chain_id, address),
  constraint chain_signer_lease_check check ((leased_by is null) = (leased_until is null))
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
  -- Which block has it, by its hash: a reorg puts another block at the same height.
  block_hash text,
  block_index integer
);
create index chain_transaction_open on chain_transaction (chain_id, signer, nonce) where state = 'sent';
-- A transaction that no block takes is signed again under its nonce, for a higher fee: whichever of them is mined replaces the others.
create index chain_transaction_nonce on chain_transaction (chain_id, signer, nonce);
create unique index chain_transaction_mined_nonce on chain_transaction (chain_id, signer, nonce) where state = 'mined';
create index chain_transaction_block on chain_transaction (chain_id, mined_block) where block_hash is not null;

create table quote (
  id text primary key,
  account_id text not null references account (id),
  agent_id text not null references agent (id),
  price_micro bigint not null,
  valid_until timestamptz not null,
  used_by text unique,
  created_at timestamptz not null,
  -- What a quoted call was multiplied with: a quote is no price for a larger one. Null: quoted before this was noted.
  multiplier_hundredths integer,
  -- Of a quote of an agent with a price by units: how many, and where in the input they are counted. A call with more needs another quote.
  unit_count bigint,
  unit_pointer text,
  -- A quote keeps what its price followed: later changes by the agent's owner do not reach the calls that it is good for.
  multiplier_ten_thousandths integer,
  factors json
);
create index quote_age on quote (valid_until);

create table invocation (
  id text primary key,
  account_id text not null,
  -- Set when an agent made the call, paid from that agent's treasury.
  caller_agent_id text,
  agent_id text not null,
  task text not null,
  input json not null,
  context text,
  metadata json not null,
  priority text not null check (priority in ('low', 'normal', 'high')),
  -- The locked price: what is charged at most.
  price_micro bigint not null,
  estimated_time text not null,
  deadline timestamptz not null,
  payment_method text not null check (payment_method in ('treasury', 'x402', 'free')),
  payer_ledger_id text,
  payment_hash text,
  status text not null check (status in ('pending', 'processing', 'completed', 'failed', 'cancelled')),
  -- The lease: which process works on it, and the fencing token that every later write must show.
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
  queue_rank smallint not null generated always as
    (case priority when 'high' then 0 when 'normal' then 1 else 2 end) stored,
  -- Set in the transaction that signs: what the request costs, however it ends, unless the agent does not collect it.
  billed_micro bigint,
  budget_id text,
  promised_micro bigint check (promised_micro >= 0),
  returned_micro bigint not null default 0 check (returned_micro >= 0),
  -- The agent that was asked for, when another took its place.
  requested_agent_id text,
  -- Whom a request shares its places with: those of the account, or those that its agents make, so that agents which call each other
  -- do not wait for their own callers.
  lane text collate "C" not null generated always as
    (case when caller_agent_id is null then account_id else account_id || ':agents' end) stored,
  -- What is kept for a time only. A request whose content was removed still says what it was, how it ended and what it cost.
  content_removed_at timestamptz,
  -- Why an invocation was cancelled; null for those cancelled before this was stored, and for those that were not.
  cancel_reason text check (cancel_reason in ('cancelled_by_caller', 'bulk_decided')),
  -- The agent that the node chose for POST /invoke/auto, and why, as it is shown; null: the caller named the agent.
  chosen json,
  -- SHA-256 of input, context and result, written when a request ends: a receipt names them after their retention. 96 bytes; null: a request
  -- that ended before this, or was refused as it came.
  content_hashes bytea,
  -- The version that the request was accepted with, and the capability that the call names.
  types_id text,
  capability text,
  -- The kind of the caller and the way in which the call came, for the owner of the called agent. null: stored before this.
  caller_kind text check (caller_kind in ('account', 'agent', 'wallet', 'node')),
  face text,
  -- Bytes of a request that its account's storage was charged with at the end. Null: ended by a version that counted input and result only.
  counted_bytes bigint,
  -- Hash of the task, of requests whose task was shortened with the removal of their contents.
  task_hash bytea,
  constraint invocation_check1 check (billed_micro >= 1 and billed_micro <= price_micro),
  constraint invocation_check check ((status in ('completed', 'failed', 'cancelled')) = (completed_at is not null))
) with (fillfactor = 80);
create index invocation_account on invocation (account_id, created_at desc, id);
create index invocation_open on invocation (agent_id, worker) where status in ('pending', 'processing');
create index invocation_bulk on invocation (bulk_id) where bulk_id is not null;
create index invocation_failed on invocation (account_id, completed_at desc) where status = 'failed';
create index invocation_queue on invocation (lane, queue_rank, created_at, id)
  where status = 'pending' and worker is null and payment_method <> 'x402';
create index invocation_queue_deadline on invocation (deadline)
  where status = 'pending' and worker is null and payment_method <> 'x402';
create index invocation_content_due on invocation (completed_at) where completed_at is not null and content_removed_at is null;
-- The calls to an agent: by status, so that each of them is one range however rare it is, and the failed ones by reason.
create index invocation_received on invocation (agent_id, status, created_at desc, id);
create index invocation_received_failed on invocation (agent_id, error_code, created_at desc, id) where status = 'failed';
-- Lists read the rows that they show, however many an account has: each filter that may match few of many rows has an index in the order
-- of the list.
create index invocation_called on invocation (account_id, agent_id, created_at desc, id);
create index invocation_unsuccessful on invocation (account_id, status, created_at desc, id) where status in ('failed', 'cancelled');
create index invocation_by_agent on invocation (account_id, caller_agent_id, created_at desc, id) where caller_agent_id is not null;
-- Fields of metadata that have \u0000 or halves of characters anywhere cannot be read, and an entry of an index has a greatest size.
create index invocation_context on invocation
  (account_id, (case when metadata::text !~ '\\u(0000|[dD][89a-fA-F])' then left(metadata #>> '{a2a,contextId}', 257) end))
  where case when metadata::text !~ '\\u(0000|[dD][89a-fA-F])' then left(metadata #>> '{a2a,contextId}', 257) end is not null;
-- The sums of an account's calls hold no cost by status. An agent that collects its bill and then fails leaves a cost: few rows, which tell it.
create index invocation_unsuccessful_cost on invocation (account_id, status, created_at) include (agent_id, cost_micro)
 where status in ('failed', 'cancelled') and cost_micro > 0;

-- What happened, written in the transaction that made it happen. `sequence` begins with the id of that transaction: whoever reads
-- below the oldest transaction that is still open can miss nothing, as nothing can appear there any more.
create table event (
  sequence bigint primary key,
  id text not null unique,
  account_id text not null,
  type text not null,
  -- What it happened to; `data` is null where the thing itself, which no longer changes, is the data.
  subject_id text not null,
  data json,
  webhook_url text,
  needs_fan_out boolean not null,
  created_at timestamptz not null
);
create index event_account on event (account_id, sequence);
create index event_fan_out on event (sequence) where needs_fan_out;
-- The events of one invocation, for who runs the node.
create index event_subject on event (subject_id);

-- Added to transaction ids in sequences: a database restored from a dump begins to count transactions anew. Also the lock of fan-out.
create table event_clock (
  only_row boolean default true primary key check (only_row),
  xid_offset bigint not null
);

-- Where to send events: an endpoint, or (kind account, one per account, made when first needed) the URLs of single requests.
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
  -- When the first of the failures came that no success has followed.
  failing_since timestamptz,
  -- The endpoint asked to be left alone until then.
  paused_until timestamptz,
  -- No later than the first delivery that is due; null when none waits.
  due_at timestamptz,
  -- The process that is sending to it now, alone.
  courier uuid,
  created_at timestamptz not null,
  constraint webhook_check check ((kind = 'endpoint') = (url is not null))
);
create index webhook_account on webhook (account_id);
create unique index webhook_single on webhook (account_id) where kind = 'account';
create index webhook_due on webhook (due_at) where due_at is not null;

create table webhook_delivery (
  id text primary key,
  webhook_id text not null references webhook (id) on delete cascade,
  event_id text not null,
  -- null for a test, which is no event.
  sequence bigint,
  type text not null,
  -- null: the URL of the endpoint.
  url text,
  -- Set before the first attempt; every attempt sends these bytes.
  body text,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  -- All ever made. The fencing token: an attempt is recorded once, by whoever made the one after the last.
  attempts integer not null,
  -- Made since it was created or replayed: the place in the retry schedule.
  tries integer not null,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  -- The next attempt is earlier than the schedule says, as the endpoint has answered something else meanwhile: it uses up no step of it.
  is_early boolean not null default false,
  constraint webhook_delivery_check check ((state = 'pending') = (next_attempt_at is not null)),
  unique (webhook_id, event_id)
);
create index webhook_delivery_first on webhook_delivery (webhook_id, sequence) where state = 'pending' and tries = 0;
create index webhook_delivery_retry on webhook_delivery (webhook_id, next_attempt_at) where state = 'pending' and tries > 0;
create index webhook_delivery_list on webhook_delivery (webhook_id, created_at, id);
create index webhook_delivery_age on webhook_delivery (created_at) where state <> 'pending';
create index webhook_delivery_failed on webhook_delivery (webhook_id, created_at, id) where state = 'failed';

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

-- One task for several agents. Its state is decided under the lock of its row, in the transaction that ends one of its requests.
create table bulk (
  id text primary key,
  account_id text not null,
  caller_agent_id text,
  strategy text not null check (strategy in ('first_success', 'all', 'majority')),
  status text not null check (status in ('processing', 'completed', 'failed')),
  -- The request whose result it is.
  winner text,
  webhook_url text,
  created_at timestamptz not null,
  completed_at timestamptz,
  constraint bulk_check check ((status = 'processing') = (completed_at is null))
);

-- What a streaming agent said on the way. The first events of a stream and its last follow from the request itself.
create table invocation_chunk (
  invocation_id text not null,
  -- 1, 2, 3 … of this request.
  position integer not null,
  type text not null check (type in ('invocation.status', 'invocation.chunk')),
  data json not null,
  created_at timestamptz not null,
  -- Length of a chunk as stored text, so that nobody reads the chunk to know it. null: written before this.
  bytes integer,
  primary key (invocation_id, position)
);
create index invocation_chunk_age on invocation_chunk (created_at);

-- One row per Idempotency-Key of an account: who runs it, or the answer that every repetition gets.
create table idempotency (
  account_id text not null,
  key text not null,
  fingerprint bytea not null,
  -- The process that runs it; null once it is answered.
  worker uuid,
  answer_sealed bytea,
  created_at timestamptz not null,
  -- What an answer says in headers of its own: a repetition says it again. Null while it runs.
  answer_headers json,
  -- Who ran a request under its key, and with which rights: a repetition needs the same caller, or at least those rights.
  caller_id text,
  scopes text[] not null default '{}',
  -- A secret that an answer shows once, until it is handed out: afterwards null, and never in `answer_sealed`.
  secret_sealed bytea,
  secret_until timestamptz,
  primary key (account_id, key)
);
create index idempotency_created on idempotency (created_at);
create index idempotency_secret on idempotency (secret_until) where secret_sealed is not null;

-- What all accounts of a kind hold together, as changes that are appended by whoever moves money, and folded: nobody waits for a row
-- that everybody writes, and the sum is exact in every snapshot.
create table ledger_total (
  kind text not null
    check (kind in ('treasury', 'agent', 'payer', 'suspense', 'channel', 'wallet', 'vouchers', 'claimed', 'outgoing', 'fees', 'loss')),
  change_micro bigint not null,
  is_folded boolean not null default false
);

-- For how many checks in a row the chain has contradicted the books, and whether its operators were told.
create table reserves_watch (
  only_row boolean default true primary key check (only_row),
  drifted_checks integer not null,
  is_told boolean not null
);

-- How far the audit of the books has come: by request, and round and round by account.
create table money_audit (
  only_row boolean default true primary key check (only_row),
  account_id text not null
);

-- How far the node has read which USDC came to its wallet without a request: newest point first, older ones to go back to after a reorg.
create table transfer_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

-- Transfers by an authorization that nobody has shown us. It may still be shown as the payment of a request, which comes first;
-- after a while the money is credited to the wallet it came from.
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

-- Wallets beside an account's own that it has proven: what they send is its deposit.
create table account_wallet (
  address text primary key check (address ~ '^0x[0-9a-f]{40}$'),
  account_id text not null references account (id),
  proven_at timestamptz not null
);
create index account_wallet_account on account_wallet (account_id);

-- What the agent asked for, and the header that answers it: the same bytes are shown again, by whichever process goes on.
create table agent_bill (
  request_id text primary key,
  payment_id text not null references chain_payment (id),
  terms text not null,
  header_name text not null check (header_name in ('payment-signature', 'x-payment')),
  header_value text not null,
  created_at timestamptz not null
);

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

create table key_spending (
  budget_id text not null,
  day date not null,
  spent_micro bigint not null check (spent_micro >= 0),
  primary key (budget_id, day)
) with (fillfactor = 50);

-- The shared registry (ERC-8004), as far as this node has read it. Newest point: where reading goes on; older ones to go back to
-- after a reorg.
create table registry_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

-- How the reading goes. Whoever moves the newest point holds this row.
create table registry_reading (
  chain_id integer primary key,
  state text not null check (state in ('syncing', 'live', 'stalled')),
  head_block bigint not null,
  -- Up to here the chain will not change; on a local chain the head.
  safe_block bigint not null,
  -- When it last got on, or had nothing to read.
  good_at timestamptz not null
);

-- What the registry's logs say, in their order. A reorg deletes what is above the block that both chains have, and the tokens that
-- lost something are made anew from what is left.
create table registry_log (
  chain_id integer not null,
  block_number bigint not null,
  log_index integer not null,
  transaction_hash text not null,
  token_id numeric(78,0) not null,
  kind text not null check (kind in ('registered', 'uri', 'owner', 'wallet', 'metadata')),
  -- registered: the URI; uri: the new one; owner, wallet: an address, '' for none; metadata: the key, with the bytes beside it.
  value text not null,
  bytes bytea,
  -- Why value or bytes are left out.
  fault text,
  primary key (chain_id, block_number, log_index)
);
create index registry_log_token on registry_log (chain_id, token_id, block_number, log_index);
-- Finds the first log that names an agent by the end of its address: `/agents/{id}/registration.json`, 56 characters.
create index registry_log_agent on registry_log (chain_id, right(value, 56), block_number, log_index)
  where kind in ('registered', 'uri') and value like '%/registration.json';

create table registry_token (
  chain_id integer not null,
  token_id numeric(78,0) not null,
  owner text not null,
  -- Who it was registered for: the owner in the transaction that made it.
  registered_by text not null,
  -- '' with a fault: what stands on chain is no text, or too long.
  uri text not null,
  uri_fault text,
  wallet text,
  -- Key to bytes in hex.
  metadata jsonb not null,
  registered_block bigint not null,
  registered_hash text not null,
  -- The block and log of the newest change.
  changed_block bigint not null,
  changed_index integer not null,
  -- Since when the URI of a token is as it is, and who held the token when it was written last: it is the word of that key. Both follow
  -- from the logs, like the rest of the row.
  uri_block bigint not null,
  uri_index integer not null,
  uri_by text not null,
  primary key (chain_id, token_id)
);
create index registry_token_uri on registry_token (chain_id, md5(uri));
create index registry_token_owner on registry_token (chain_id, owner);

-- The order in which tokens changed here, for those who follow them. A block's number would not do: a reorg takes a token back to an
-- older block, or away, and that is a change as well. A token without a row above is gone.
create sequence registry_change_number;
create table registry_change (
  chain_id integer not null,
  token_id numeric(78,0) not null,
  number bigint not null default nextval('registry_change_number'),
  primary key (chain_id, token_id)
);
create index registry_change_order on registry_change (chain_id, number);

-- What this node writes to the registry: intent first, then the transaction that carries it.
create table registry_write (
  id text primary key,
  chain_id integer not null,
  -- register: an agent's entry, or the node's own (subject ''); transfer: to its owner; retire: marked as removed; feedback.
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
  -- What the call may take of the transaction's gas.
  gas bigint not null default 500000,
  -- The address that an entry points to: of `register` and `uri`.
  uri text,
  -- Which call of its transaction it is.
  place integer,
  -- How often the chain undid it.
  tries integer not null default 0,
  -- The block that has it: a reorg puts another at that height.
  block_hash text
);
create index registry_write_open on registry_write (created_at, id) where state in ('due', 'sent');
-- An agent is registered once, however often it is asked for. `uri`: an entry points elsewhere from now on; it may be written again and again.
create unique index registry_write_once on registry_write (chain_id, kind, subject_id) where state <> 'failed' and kind <> 'uri';
create unique index registry_write_once_open on registry_write (chain_id, kind, subject_id) where state in ('due', 'sent');
create index registry_write_sent on registry_write (transaction_hash) where state = 'sent';
create index registry_write_done on registry_write (chain_id, block_number) where state = 'done';
create index registry_write_subject on registry_write (subject_id, kind);

-- How far the changes of the registry's tokens were followed: a number of registry_change.
create table network_follow (
  chain_id integer primary key,
  number bigint not null
);

-- Tokens of the registry that claim to be a node or an agent of one, and what became of the claim. What was good of it stands in
-- network_node and agent.
create table network_entry (
  chain_id integer not null,
  token_id numeric(78,0) not null,
  kind text not null check (kind in ('node', 'agent')),
  -- The node that its address leads to, for an agent.
  base_url text not null,
  -- The part of its address that says which agent it is.
  agent_id text,
  -- As the chain says.
  owner text not null,
  registered_by text not null,
  state text not null check (state in ('new', 'listed', 'ignored')),
  reason text,
  tries integer not null default 0,
  -- null: only when something changes.
  next_try_at timestamptz,
  uri_block bigint not null,
  uri_index integer not null,
  uri_by text not null,
  primary key (chain_id, token_id),
  constraint network_entry_check check ((kind = 'agent') = (agent_id is not null))
);
create index network_entry_due on network_entry (kind, next_try_at) where next_try_at is not null;
create index network_entry_base on network_entry (base_url, next_try_at);
create index network_entry_agent on network_entry (agent_id) where agent_id is not null;

-- A request for an agent of another node, as it stands there.
create table home_call (
  request_id text primary key,
  node_id text not null references network_node (id),
  -- Its id there.
  home_request_id text not null,
  created_at timestamptz not null,
  -- When its home is asked how it ended, once it has ended here; null: no more.
  next_look_at timestamptz
);
create index home_call_look on home_call (next_look_at) where next_look_at is not null;

-- Transfers that a node will send us if it gives back what we paid for a request: their nonces follow from the request's id there. Noted
-- in the transaction that signs the payment, so none can come before it is known.
create table awaited_refund (
  chain_id integer not null,
  from_address text not null,
  nonce text not null,
  -- Our request.
  request_id text not null,
  purpose text not null check (purpose in ('home_refund', 'home_return')),
  primary key (chain_id, from_address, nonce)
);

-- How paid invocations ended. Append-only; the tables after it follow from it and can be made anew: empty them, and put every
-- request_id into outcome_due.
create table outcome (
  request_id text primary key,
  agent_id text not null,
  account_id text not null,
  -- The wallet that paid by x402; '' when a treasury paid.
  wallet text not null,
  amount_micro bigint not null check (amount_micro > 0),
  is_good boolean not null,
  ended_at timestamptz not null
);

-- Those that are not counted below yet.
create table outcome_due (
  request_id text not null
);

-- The same summed up by payer and day. An amount counts up to the one that makes a call count in full.
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

-- What an account paid to which agents, the wallets it paid from, and the wallets that an agent had its bills paid to.
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

-- How far a payer can be believed: to how many owners that have nothing to do with it it has paid something worth counting, and
-- since when.
create table payer (
  account_id text primary key,
  breadth double precision not null,
  since timestamptz,
  computed_at timestamptz not null
) with (fillfactor = 80);

-- The parts of each agent's reputation as it stands (null: not worked out yet), the formula they were worked out with, and when that
-- is due again. Refers to no agent, so that who counts outcomes never waits for who changes one.
create table agent_reputation (
  agent_id text primary key,
  formula_version integer,
  computed_at timestamptz,
  parts json,
  due_at timestamptz not null
) with (fillfactor = 80);
create index agent_reputation_due on agent_reputation (due_at);

-- Probes by day. `agent_totals` holds what the last 30 days add up to; what was counted before counts as of today.
create table agent_probe_day (
  agent_id text not null references agent (id),
  day date not null,
  passed integer not null,
  probes integer not null,
  primary key (agent_id, day)
) with (fillfactor = 50);

-- Feedback to the shared registry: outcomes that may be given as such, and the files of those that are, which the registry has the
-- hash of.
create table feedback_due (
  request_id text not null
);

create table feedback (
  request_id text primary key,
  agent_id text not null,
  file text not null
);

-- What was changed in an account's name, by whom and from where. `unknown`: begun, and nobody noted how it ended.
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
  -- A call that was answered with what an earlier one had been: it changed nothing by itself.
  replayed boolean not null default false
);
create index audit_entry_account on audit_entry (account_id, id);
create index audit_entry_at on audit_entry (at);

-- What calls that ended add to the figures, and what changed of their cost since. Only ever added to, so calls that end at once never
-- wait for each other; a job carries it into `call_figure`, and until then it is read beside that.
create table call_change (
  account_id text not null,
  agent_id text not null,
  agent_account_id text not null,
  -- The hour (UTC) in which the request was made.
  made_at timestamptz not null,
  bin smallint not null,
  calls integer not null,
  completed integer not null,
  failed integer not null,
  spent_micro bigint not null,
  earned_micro bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 1000000000);

-- The same by hour and by day (UTC): calls that an account made, calls of its agents, and (by day, without times) those of each agent.
create table call_figure (
  subject_id text not null,
  side text not null check (side in ('made', 'received')),
  span text not null check (span in ('hour', 'day')),
  start timestamptz not null,
  bin smallint not null,
  calls bigint not null,
  completed bigint not null,
  failed bigint not null,
  -- made: spent; received: earned.
  amount_micro bigint not null,
  primary key (subject_id, side, span, start, bin)
) with (fillfactor = 80);
create index call_figure_hour on call_figure (start) where span = 'hour';

-- Health checks by hour and by day (UTC), and how long the answers took; -1 for those that did not come. Hours are kept for two days,
-- days for thirty.
create table agent_health (
  agent_id text not null references agent (id),
  span text not null check (span in ('hour', 'day')),
  start timestamptz not null,
  bin smallint not null,
  checks integer not null,
  failed integer not null,
  primary key (agent_id, span, start, bin)
) with (fillfactor = 50);

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

-- Payments that the node paid gas for and that moved nothing, by who caused them: a wallet, an account, a client's network address. All
-- processes see it, and a restart does not forget it.
create table payer_strike (
  subject text primary key,
  strikes integer not null check (strikes > 0),
  last_at timestamptz not null,
  refused_until timestamptz
);
create index payer_strike_age on payer_strike (last_at);

-- A challenge is stored nowhere: its id carries what it is for, authenticated with the node's secret, so whoever asks for many takes
-- nobody's place. What was used is noted until it could not be used anyway.
create table used_challenge (
  id text primary key,
  expires_at timestamptz not null
);
create index used_challenge_expiry on used_challenge (expires_at);

-- Up to which sequence events of an account were removed.
create table event_horizon (
  account_id text primary key,
  sequence bigint not null
);

-- Bytes that are stored of an account's requests: what was folded, and changes that were not yet. Appended, so that nobody waits for
-- the row of an account.
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

-- Requests that have ended and that the audit of the books has not looked at since their money last changed. Written in the transaction
-- that ends them, so that none is passed over, whatever its id and however long others stay open. What ended before is looked at anew.
create table unaudited_request (
  request_id text primary key,
  -- When its money last changed.
  since timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index unaudited_request_since on unaudited_request (since);

-- Rows that processes keep copies of in memory (src/replica) and that changed, noted by the transaction that changed them. Triggers write
-- them: no writer can forget to. A copy is read again, not patched, so a row here says only which one.
create table replica_change (
  xid xid8 not null default pg_current_xact_id(),
  topic text not null,
  id text not null,
  changed_at timestamptz not null default clock_timestamp()
);
create index replica_change_xid on replica_change (xid) include (topic, id);

-- The last transaction whose changes were forgotten: a process that has not seen it loads everything anew.
create table replica_forgotten (
  is_only boolean default true primary key check (is_only),
  xid xid8 not null
);

-- A call that is paid by a voucher.
create table channel_charge (
  request_id text primary key,
  channel_id text not null references channel (id),
  amount_micro bigint not null check (amount_micro > 0),
  -- The voucher that came with it.
  max_micro bigint not null,
  signature text not null,
  -- What was charged in the end; null: in flight.
  charged_micro bigint,
  created_at timestamptz not null,
  ended_at timestamptz,
  -- Hash of the exact purchase: the same voucher for another request is refused.
  fingerprint bytea not null,
  constraint channel_charge_check1 check ((charged_micro is null) = (ended_at is null)),
  constraint channel_charge_check check (charged_micro >= 0 and charged_micro <= amount_micro)
) with (fillfactor = 50);
create index channel_charge_channel on channel_charge (channel_id, max_micro);
-- Old charges are found by their creation, which never changes: one that ended before a time was created before it.
create index channel_charge_created on channel_charge (created_at);

-- Blocks up to which the events of the settlement contract were read.
create table channel_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

-- A transaction that claims vouchers of channels and sweeps the claimed money, or that refunds a channel. Its bytes are in chain_transaction.
create table channel_claim (
  id text primary key,
  chain_id integer not null,
  reason text not null check (reason in ('threshold', 'age', 'payout', 'stop', 'withdrawal', 'refund')),
  -- sent: written down, and not known to be mined. failed: reverted, or never to be mined.
  state text not null default 'sent' check (state in ('sent', 'done', 'failed')),
  transaction_hash text not null,
  block_number bigint,
  block_hash text,
  created_at timestamptz not null,
  ended_at timestamptz,
  -- Gas that the transaction took; null: it is not mined, or was before this.
  gas_used bigint,
  constraint channel_claim_check check ((state = 'sent') = (ended_at is null))
);
create index channel_claim_open on channel_claim (chain_id) where state = 'sent';
create index channel_claim_block on channel_claim (chain_id, block_number) where state = 'done';
create index channel_claim_ended on channel_claim (ended_at) where state <> 'sent';
create index channel_claim_created on channel_claim (chain_id, created_at, id);

create table channel_claim_row (
  claim_id text not null references channel_claim (id) on delete cascade,
  channel_id text not null references channel (id),
  -- The voucher, public from now on.
  max_micro bigint not null,
  -- What it claims in total; claims are cumulative.
  total_micro bigint not null,
  is_open boolean not null default true,
  constraint channel_claim_row_check check (total_micro <= max_micro),
  primary key (claim_id, channel_id)
);
-- A channel is in one open transaction at a time.
create unique index channel_claim_row_open on channel_claim_row (channel_id) where is_open;
create index channel_claim_row_channel on channel_claim_row (channel_id);

create table channel_refund (
  id text primary key,
  channel_id text not null references channel (id),
  -- Identity of the payload: shown again, it gets the same answer.
  payload_key text not null,
  amount_micro bigint not null check (amount_micro > 0),
  -- Nonce of the refund in the contract, which takes it once.
  nonce bigint constraint channel_refund_nonce_not_null1 not null,
  -- Network address that asked for it.
  client text,
  claim_id text not null references channel_claim (id),
  state text not null default 'sent' check (state in ('sent', 'done', 'failed')),
  -- What the chain gave back; null: not known yet.
  refunded_micro bigint,
  created_at timestamptz not null,
  ended_at timestamptz
);
create unique index channel_refund_payload on channel_refund (channel_id, payload_key) where state <> 'failed';
create index channel_refund_claim on channel_refund (claim_id);
create index channel_refund_created on channel_refund (created_at);
create index channel_refund_channel on channel_refund (channel_id, created_at);

-- What the contract says of the node's wallet as receiver, as far as it is booked.
create table channel_receiver (
  chain_id integer not null,
  receiver text not null,
  -- Claimed for it by channels that the node does not know: a gift, kept in suspense.
  foreign_micro bigint not null,
  -- Swept into the wallet.
  settled_micro bigint not null,
  booking integer not null default 0,
  -- The block that was booked last.
  block_number bigint not null,
  block_hash text not null,
  -- Sum of the booked claims of all channels of a receiver: what the contract counts beyond it is foreign.
  known_micro bigint not null default 0,
  primary key (chain_id, receiver)
);

-- The signed receipts that were given out. A row never changes.
create table invocation_receipt (
  request_id text primary key references invocation (id),
  receipt json not null,
  issued_at timestamptz not null
);

-- Calls that came through the A2A face, and wait for their payment: the paid message of that protocol does not repeat what it pays for. The
-- only unpaid calls that are kept. A row is gone when its offer has ended, paid or not; the request, if it was paid, is an invocation.
create table unpaid_task (
  -- The id of the request that the payment creates: the offer names it.
  id text primary key,
  -- null: the caller has no API key, and whoever knows the id may pay.
  account_id text references account (id),
  caller_agent_id text,
  -- Who may keep so many: an account, an agent, or without a key a network.
  holder text not null,
  agent_id text not null,
  -- The body of the call, its quote and its Idempotency-Key.
  body json not null,
  quote_id text,
  message_key text not null,
  -- The terms, in the forms of x402 version 1 and 2.
  offer json not null,
  -- Why the last payment was refused; null: there was none.
  refusal text,
  ended text check (ended in ('rejected', 'cancelled')),
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index unpaid_task_holder on unpaid_task (holder, created_at);
create index unpaid_task_expires on unpaid_task (expires_at);
-- Calls without a key that wait for their payment are counted: they are bounded for the whole node.
create index unpaid_task_keyless on unpaid_task (id) where account_id is null;

-- The key that signs the cards of this node's agents (ES256), sealed with the node's secret; made once, for all processes.
create table card_key (
  is_only boolean default true primary key check (is_only),
  id text not null,
  sealed bytea not null,
  created_at timestamptz not null
);

-- Push notifications of A2A tasks: where a caller wants to be told of a task. Each is told of the task, its changes of status, its result
-- and its end, in this order, at least once.
create table a2a_push (
  task_id text not null,
  id text not null,
  account_id text not null references account (id),
  url text not null,
  -- The shape of the messages.
  version text not null check (version in ('1.0', '0.3')),
  scheme text,
  -- Token and credentials, sealed with the node's secret.
  sealed bytea not null,
  -- What was told last.
  told text not null default 'nothing' check (told in ('nothing', 'pending', 'processing', 'result', 'ended')),
  -- false: everything was told, or it was given up.
  is_open boolean not null default true,
  tries integer not null default 0,
  -- When it is looked at again; while a message is on its way, when another process may take it over.
  next_at timestamptz not null,
  created_at timestamptz not null,
  primary key (task_id, id)
);
create index a2a_push_open on a2a_push (next_at) where is_open;
create index a2a_push_account on a2a_push (account_id) where is_open;
create index a2a_push_created on a2a_push (created_at);

-- Written before a request is sent to an endpoint that would run it twice: it is never sent again, whatever process has it next.
create table upstream_call (
  request_id text primary key references invocation (id),
  sent_at timestamptz not null,
  -- The upstream's id of the work, once known: a task of A2A, a job of MIP-003.
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

-- A database that lacks commits which were acknowledged to a process of this node: nobody goes on before an operator has accepted it.
create table database_hole (
  id bigint generated always as identity primary key,
  reason text not null,
  -- Label of the process that found it.
  found_by text not null,
  found_at timestamptz not null default now(),
  is_open boolean not null default true,
  accepted_at timestamptz,
  accepted_by text,
  constraint database_hole_check check (is_open = (accepted_at is null)),
  constraint database_hole_check1 check ((accepted_at is null) = (accepted_by is null))
);
create unique index database_hole_open on database_hole (is_open) where is_open;

-- Up to where transfers out of the node's wallet were held against the books.
create table payout_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  primary key (chain_id, block_number)
);

-- Once for each identity of the database: the blocks that were read before withdrawals went on.
create table chain_catch_up (
  chain_id integer not null,
  database text not null,
  from_block bigint not null,
  to_block bigint not null,
  -- False for the first database of a node: there was nothing to catch up with.
  is_restored boolean not null,
  caught_up_at timestamptz not null,
  primary key (chain_id, database)
);

-- Transfers out of the node's wallet that no payment of the books explained when they were read.
create table found_payout (
  id text primary key,
  chain_id integer not null,
  token text not null,
  from_address text not null,
  -- Of its authorization; of a plain transfer a substitute made of its place on chain.
  nonce text not null,
  is_plain boolean not null,
  to_address text not null,
  value_micro bigint not null check (value_micro > 0),
  transaction_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  -- Found while the books of a restored database caught up with the chain.
  is_restored boolean not null,
  state text not null default 'found' check (state in ('found', 'expected', 'explained', 'booked', 'due', 'undecided', 'decided')),
  -- The request that it belongs to, and as what.
  request_id text,
  purpose text,
  -- The ledger account that it was charged to, and what that account still lacks: the node's loss until it has it.
  source text,
  due_micro bigint not null default 0 check (due_micro >= 0),
  payment_id text references chain_payment (id),
  decided_by text,
  decision text,
  found_at timestamptz not null,
  changed_at timestamptz not null,
  unique (chain_id, nonce),
  constraint found_payout_check1 check (due_micro = 0 or state = 'due'),
  constraint found_payout_check check (state <> 'decided' or decided_by is not null)
);
create index found_payout_open on found_payout (state) where state in ('found', 'expected', 'due', 'undecided');

create view account_contact as
  select id as account_id, address as wallet from account
  union all select account_id, address from account_wallet
  union all select account_id, wallet from payer_wallet
  union all select account_id, from_address from chain_payment where purpose = 'deposit' and state = 'settled';

-- Durations and times of answers in steps of an eighth of a doubling, from one millisecond up; -1: not measured. `middleMs` in
-- percentile.ts says the same.
create function duration_bin(ms double precision) returns smallint language sql immutable parallel safe
  return case when ms is null then -1 else least(greatest(floor(8 * ln(greatest(ms, 1)) / ln(2.0::double precision)), 0), 250) end::smallint;

-- What one operator may hold many addresses of: a machine by its number, else the last two labels of a name.
create function site_of(base_url text) returns text immutable strict parallel safe language sql as $$
  select case when host ~ '^\[|^[0-9.]+$' then host else coalesce(substring(host from '[^.]+\.[^.]+$'), host) end
    from (select substring(base_url from '^https?://(\[[^]]*\]|[^/:]*)') as host) as parsed
$$;

-- The first transaction that may still write to this database: later ones are open or not begun. Transactions of other databases of the
-- same server do not count: pg_snapshot_xmin() counts them, so that a long one next door held up every event here. A transaction is left
-- out only where it is seen at work in another database; one that cannot be placed counts.
create function first_open_transaction() returns bigint language sql stable as $$
  select coalesce(min(open.xid::text::bigint), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
    from pg_snapshot_xip(pg_current_snapshot()) as open(xid)
   where open.xid::xid not in (
     select backend_xid from pg_stat_get_activity(null)
      where backend_xid is not null and datid <> (select oid from pg_database where datname = current_database())
     union all
     select transaction from pg_prepared_xacts where database <> current_database())
$$;

-- For each row: notes its id under the topic that the trigger names.
create function note_replica_change() returns trigger language plpgsql as $$
begin
  insert into replica_change (topic, id) values (tg_argv[0], coalesce(new.id, old.id));
  return null;
end
$$;

-- An account with a valid key of the scope `operator` has it in its sessions.
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

-- The database as a place in time: another after a failover, a restore, a copy, and an operator's word over a hole. It is text to compare,
-- and null where the server does not tell.
create function database_identity() returns text language plpgsql volatile as $$
begin
  return (select (pg_control_system()).system_identifier::text || '.' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
            || '.' || (select oid::text from pg_database where datname = current_database())
            || '.' || coalesce((select max(id) from database_hole where not is_open), 0)::text);
exception when others then
  return null;
end $$;

-- The columns that only checks and reports move are left out: nobody keeps copies of them.
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
-- Processes keep copies of the keys, sessions and identityTokens that are in use (access/sessions): the change log names what ends one or
-- gives it other rights. The time of the last use is left out.
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
-- The limits of an account depend on the listed node that its wallet signed in as. The node names the wallet: a look-up of the accounts
-- here would miss one whose sign-in is not committed yet.
create trigger account_node_changed after update of node_url on account
  for each row when (old.node_url is distinct from new.node_url) execute function note_replica_change('account');
create trigger node_wallet_added after insert or delete on network_node for each row execute function note_node_wallet();
create trigger node_wallet_changed after update of base_url, wallet, status, is_listed on network_node
  for each row when ((old.base_url, old.wallet, old.status, old.is_listed)
    is distinct from (new.base_url, new.wallet, new.status, new.is_listed))
  execute function note_node_wallet();
-- Calls come from copies in memory.
create trigger agent_upstream_changed after update of protocol, upstream, upstream_headers_sealed on agent
  for each row when (old.protocol is distinct from new.protocol or old.upstream::text is distinct from new.upstream::text
    or old.upstream_headers_sealed is distinct from new.upstream_headers_sealed)
  execute function note_replica_change('agent');
create trigger agent_types_changed after update of types_id on agent
  for each row when (old.types_id is distinct from new.types_id) execute function note_replica_change('agent');
create trigger account_suspended after update of suspended_at on account
  for each row when (old.suspended_at is distinct from new.suspended_at) execute function note_replica_change('account');

insert into ledger_account (id, kind, created_at) values
  ('wallet', 'wallet', now()), ('outgoing', 'outgoing', now()), ('fees', 'fees', now()), ('loss', 'loss', now()), ('vouchers', 'vouchers', now()),
  ('claimed', 'claimed', now());
insert into event_clock (xid_offset) values (0);
insert into reserves_watch (drifted_checks, is_told) values (0, false);
insert into money_audit (account_id) values ('');
insert into replica_forgotten (xid) values ('0');
