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

-- Wallets that an account has acted with and whose holder agreed to it: its own, those it has proven, those that signed a deposit
-- or a payment of its.
create index chain_payment_funding on chain_payment (account_id, purpose, from_address, to_address)
  where purpose in ('deposit', 'withdrawal') and state = 'settled';
create view account_contact as
  select id as account_id, address as wallet from account
  union all select account_id, address from account_wallet
  union all select account_id, wallet from payer_wallet
  union all select account_id, from_address from chain_payment where purpose = 'deposit' and state = 'settled';

-- Probes by day. `agent_totals` holds what the last 30 days add up to; what was counted before counts as of today.
create table agent_probe_day (
  agent_id text not null references agent,
  day date not null,
  passed integer not null,
  probes integer not null,
  primary key (agent_id, day)
) with (fillfactor = 50);
insert into agent_probe_day (agent_id, day, passed, probes)
select agent_id, (now() at time zone 'utc')::date, probes_passed, probes from agent_totals where probes > 0;

insert into outcome (request_id, agent_id, account_id, wallet, amount_micro, is_good, ended_at)
select id, agent_id, account_id, case when payer_ledger_id like 'payer:%' then substr(payer_ledger_id, 7) else '' end,
       case status when 'completed' then cost_micro else price_micro end, status = 'completed', completed_at
  from invocation
 where status in ('completed', 'failed') and payer_ledger_id is not null
   and case status when 'completed' then cost_micro else price_micro end > 0
   and coalesce(error_code, '') not in ('payment_failed', 'agent_removed')
   and not (coalesce(error_code, '') = 'deadline_exceeded' and deadline - coalesce(started_at, created_at) < interval '30 seconds');
insert into outcome_due (request_id) select request_id from outcome;

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
