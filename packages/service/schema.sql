-- The schema that the migrations in src/store/migrations make, one table after the other. Made by "npm run schema"; do not edit.

create sequence registry_change_number;

create table a2a_push (
  task_id text not null,
  id text not null,
  account_id text not null,
  url text not null,
  version text not null,
  scheme text,
  sealed bytea not null,
  told text default 'nothing'::text not null,
  is_open boolean default true not null,
  tries integer default 0 not null,
  next_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint a2a_push_pkey PRIMARY KEY (task_id, id),
  constraint a2a_push_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint a2a_push_told_check CHECK (((told = ANY (ARRAY['nothing'::text, 'pending'::text, 'processing'::text, 'result'::text, 'ended'::text])) OR (told ~ '^input_required:[0-9]+$'::text))) NOT VALID,
  constraint a2a_push_version_check CHECK ((version = ANY (ARRAY['1.0'::text, '0.3'::text])))
);
CREATE INDEX a2a_push_account ON public.a2a_push USING btree (account_id) WHERE is_open;
CREATE INDEX a2a_push_created ON public.a2a_push USING btree (created_at);
CREATE INDEX a2a_push_open ON public.a2a_push USING btree (next_at) WHERE is_open;

create table account (
  id text not null,
  address text not null,
  plan text not null,
  wallet_proven_at timestamp with time zone,
  created_at timestamp with time zone not null,
  node_url text,
  suspended_at timestamp with time zone,
  suspended_reason text,
  constraint account_pkey PRIMARY KEY (id),
  constraint account_address_key UNIQUE (address),
  constraint account_address_check CHECK ((address ~ '^0x[0-9a-f]{40}$'::text)),
  constraint account_plan_check CHECK ((plan = ANY (ARRAY['free'::text, 'pro'::text, 'enterprise'::text])))
);
CREATE INDEX account_address_start ON public.account USING btree (address text_pattern_ops);
CREATE INDEX account_suspended ON public.account USING btree (id) WHERE (suspended_at IS NOT NULL);
CREATE TRIGGER account_changed AFTER UPDATE OF address, plan, wallet_proven_at ON public.account FOR EACH ROW WHEN ((((old.address IS DISTINCT FROM new.address) OR (old.plan IS DISTINCT FROM new.plan)) OR (old.wallet_proven_at IS DISTINCT FROM new.wallet_proven_at))) EXECUTE FUNCTION note_replica_change('account');
CREATE TRIGGER account_node_changed AFTER UPDATE OF node_url ON public.account FOR EACH ROW WHEN ((old.node_url IS DISTINCT FROM new.node_url)) EXECUTE FUNCTION note_replica_change('account');
CREATE TRIGGER account_suspended AFTER UPDATE OF suspended_at ON public.account FOR EACH ROW WHEN ((old.suspended_at IS DISTINCT FROM new.suspended_at)) EXECUTE FUNCTION note_replica_change('account');
CREATE TRIGGER account_totals_opened AFTER INSERT ON public.account FOR EACH ROW EXECUTE FUNCTION open_account_totals();

create table account_change (
  id text not null,
  account_id text not null,
  kind text not null,
  plan text,
  reason text not null,
  actor_account_id text not null,
  actor_id text not null,
  at timestamp with time zone not null,
  constraint account_change_pkey PRIMARY KEY (id),
  constraint account_change_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint account_change_kind_check CHECK ((kind = ANY (ARRAY['plan'::text, 'suspended'::text, 'resumed'::text])))
);
CREATE INDEX account_change_of ON public.account_change USING btree (account_id, at DESC);

create table account_storage (
  account_id text not null,
  bytes bigint not null,
  constraint account_storage_pkey PRIMARY KEY (account_id)
);

create table account_totals (
  account_id text not null,
  calls bigint default 0 not null,
  spent_micro bigint default 0 not null,
  earned_micro bigint default 0 not null,
  available_micro bigint default 0 not null,
  seen_at timestamp with time zone not null,
  constraint account_totals_pkey PRIMARY KEY (account_id)
);
CREATE INDEX account_totals_available ON public.account_totals USING btree (available_micro, account_id);
CREATE INDEX account_totals_calls ON public.account_totals USING btree (calls, account_id);
CREATE INDEX account_totals_earned ON public.account_totals USING btree (earned_micro, account_id);
CREATE INDEX account_totals_seen ON public.account_totals USING btree (seen_at, account_id);
CREATE INDEX account_totals_spent ON public.account_totals USING btree (spent_micro, account_id);

create table account_wallet (
  address text not null,
  account_id text not null,
  proven_at timestamp with time zone not null,
  constraint account_wallet_pkey PRIMARY KEY (address),
  constraint account_wallet_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint account_wallet_address_check CHECK ((address ~ '^0x[0-9a-f]{40}$'::text))
);
CREATE INDEX account_wallet_account ON public.account_wallet USING btree (account_id);

create table agent (
  id text not null,
  account_id text not null,
  owner_address text not null,
  name text not null,
  description text not null,
  capabilities text[] not null,
  per_request_micro bigint not null,
  per_hour_micro bigint not null,
  tiers json not null,
  endpoint text not null,
  metadata json not null,
  status text not null,
  reputation integer not null,
  token_hash bytea,
  token_sealed bytea,
  endpoint_proven_at timestamp with time zone,
  next_check_at timestamp with time zone,
  checks_done integer default 0 not null,
  failed_in_a_row integer default 0 not null,
  passed_in_a_row integer default 0 not null,
  last_ping_at timestamp with time zone,
  last_seen_at timestamp with time zone not null,
  response_ms double precision,
  reported_load double precision,
  reported_at timestamp with time zone,
  is_accepting boolean default true not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  removed_at timestamp with time zone,
  final_block bigint,
  home_node text,
  token_id numeric(78,0),
  frozen_at timestamp with time zone,
  changed_at timestamp with time zone default now() not null,
  token_claimed_at timestamp with time zone,
  id_salt bytea,
  protocol text default 'http'::text not null,
  upstream json default '{}'::json not null,
  upstream_headers_sealed bytea,
  upstream_digest text,
  fault text,
  types_id text,
  owned_since timestamp with time zone,
  fault_detail json,
  example_questions text[] default '{}'::text[] not null,
  is_new boolean default true not null,
  constraint agent_pkey PRIMARY KEY (id),
  constraint agent_token_hash_key UNIQUE (token_hash),
  constraint agent_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint agent_home_node_fkey FOREIGN KEY (home_node) REFERENCES network_node(id),
  constraint agent_types_id_fkey FOREIGN KEY (types_id) REFERENCES agent_types(id),
  constraint agent_metadata_readable CHECK (((metadata)::jsonb IS NOT NULL)),
  constraint agent_per_hour_micro_check CHECK ((per_hour_micro >= 0)),
  constraint agent_per_request_micro_check CHECK ((per_request_micro >= 0)),
  constraint agent_reputation_check CHECK (((reputation >= 0) AND (reputation <= 1000))),
  constraint agent_status_check CHECK ((status = ANY (ARRAY['pending_verification'::text, 'online'::text, 'offline'::text, 'removed'::text]))),
  constraint agent_token_check CHECK ((((home_node IS NULL) = (token_hash IS NOT NULL)) AND ((home_node IS NULL) = (token_sealed IS NOT NULL))))
);
CREATE INDEX agent_account ON public.agent USING btree (account_id, id);
CREATE INDEX agent_changed ON public.agent USING btree (changed_at, id) WHERE ((home_node IS NULL) AND (token_id IS NOT NULL));
CREATE INDEX agent_home ON public.agent USING btree (home_node, status, id) WHERE (home_node IS NOT NULL);
CREATE INDEX agent_next_check ON public.agent USING btree (next_check_at) WHERE (next_check_at IS NOT NULL);
CREATE UNIQUE INDEX agent_token ON public.agent USING btree (token_id) WHERE ((token_id IS NOT NULL) AND (status <> 'removed'::text));
CREATE INDEX agent_token_claimed ON public.agent USING btree (token_id) WHERE ((token_claimed_at IS NOT NULL) AND (status <> 'removed'::text));
CREATE INDEX agent_types_used ON public.agent USING btree (types_id) WHERE (types_id IS NOT NULL);
CREATE INDEX agent_unregistered ON public.agent USING btree (id) WHERE ((token_id IS NULL) AND (home_node IS NULL) AND (endpoint_proven_at IS NOT NULL));
CREATE TRIGGER agent_added AFTER INSERT OR DELETE ON public.agent FOR EACH ROW EXECUTE FUNCTION note_replica_change('agent');
CREATE TRIGGER agent_changed AFTER UPDATE OF account_id, owner_address, name, description, capabilities, per_request_micro, per_hour_micro, tiers, endpoint, metadata, status, reputation, token_hash, token_sealed, endpoint_proven_at, response_ms, is_accepting, home_node, token_id, frozen_at ON public.agent FOR EACH ROW WHEN (((((((((((((((((((((old.account_id IS DISTINCT FROM new.account_id) OR (old.owner_address IS DISTINCT FROM new.owner_address)) OR (old.name IS DISTINCT FROM new.name)) OR (old.description IS DISTINCT FROM new.description)) OR (old.capabilities IS DISTINCT FROM new.capabilities)) OR (old.per_request_micro IS DISTINCT FROM new.per_request_micro)) OR (old.per_hour_micro IS DISTINCT FROM new.per_hour_micro)) OR ((old.tiers)::text IS DISTINCT FROM (new.tiers)::text)) OR (old.endpoint IS DISTINCT FROM new.endpoint)) OR ((old.metadata)::text IS DISTINCT FROM (new.metadata)::text)) OR (old.status IS DISTINCT FROM new.status)) OR (old.reputation IS DISTINCT FROM new.reputation)) OR (old.token_hash IS DISTINCT FROM new.token_hash)) OR (old.token_sealed IS DISTINCT FROM new.token_sealed)) OR (old.endpoint_proven_at IS DISTINCT FROM new.endpoint_proven_at)) OR (old.response_ms IS DISTINCT FROM new.response_ms)) OR (old.is_accepting IS DISTINCT FROM new.is_accepting)) OR (old.home_node IS DISTINCT FROM new.home_node)) OR (old.token_id IS DISTINCT FROM new.token_id)) OR (old.frozen_at IS DISTINCT FROM new.frozen_at))) EXECUTE FUNCTION note_replica_change('agent');
CREATE TRIGGER agent_newness_changed AFTER UPDATE OF is_new ON public.agent FOR EACH ROW WHEN ((old.is_new IS DISTINCT FROM new.is_new)) EXECUTE FUNCTION note_replica_change('agent');
CREATE TRIGGER agent_questions_changed AFTER UPDATE OF example_questions ON public.agent FOR EACH ROW WHEN ((old.example_questions IS DISTINCT FROM new.example_questions)) EXECUTE FUNCTION note_replica_change('agent');
CREATE TRIGGER agent_terms_changed AFTER UPDATE OF per_request_micro, metadata ON public.agent FOR EACH ROW WHEN (((old.per_request_micro IS DISTINCT FROM new.per_request_micro) OR ((old.metadata ->> 'priceHints'::text) IS DISTINCT FROM (new.metadata ->> 'priceHints'::text)) OR (((old.metadata -> 'sizeSteps'::text))::text IS DISTINCT FROM ((new.metadata -> 'sizeSteps'::text))::text) OR (((old.metadata -> 'perUnit'::text))::text IS DISTINCT FROM ((new.metadata -> 'perUnit'::text))::text) OR (((old.metadata -> 'perUsage'::text))::text IS DISTINCT FROM ((new.metadata -> 'perUsage'::text))::text))) EXECUTE FUNCTION note_former_terms();
CREATE TRIGGER agent_text_added AFTER INSERT ON public.agent FOR EACH ROW EXECUTE FUNCTION note_agent_text();
CREATE TRIGGER agent_text_changed AFTER UPDATE OF name, description, capabilities, metadata, example_questions, status ON public.agent FOR EACH ROW WHEN (((((((old.name IS DISTINCT FROM new.name) OR (old.description IS DISTINCT FROM new.description)) OR (old.capabilities IS DISTINCT FROM new.capabilities)) OR (((old.metadata -> 'tags'::text))::text IS DISTINCT FROM ((new.metadata -> 'tags'::text))::text)) OR (old.example_questions IS DISTINCT FROM new.example_questions)) OR ((old.status = 'removed'::text) IS DISTINCT FROM (new.status = 'removed'::text)))) EXECUTE FUNCTION note_agent_text();
CREATE TRIGGER agent_types_changed AFTER UPDATE OF types_id ON public.agent FOR EACH ROW WHEN ((old.types_id IS DISTINCT FROM new.types_id)) EXECUTE FUNCTION note_replica_change('agent');
CREATE TRIGGER agent_upstream_changed AFTER UPDATE OF protocol, upstream, upstream_headers_sealed ON public.agent FOR EACH ROW WHEN (((old.protocol IS DISTINCT FROM new.protocol) OR ((old.upstream)::text IS DISTINCT FROM (new.upstream)::text) OR (old.upstream_headers_sealed IS DISTINCT FROM new.upstream_headers_sealed))) EXECUTE FUNCTION note_replica_change('agent');

create table agent_bill (
  request_id text not null,
  payment_id text not null,
  terms text not null,
  header_name text not null,
  header_value text not null,
  created_at timestamp with time zone not null,
  constraint agent_bill_pkey PRIMARY KEY (request_id),
  constraint agent_bill_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES chain_payment(id),
  constraint agent_bill_header_name_check CHECK ((header_name = ANY (ARRAY['payment-signature'::text, 'x-payment'::text])))
);

create table agent_health (
  agent_id text not null,
  span text not null,
  start timestamp with time zone not null,
  bin smallint not null,
  checks integer not null,
  failed integer not null,
  constraint agent_health_pkey PRIMARY KEY (agent_id, span, start, bin),
  constraint agent_health_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id),
  constraint agent_health_span_check CHECK ((span = ANY (ARRAY['hour'::text, 'day'::text])))
);

create table agent_payee (
  agent_id text not null,
  wallet text not null,
  constraint agent_payee_pkey PRIMARY KEY (agent_id, wallet)
);

create table agent_probe_day (
  agent_id text not null,
  day date not null,
  passed integer not null,
  probes integer not null,
  constraint agent_probe_day_pkey PRIMARY KEY (agent_id, day),
  constraint agent_probe_day_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id)
);

create table agent_reputation (
  agent_id text not null,
  formula_version integer,
  computed_at timestamp with time zone,
  parts json,
  due_at timestamp with time zone not null,
  constraint agent_reputation_pkey PRIMARY KEY (agent_id)
);
CREATE INDEX agent_reputation_due ON public.agent_reputation USING btree (due_at);

-- Agents of this node by the slugs of their names, in the order in which they took them (seq); the first is meant by the slug
create table agent_slug (
  slug text not null,
  agent_id text not null,
  seq bigint generated always as identity not null,
  constraint agent_slug_pkey PRIMARY KEY (slug, agent_id),
  constraint agent_slug_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id)
);
CREATE INDEX agent_slug_agent ON public.agent_slug USING btree (agent_id);
CREATE INDEX agent_slug_order ON public.agent_slug USING btree (slug, seq);

create table agent_totals (
  agent_id text not null,
  completed bigint default 0 not null,
  failed bigint default 0 not null,
  duration_ms bigint default 0 not null,
  probes_passed bigint default 0 not null,
  probes bigint default 0 not null,
  constraint agent_totals_pkey PRIMARY KEY (agent_id),
  constraint agent_totals_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id)
);

create table agent_types (
  id text not null,
  agent_id text not null,
  declared json not null,
  estimated_time text,
  created_at timestamp with time zone not null,
  replaced_at timestamp with time zone,
  constraint agent_types_pkey PRIMARY KEY (id)
);
CREATE INDEX agent_types_agent ON public.agent_types USING btree (agent_id);
CREATE INDEX agent_types_replaced ON public.agent_types USING btree (replaced_at) WHERE (replaced_at IS NOT NULL);

create table agent_use (
  account_id text not null,
  day timestamp with time zone not null,
  agent_id text not null,
  calls bigint not null,
  completed bigint not null,
  failed bigint not null,
  spent_micro bigint not null,
  constraint agent_use_pkey PRIMARY KEY (account_id, day, agent_id)
);

-- Vectors of the texts of listed agents
create table agent_vector (
  agent_id text not null,
  model text,
  vector bytea,
  stored_at timestamp with time zone,
  due_at timestamp with time zone,
  constraint agent_vector_pkey PRIMARY KEY (agent_id),
  constraint agent_vector_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id) ON DELETE CASCADE,
  constraint agent_vector_check CHECK (((model IS NULL) = (stored_at IS NULL)))
);
CREATE INDEX agent_vector_due ON public.agent_vector USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX agent_vector_model ON public.agent_vector USING btree (model) WHERE (due_at IS NULL);
CREATE TRIGGER agent_vector_changed AFTER UPDATE OF vector, model ON public.agent_vector FOR EACH ROW WHEN (((old.vector IS DISTINCT FROM new.vector) OR (old.model IS DISTINCT FROM new.model))) EXECUTE FUNCTION note_vector_change();

create table api_key (
  id text not null,
  account_id text not null,
  name text not null,
  start text not null,
  secret_hash bytea not null,
  scopes text[] not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  replaced_by text,
  per_call_micro bigint,
  per_day_micro bigint,
  allowed_agents text[],
  budget_id text,
  kind text default 'key'::text not null,
  user_agent text,
  is_local boolean default false not null,
  from_sign_in boolean default false not null,
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint api_key_kind_check CHECK ((kind = ANY (ARRAY['key'::text, 'session'::text]))),
  constraint api_key_per_call_micro_check CHECK ((per_call_micro >= 0)),
  constraint api_key_per_day_micro_check CHECK ((per_day_micro >= 0))
);
CREATE INDEX api_key_account ON public.api_key USING btree (account_id);
CREATE INDEX api_key_created ON public.api_key USING btree (account_id, created_at) WHERE (kind = 'key'::text);
CREATE INDEX api_key_ended ON public.api_key USING btree (LEAST(revoked_at, expires_at)) WHERE (kind = 'key'::text);
CREATE INDEX api_key_living ON public.api_key USING btree (account_id, COALESCE(expires_at, 'infinity'::timestamp with time zone)) WHERE ((kind = 'key'::text) AND (revoked_at IS NULL));
CREATE INDEX api_key_session_created ON public.api_key USING btree (created_at) WHERE (kind = 'session'::text);
CREATE TRIGGER api_key_changed AFTER UPDATE OF account_id, name, secret_hash, scopes, expires_at, revoked_at, kind, budget_id, per_call_micro, per_day_micro, allowed_agents ON public.api_key FOR EACH ROW WHEN ((((((((((((old.account_id IS DISTINCT FROM new.account_id) OR (old.name IS DISTINCT FROM new.name)) OR (old.secret_hash IS DISTINCT FROM new.secret_hash)) OR (old.scopes IS DISTINCT FROM new.scopes)) OR (old.expires_at IS DISTINCT FROM new.expires_at)) OR (old.revoked_at IS DISTINCT FROM new.revoked_at)) OR (old.kind IS DISTINCT FROM new.kind)) OR (old.budget_id IS DISTINCT FROM new.budget_id)) OR (old.per_call_micro IS DISTINCT FROM new.per_call_micro)) OR (old.per_day_micro IS DISTINCT FROM new.per_day_micro)) OR (old.allowed_agents IS DISTINCT FROM new.allowed_agents))) EXECUTE FUNCTION note_replica_change('key');
CREATE TRIGGER api_key_gone AFTER DELETE ON public.api_key FOR EACH ROW EXECUTE FUNCTION note_replica_change('key');
CREATE TRIGGER operator_key_added AFTER INSERT ON public.api_key FOR EACH ROW WHEN (((new.kind = 'key'::text) AND ('operator'::text = ANY (new.scopes)))) EXECUTE FUNCTION note_operator_change();
CREATE TRIGGER operator_key_changed AFTER UPDATE OF scopes, expires_at, revoked_at ON public.api_key FOR EACH ROW WHEN (((old.kind = 'key'::text) AND ('operator'::text = ANY ((old.scopes || new.scopes))) AND (((old.scopes IS DISTINCT FROM new.scopes) OR (old.expires_at IS DISTINCT FROM new.expires_at)) OR (old.revoked_at IS DISTINCT FROM new.revoked_at)))) EXECUTE FUNCTION note_operator_change();
CREATE TRIGGER operator_key_gone AFTER DELETE ON public.api_key FOR EACH ROW WHEN (((old.kind = 'key'::text) AND ('operator'::text = ANY (old.scopes)))) EXECUTE FUNCTION note_operator_change();

-- Assets that the books have or had, each a token of a network. Rows stay when a network is removed from the settings.
create table asset (
  id text not null,
  chain_id integer not null,
  token text not null,
  is_default boolean not null,
  token_name text,
  token_version text,
  domain_separator text,
  token_key text default ''::text not null,
  constraint asset_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX asset_default ON public.asset USING btree (is_default) WHERE is_default;
CREATE UNIQUE INDEX asset_token ON public.asset USING btree (chain_id, token_key);

create table audit_entry (
  id text not null,
  account_id text not null,
  at timestamp with time zone not null,
  action text not null,
  actor_kind text not null,
  actor_id text not null,
  actor_name text not null,
  subject jsonb not null,
  address text not null,
  user_agent text,
  outcome text not null,
  code text,
  replayed boolean default false not null,
  constraint audit_entry_pkey PRIMARY KEY (id),
  constraint audit_entry_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint audit_entry_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['key'::text, 'session'::text]))),
  constraint audit_entry_outcome_check CHECK ((outcome = ANY (ARRAY['done'::text, 'refused'::text, 'unknown'::text])))
);
CREATE INDEX audit_entry_account ON public.audit_entry USING btree (account_id, id);
CREATE INDEX audit_entry_at ON public.audit_entry USING btree (at);

create table awaited_refund (
  chain_id integer not null,
  from_address text not null,
  nonce text not null,
  request_id text not null,
  purpose text not null,
  token text default ''::text not null,
  constraint awaited_refund_pkey PRIMARY KEY (chain_id, token, from_address, nonce),
  constraint awaited_refund_purpose_check CHECK ((purpose = ANY (ARRAY['home_refund'::text, 'home_return'::text])))
);

-- Accounts that want to be told when less than this is left to spend in the default asset
create table balance_alert (
  account_id text not null,
  below_micro bigint not null,
  is_told boolean default false not null,
  constraint balance_alert_pkey PRIMARY KEY (account_id),
  constraint balance_alert_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint balance_alert_below_micro_check CHECK ((below_micro > 0))
);

create table bulk (
  id text not null,
  account_id text not null,
  caller_agent_id text,
  strategy text not null,
  status text not null,
  winner text,
  webhook_url text,
  created_at timestamp with time zone not null,
  completed_at timestamp with time zone,
  constraint bulk_pkey PRIMARY KEY (id),
  constraint bulk_check CHECK (((status = 'processing'::text) = (completed_at IS NULL))),
  constraint bulk_status_check CHECK ((status = ANY (ARRAY['processing'::text, 'completed'::text, 'failed'::text]))),
  constraint bulk_strategy_check CHECK ((strategy = ANY (ARRAY['first_success'::text, 'all'::text, 'majority'::text])))
);

create table call_change (
  account_id text not null,
  agent_id text not null,
  agent_account_id text not null,
  made_at timestamp with time zone not null,
  bin smallint not null,
  calls integer not null,
  completed integer not null,
  failed integer not null,
  spent_micro bigint not null,
  earned_micro bigint not null
);

create table call_figure (
  subject_id text not null,
  side text not null,
  span text not null,
  start timestamp with time zone not null,
  bin smallint not null,
  calls bigint not null,
  completed bigint not null,
  failed bigint not null,
  amount_micro bigint not null,
  constraint call_figure_pkey PRIMARY KEY (subject_id, side, span, start, bin),
  constraint call_figure_side_check CHECK ((side = ANY (ARRAY['made'::text, 'received'::text]))),
  constraint call_figure_span_check CHECK ((span = ANY (ARRAY['hour'::text, 'day'::text])))
);
CREATE INDEX call_figure_hour ON public.call_figure USING btree (start) WHERE (span = 'hour'::text);

create table card_key (
  is_only boolean default true not null,
  id text not null,
  sealed bytea not null,
  created_at timestamp with time zone not null,
  constraint card_key_pkey PRIMARY KEY (is_only),
  constraint card_key_is_only_check CHECK (is_only)
);

create table chain_catch_up (
  chain_id integer not null,
  database text not null,
  from_block bigint not null,
  to_block bigint not null,
  is_restored boolean not null,
  caught_up_at timestamp with time zone not null,
  token text default ''::text not null,
  constraint chain_catch_up_pkey PRIMARY KEY (chain_id, token, database)
);

-- What answers wait for: the head and the safe block of the chain as the RPC node tells them, and how far each follower of the head has read; those of a further token have names that end in @ and its address
create table chain_gate (
  chain_id integer not null,
  name text not null,
  block_number bigint not null,
  moved_at timestamp with time zone not null,
  reason text,
  constraint chain_gate_pkey PRIMARY KEY (chain_id, name)
);

create table chain_payment (
  id text not null,
  chain_id integer not null,
  token text not null,
  from_address text not null,
  nonce text not null,
  direction text not null,
  purpose text not null,
  subject_id text not null,
  account_id text,
  ledger_account_id text not null,
  to_address text not null,
  value_micro bigint not null,
  valid_after bigint not null,
  valid_before bigint not null,
  signature text not null,
  fingerprint bytea,
  x402_version smallint,
  state text not null,
  reason text,
  transaction_hash text,
  block_number bigint,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  block_hash text,
  lost_at timestamp with time zone,
  client text,
  channel_id text,
  deposit_call text,
  constraint chain_payment_pkey PRIMARY KEY (id),
  constraint chain_payment_chain_id_token_from_address_nonce_key UNIQUE (chain_id, token, from_address, nonce),
  constraint chain_payment_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint chain_payment_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channel(id),
  constraint chain_payment_deposit_check CHECK (((purpose = 'channel_deposit'::text) = ((channel_id IS NOT NULL) AND (deposit_call IS NOT NULL)))),
  constraint chain_payment_direction_check CHECK (((direction = ANY (ARRAY['in'::text, 'out'::text, 'channel'::text])) AND ((direction = 'channel'::text) = (purpose = 'channel_deposit'::text)))),
  constraint chain_payment_lost_check CHECK (((lost_at IS NULL) OR (state = ANY (ARRAY['settled'::text, 'reversed'::text])))),
  constraint chain_payment_purpose_check CHECK ((purpose = ANY (ARRAY['invocation'::text, 'deposit'::text, 'refund'::text, 'withdrawal'::text, 'bill'::text, 'return'::text, 'home_refund'::text, 'home_return'::text, 'second_return'::text, 'channel_deposit'::text]))),
  constraint chain_payment_state_check CHECK ((state = ANY (ARRAY['claimed'::text, 'broadcasting'::text, 'settled'::text, 'failed'::text, 'reversed'::text]))),
  constraint chain_payment_value_micro_check CHECK ((value_micro > 0))
);
CREATE INDEX chain_payment_account ON public.chain_payment USING btree (account_id, created_at);
CREATE INDEX chain_payment_bill ON public.chain_payment USING btree (created_at, id) WHERE ((purpose = 'bill'::text) AND (state = ANY (ARRAY['claimed'::text, 'broadcasting'::text])));
CREATE INDEX chain_payment_bill_age ON public.chain_payment USING btree (created_at) WHERE (purpose = 'bill'::text);
CREATE INDEX chain_payment_block_hash ON public.chain_payment USING btree (chain_id, block_number) WHERE (block_hash IS NOT NULL);
CREATE INDEX chain_payment_channel ON public.chain_payment USING btree (channel_id, created_at) WHERE (channel_id IS NOT NULL);
CREATE INDEX chain_payment_failed ON public.chain_payment USING btree (created_at, id) WHERE ((state = 'failed'::text) AND (direction <> 'out'::text));
CREATE INDEX chain_payment_funding ON public.chain_payment USING btree (account_id, purpose, from_address, to_address) WHERE ((purpose = ANY (ARRAY['deposit'::text, 'withdrawal'::text])) AND (state = 'settled'::text));
CREATE INDEX chain_payment_home ON public.chain_payment USING btree (ledger_account_id, created_at) WHERE (purpose = ANY (ARRAY['home_refund'::text, 'home_return'::text]));
CREATE INDEX chain_payment_lost ON public.chain_payment USING btree (created_at, id) WHERE ((lost_at IS NOT NULL) AND (state = 'settled'::text));
CREATE INDEX chain_payment_open ON public.chain_payment USING btree (created_at, id) WHERE (state = ANY (ARRAY['claimed'::text, 'broadcasting'::text]));
CREATE INDEX chain_payment_refund_of ON public.chain_payment USING btree (account_id, created_at) WHERE ((direction = 'out'::text) AND (purpose = ANY (ARRAY['refund'::text, 'return'::text, 'second_return'::text])) AND (signature <> '0x'::text));
CREATE INDEX chain_payment_refund_to ON public.chain_payment USING btree (to_address, created_at) WHERE ((direction = 'out'::text) AND (purpose = ANY (ARRAY['refund'::text, 'return'::text, 'second_return'::text])) AND (signature <> '0x'::text));
CREATE INDEX chain_payment_refunded ON public.chain_payment USING btree (account_id, created_at) WHERE (purpose = ANY (ARRAY['refund'::text, 'return'::text, 'second_return'::text]));
CREATE UNIQUE INDEX chain_payment_subject ON public.chain_payment USING btree (subject_id, purpose);
CREATE INDEX chain_payment_treasury ON public.chain_payment USING btree (ledger_account_id, created_at) WHERE (purpose = ANY (ARRAY['deposit'::text, 'withdrawal'::text]));

create table chain_signer (
  chain_id integer not null,
  address text not null,
  next_nonce bigint not null,
  leased_by text,
  leased_until timestamp with time zone,
  constraint chain_signer_pkey PRIMARY KEY (chain_id, address),
  constraint chain_signer_lease_check CHECK (((leased_by IS NULL) = (leased_until IS NULL)))
);

create table chain_transaction (
  hash text not null,
  chain_id integer not null,
  signer text not null,
  nonce bigint not null,
  raw text not null,
  state text not null,
  created_at timestamp with time zone not null,
  mined_block bigint,
  mined_at_s bigint,
  block_hash text,
  block_index integer,
  cost_wei numeric(38,0),
  constraint chain_transaction_pkey PRIMARY KEY (hash),
  constraint chain_transaction_state_check CHECK ((state = ANY (ARRAY['sent'::text, 'mined'::text, 'replaced'::text])))
);
CREATE INDEX chain_transaction_block ON public.chain_transaction USING btree (chain_id, mined_block) WHERE (block_hash IS NOT NULL);
CREATE INDEX chain_transaction_day ON public.chain_transaction USING btree (chain_id, created_at);
CREATE UNIQUE INDEX chain_transaction_mined_nonce ON public.chain_transaction USING btree (chain_id, signer, nonce) WHERE (state = 'mined'::text);
CREATE INDEX chain_transaction_nonce ON public.chain_transaction USING btree (chain_id, signer, nonce);
CREATE INDEX chain_transaction_open ON public.chain_transaction USING btree (chain_id, signer, nonce) WHERE (state = 'sent'::text);

create table channel (
  id text not null,
  chain_id integer not null,
  payer text not null,
  payer_authorizer text not null,
  receiver text not null,
  receiver_authorizer text not null,
  token text not null,
  withdraw_delay_s integer not null,
  salt text not null,
  balance_micro bigint default 0 not null,
  claimed_micro bigint default 0 not null,
  charged_micro bigint default 0 not null,
  reserved_micro bigint default 0 not null,
  signed_micro bigint default 0 not null,
  signature text,
  published_micro bigint default 0 not null,
  refund_nonce bigint default 0 not null,
  withdraw_requested_at timestamp with time zone,
  created_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  read_block bigint default 0 not null,
  due_block bigint,
  lost_micro bigint default 0 not null,
  booking integer default 0 not null,
  refund_id text,
  turn_request text,
  turn_until timestamp with time zone,
  has_rest boolean generated always as ((balance_micro > charged_micro)) stored not null,
  owes boolean generated always as ((charged_micro > (claimed_micro + lost_micro))) stored not null,
  is_under_way boolean generated always as (((charged_micro + reserved_micro) <> (claimed_micro + lost_micro))) stored not null,
  is_lossy boolean generated always as (((charged_micro > balance_micro) OR (lost_micro > 0))) stored not null,
  billed_micro bigint default 0 not null,
  checked_at timestamp with time zone,
  constraint channel_pkey PRIMARY KEY (id),
  constraint channel_balance_micro_check CHECK ((balance_micro >= 0)),
  constraint channel_billed_micro_check CHECK ((billed_micro >= 0)),
  constraint channel_charged_micro_check CHECK ((charged_micro >= 0)),
  constraint channel_check CHECK (((charged_micro + reserved_micro) <= signed_micro)),
  constraint channel_claimed_micro_check CHECK ((claimed_micro >= 0)),
  constraint channel_lost_micro_check CHECK ((lost_micro >= 0)),
  constraint channel_reserved_micro_check CHECK ((reserved_micro >= 0))
);
CREATE INDEX channel_due_block ON public.channel USING btree (chain_id, due_block) WHERE (due_block IS NOT NULL);
CREATE INDEX channel_lossy ON public.channel USING btree (chain_id, id) WHERE is_lossy;
CREATE INDEX channel_owing ON public.channel USING btree (chain_id, id) WHERE owes;
CREATE INDEX channel_payer ON public.channel USING btree (payer, created_at);
CREATE INDEX channel_read_block ON public.channel USING btree (chain_id, token, read_block);
CREATE INDEX channel_refunding ON public.channel USING btree (chain_id, id) WHERE (refund_id IS NOT NULL);
CREATE INDEX channel_under_way ON public.channel USING btree (chain_id, id) WHERE is_under_way;
CREATE INDEX channel_under_way_of_payer ON public.channel USING btree (payer) WHERE is_under_way;
CREATE INDEX channel_with_rest ON public.channel USING btree (chain_id) WHERE has_rest;
CREATE INDEX channel_withdrawing ON public.channel USING btree (chain_id, id) WHERE (withdraw_requested_at IS NOT NULL);

create table channel_charge (
  request_id text not null,
  channel_id text not null,
  amount_micro bigint not null,
  max_micro bigint not null,
  signature text not null,
  charged_micro bigint,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  fingerprint bytea not null,
  billed_micro bigint default 0 not null,
  constraint channel_charge_pkey PRIMARY KEY (request_id),
  constraint channel_charge_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channel(id),
  constraint channel_charge_amount_micro_check CHECK ((amount_micro > 0)),
  constraint channel_charge_billed_micro_check CHECK ((billed_micro >= 0)),
  constraint channel_charge_check CHECK (((charged_micro >= 0) AND (charged_micro <= amount_micro))),
  constraint channel_charge_check1 CHECK (((charged_micro IS NULL) = (ended_at IS NULL)))
);
CREATE INDEX channel_charge_channel ON public.channel_charge USING btree (channel_id, max_micro);
CREATE INDEX channel_charge_created ON public.channel_charge USING btree (created_at);

create table channel_claim (
  id text not null,
  chain_id integer not null,
  reason text not null,
  state text default 'sent'::text not null,
  transaction_hash text not null,
  block_number bigint,
  block_hash text,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  gas_used bigint,
  token text default ''::text not null,
  constraint channel_claim_pkey PRIMARY KEY (id),
  constraint channel_claim_check CHECK (((state = 'sent'::text) = (ended_at IS NULL))),
  constraint channel_claim_reason_check CHECK ((reason = ANY (ARRAY['threshold'::text, 'age'::text, 'payout'::text, 'stop'::text, 'withdrawal'::text, 'refund'::text]))),
  constraint channel_claim_state_check CHECK ((state = ANY (ARRAY['sent'::text, 'done'::text, 'failed'::text])))
);
CREATE INDEX channel_claim_block ON public.channel_claim USING btree (chain_id, token, block_number) WHERE (state = 'done'::text);
CREATE INDEX channel_claim_created ON public.channel_claim USING btree (chain_id, created_at, id);
CREATE INDEX channel_claim_ended ON public.channel_claim USING btree (ended_at) WHERE (state <> 'sent'::text);
CREATE INDEX channel_claim_open ON public.channel_claim USING btree (chain_id) WHERE (state = 'sent'::text);

create table channel_claim_row (
  claim_id text not null,
  channel_id text not null,
  max_micro bigint not null,
  total_micro bigint not null,
  is_open boolean default true not null,
  constraint channel_claim_row_pkey PRIMARY KEY (claim_id, channel_id),
  constraint channel_claim_row_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channel(id),
  constraint channel_claim_row_claim_id_fkey FOREIGN KEY (claim_id) REFERENCES channel_claim(id) ON DELETE CASCADE,
  constraint channel_claim_row_check CHECK ((total_micro <= max_micro))
);
CREATE INDEX channel_claim_row_channel ON public.channel_claim_row USING btree (channel_id);
CREATE UNIQUE INDEX channel_claim_row_open ON public.channel_claim_row USING btree (channel_id) WHERE is_open;

-- What an account has earned by calls of a channel, as far as claims do not cover it: at most what the channel owes unclaimed. Held by the account; of the fees, not withdrawable.
create table channel_earning (
  channel_id text not null,
  ledger_account_id text not null,
  micro bigint not null,
  constraint channel_earning_pkey PRIMARY KEY (channel_id, ledger_account_id),
  constraint channel_earning_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channel(id),
  constraint channel_earning_micro_check CHECK ((micro > 0))
);
CREATE INDEX channel_earning_account ON public.channel_earning USING btree (ledger_account_id);

create table channel_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  token text default ''::text not null,
  constraint channel_point_pkey PRIMARY KEY (chain_id, token, block_number)
);

create table channel_receiver (
  chain_id integer not null,
  receiver text not null,
  foreign_micro bigint not null,
  settled_micro bigint not null,
  booking integer default 0 not null,
  block_number bigint not null,
  block_hash text not null,
  known_micro bigint default 0 not null,
  token text default ''::text not null,
  constraint channel_receiver_pkey PRIMARY KEY (chain_id, token, receiver)
);

create table channel_refund (
  id text not null,
  channel_id text not null,
  payload_key text not null,
  amount_micro bigint not null,
  nonce bigint not null,
  client text,
  claim_id text not null,
  state text default 'sent'::text not null,
  refunded_micro bigint,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint channel_refund_pkey PRIMARY KEY (id),
  constraint channel_refund_channel_id_fkey FOREIGN KEY (channel_id) REFERENCES channel(id),
  constraint channel_refund_claim_id_fkey FOREIGN KEY (claim_id) REFERENCES channel_claim(id),
  constraint channel_refund_amount_micro_check CHECK ((amount_micro > 0)),
  constraint channel_refund_state_check CHECK ((state = ANY (ARRAY['sent'::text, 'done'::text, 'failed'::text])))
);
CREATE INDEX channel_refund_channel ON public.channel_refund USING btree (channel_id, created_at);
CREATE INDEX channel_refund_claim ON public.channel_refund USING btree (claim_id);
CREATE INDEX channel_refund_created ON public.channel_refund USING btree (created_at);
CREATE UNIQUE INDEX channel_refund_payload ON public.channel_refund USING btree (channel_id, payload_key) WHERE (state <> 'failed'::text);

create table database_hole (
  id bigint generated always as identity not null,
  reason text not null,
  found_by text not null,
  found_at timestamp with time zone default now() not null,
  is_open boolean default true not null,
  accepted_at timestamp with time zone,
  accepted_by text,
  constraint database_hole_pkey PRIMARY KEY (id),
  constraint database_hole_check CHECK ((is_open = (accepted_at IS NULL))),
  constraint database_hole_check1 CHECK (((accepted_at IS NULL) = (accepted_by IS NULL)))
);
CREATE UNIQUE INDEX database_hole_open ON public.database_hole USING btree (is_open) WHERE is_open;

create table event (
  sequence bigint not null,
  id text not null,
  account_id text not null,
  type text not null,
  subject_id text not null,
  data json,
  webhook_url text,
  needs_fan_out boolean not null,
  created_at timestamp with time zone not null,
  constraint event_pkey PRIMARY KEY (sequence),
  constraint event_id_key UNIQUE (id)
);
CREATE INDEX event_account ON public.event USING btree (account_id, sequence);
CREATE INDEX event_fan_out ON public.event USING btree (sequence) WHERE needs_fan_out;
CREATE INDEX event_subject ON public.event USING btree (subject_id);

create table event_clock (
  only_row boolean default true not null,
  xid_offset bigint not null,
  constraint event_clock_pkey PRIMARY KEY (only_row),
  constraint event_clock_only_row_check CHECK (only_row)
);

create table event_horizon (
  account_id text not null,
  sequence bigint not null,
  constraint event_horizon_pkey PRIMARY KEY (account_id)
);

-- Wallets that test USDC was ever given from: two accounts that got some are no party because of that
create table faucet_wallet (
  address text not null,
  constraint faucet_wallet_pkey PRIMARY KEY (address)
);

create table feedback (
  request_id text not null,
  agent_id text not null,
  file text not null,
  constraint feedback_pkey PRIMARY KEY (request_id)
);

create table feedback_due (
  request_id text not null
);

-- What an owner has stored, by the hash of its content. Owners share no contents: nothing tells what another one has
create table file (
  owner_id text not null,
  sha256 bytea not null,
  blob_id text not null,
  media_type text not null,
  name text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint file_pkey PRIMARY KEY (owner_id, sha256),
  constraint file_blob_id_key UNIQUE (blob_id),
  constraint file_blob_id_fkey FOREIGN KEY (blob_id) REFERENCES file_blob(id),
  constraint file_sha256_check CHECK ((octet_length(sha256) = 32))
);
CREATE INDEX file_expiring ON public.file USING btree (expires_at);
CREATE INDEX file_listed ON public.file USING btree (owner_id, created_at DESC, blob_id DESC);

-- Contents in a store, one for each upload: noted before the first byte is stored, forgotten after the last is removed
create table file_blob (
  id text not null,
  owner_id text not null,
  account_id text not null,
  store text not null,
  state text not null,
  size bigint not null,
  piece_bytes integer not null,
  piece_hashes bytea,
  counted_bytes bigint not null,
  due_at timestamp with time zone,
  request_id text,
  constraint file_blob_pkey PRIMARY KEY (id),
  constraint file_blob_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint file_blob_check CHECK (((state = 'kept'::text) = (due_at IS NULL))),
  constraint file_blob_check1 CHECK (((state <> 'kept'::text) OR (piece_hashes IS NOT NULL))),
  constraint file_blob_piece_bytes_check CHECK ((piece_bytes > 0)),
  constraint file_blob_size_check CHECK ((size >= 0)),
  constraint file_blob_state_check CHECK ((state = ANY (ARRAY['arriving'::text, 'kept'::text, 'leaving'::text]))),
  constraint file_blob_store_check CHECK ((store = ANY (ARRAY['postgres'::text, 'disk'::text, 's3'::text])))
);
CREATE INDEX file_blob_arriving ON public.file_blob USING btree (account_id) WHERE (state = 'arriving'::text);
CREATE INDEX file_blob_due ON public.file_blob USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX file_blob_of_request ON public.file_blob USING btree (request_id) WHERE ((state = 'arriving'::text) AND (request_id IS NOT NULL));

-- Contents of the store "postgres", in pieces
create table file_piece (
  blob_id text not null,
  "position" integer not null,
  bytes bytea not null,
  constraint file_piece_pkey PRIMARY KEY (blob_id, "position")
);

-- What the price of an agent followed until it was changed, for a day: callers may have been told.
create table former_terms (
  agent_id text not null,
  digest text not null,
  terms json not null,
  ended_at timestamp with time zone not null,
  constraint former_terms_pkey PRIMARY KEY (agent_id, digest),
  constraint former_terms_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id)
);

create table found_payout (
  id text not null,
  chain_id integer not null,
  token text not null,
  from_address text not null,
  nonce text not null,
  is_plain boolean not null,
  to_address text not null,
  value_micro bigint not null,
  transaction_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  is_restored boolean not null,
  state text default 'found'::text not null,
  request_id text,
  purpose text,
  source text,
  due_micro bigint default 0 not null,
  payment_id text,
  decided_by text,
  decision text,
  found_at timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  constraint found_payout_pkey PRIMARY KEY (id),
  constraint found_payout_chain_id_token_nonce_key UNIQUE (chain_id, token, nonce),
  constraint found_payout_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES chain_payment(id),
  constraint found_payout_check CHECK (((state <> 'decided'::text) OR (decided_by IS NOT NULL))),
  constraint found_payout_check1 CHECK (((due_micro = 0) OR (state = 'due'::text))),
  constraint found_payout_due_micro_check CHECK ((due_micro >= 0)),
  constraint found_payout_state_check CHECK ((state = ANY (ARRAY['found'::text, 'expected'::text, 'explained'::text, 'booked'::text, 'due'::text, 'undecided'::text, 'decided'::text]))),
  constraint found_payout_value_micro_check CHECK ((value_micro > 0))
);
CREATE INDEX found_payout_open ON public.found_payout USING btree (state) WHERE (state = ANY (ARRAY['found'::text, 'expected'::text, 'due'::text, 'undecided'::text]));

-- Payouts that the token refuses: tried again at next_try_at. Rows of payouts that have ended are removed.
create table held_payout (
  payment_id text not null,
  reason text not null,
  tries integer not null,
  held_at timestamp with time zone not null,
  next_try_at timestamp with time zone not null,
  constraint held_payout_pkey PRIMARY KEY (payment_id),
  constraint held_payout_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES chain_payment(id)
);

create table hold (
  id text not null,
  ledger_account_id text not null,
  amount_micro bigint not null,
  captured_micro bigint,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  scheme text,
  constraint hold_pkey PRIMARY KEY (id),
  constraint hold_amount_micro_check CHECK ((amount_micro > 0)),
  constraint hold_check CHECK (((captured_micro >= 0) AND (captured_micro <= amount_micro))),
  constraint hold_check1 CHECK (((captured_micro IS NULL) = (ended_at IS NULL)))
);
CREATE INDEX hold_open ON public.hold USING btree (expires_at) WHERE (ended_at IS NULL);
CREATE TRIGGER hold_scheme BEFORE INSERT ON public.hold FOR EACH ROW WHEN (((new.scheme IS NULL) AND (new.id !~~ 'wdr\_%'::text))) EXECUTE FUNCTION fill_hold_scheme();

create table home_call (
  request_id text not null,
  node_id text not null,
  home_request_id text not null,
  created_at timestamp with time zone not null,
  next_look_at timestamp with time zone,
  constraint home_call_pkey PRIMARY KEY (request_id),
  constraint home_call_node_id_fkey FOREIGN KEY (node_id) REFERENCES network_node(id)
);
CREATE INDEX home_call_look ON public.home_call USING btree (next_look_at) WHERE (next_look_at IS NOT NULL);

create table idempotency (
  account_id text not null,
  key text not null,
  fingerprint bytea not null,
  worker uuid,
  answer_sealed bytea,
  created_at timestamp with time zone not null,
  answer_headers json,
  caller_id text,
  scopes text[] default '{}'::text[] not null,
  secret_sealed bytea,
  secret_until timestamp with time zone,
  constraint idempotency_pkey PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_created ON public.idempotency USING btree (created_at);
CREATE INDEX idempotency_secret ON public.idempotency USING btree (secret_until) WHERE (secret_sealed IS NOT NULL);

create table invocation (
  id text not null,
  account_id text not null,
  caller_agent_id text,
  agent_id text not null,
  task text not null,
  input json not null,
  context text,
  metadata json not null,
  priority text not null,
  price_micro bigint not null,
  estimated_time text not null,
  deadline timestamp with time zone not null,
  payment_method text not null,
  payer_ledger_id text,
  payment_hash text,
  status text not null,
  worker uuid,
  attempt integer not null,
  result json,
  cost_micro bigint,
  refund_micro bigint,
  error_code text,
  error_message text,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  completed_at timestamp with time zone,
  bulk_id text,
  webhook_url text,
  is_streamed boolean default false not null,
  queue_rank smallint generated always as (
CASE priority
    WHEN 'high'::text THEN 0
    WHEN 'normal'::text THEN 1
    ELSE 2
END) stored not null,
  billed_micro bigint,
  budget_id text,
  promised_micro bigint,
  returned_micro bigint default 0 not null,
  requested_agent_id text,
  lane text generated always as (
CASE
    WHEN (caller_agent_id IS NULL) THEN account_id
    ELSE (account_id || ':agents'::text)
END) stored not null,
  content_removed_at timestamp with time zone,
  cancel_reason text,
  chosen json,
  content_hashes bytea,
  types_id text,
  capability text,
  caller_kind text,
  face text,
  counted_bytes bigint,
  task_hash bytea,
  shown_share smallint,
  is_held_back boolean default false not null,
  shown_at timestamp with time zone,
  is_ended_early boolean default false not null,
  scheme text,
  usage_terms json,
  usage json,
  input_timeout_s integer,
  turn integer default 1 not null,
  constraint invocation_pkey PRIMARY KEY (id),
  constraint invocation_caller_kind_check CHECK ((caller_kind = ANY (ARRAY['account'::text, 'agent'::text, 'wallet'::text, 'node'::text]))),
  constraint invocation_cancel_reason_check CHECK ((cancel_reason = ANY (ARRAY['cancelled_by_caller'::text, 'bulk_decided'::text]))),
  constraint invocation_check CHECK (((status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text])) = (completed_at IS NOT NULL))),
  constraint invocation_check1 CHECK (((billed_micro >= 1) AND (billed_micro <= price_micro))),
  constraint invocation_input_timeout_s_check CHECK ((input_timeout_s > 0)),
  constraint invocation_payment_method_check CHECK ((payment_method = ANY (ARRAY['treasury'::text, 'x402'::text, 'free'::text]))),
  constraint invocation_priority_check CHECK ((priority = ANY (ARRAY['low'::text, 'normal'::text, 'high'::text]))),
  constraint invocation_promised_micro_check CHECK ((promised_micro >= 0)),
  constraint invocation_returned_micro_check CHECK ((returned_micro >= 0)),
  constraint invocation_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'input_required'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))) NOT VALID
);
CREATE INDEX invocation_account ON public.invocation USING btree (account_id, created_at DESC, id);
CREATE INDEX invocation_bulk ON public.invocation USING btree (bulk_id) WHERE (bulk_id IS NOT NULL);
CREATE INDEX invocation_by_agent ON public.invocation USING btree (account_id, caller_agent_id, created_at DESC, id) WHERE (caller_agent_id IS NOT NULL);
CREATE INDEX invocation_called ON public.invocation USING btree (account_id, agent_id, created_at DESC, id);
CREATE INDEX invocation_content_due ON public.invocation USING btree (completed_at) WHERE ((completed_at IS NOT NULL) AND (content_removed_at IS NULL));
CREATE INDEX invocation_contents_of_account ON public.invocation USING btree (account_id, completed_at) WHERE ((completed_at IS NOT NULL) AND (content_removed_at IS NULL));
CREATE INDEX invocation_context ON public.invocation USING btree (account_id, (
CASE
    WHEN ((metadata)::text !~ '\\u(0000|[dD][89a-fA-F])'::text) THEN "left"((metadata #>> '{a2a,contextId}'::text[]), 257)
    ELSE NULL::text
END)) WHERE (
CASE
    WHEN ((metadata)::text !~ '\\u(0000|[dD][89a-fA-F])'::text) THEN "left"((metadata #>> '{a2a,contextId}'::text[]), 257)
    ELSE NULL::text
END IS NOT NULL);
CREATE INDEX invocation_ended_early ON public.invocation USING btree (agent_id, account_id) WHERE is_ended_early;
CREATE INDEX invocation_failed ON public.invocation USING btree (account_id, completed_at DESC) WHERE (status = 'failed'::text);
CREATE INDEX invocation_open ON public.invocation USING btree (agent_id, worker) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text]));
CREATE INDEX invocation_queue ON public.invocation USING btree (lane, queue_rank, created_at, id) WHERE ((status = 'pending'::text) AND (worker IS NULL) AND (payment_method <> 'x402'::text));
CREATE INDEX invocation_queue_deadline ON public.invocation USING btree (deadline) WHERE ((status = 'pending'::text) AND (worker IS NULL) AND (payment_method <> 'x402'::text));
CREATE INDEX invocation_received ON public.invocation USING btree (agent_id, status, created_at DESC, id);
CREATE INDEX invocation_received_failed ON public.invocation USING btree (agent_id, error_code, created_at DESC, id) WHERE (status = 'failed'::text);
CREATE INDEX invocation_unsuccessful ON public.invocation USING btree (account_id, status, created_at DESC, id) WHERE (status = ANY (ARRAY['failed'::text, 'cancelled'::text]));
CREATE INDEX invocation_unsuccessful_cost ON public.invocation USING btree (account_id, status, created_at) INCLUDE (agent_id, cost_micro) WHERE ((status = ANY (ARRAY['failed'::text, 'cancelled'::text])) AND (cost_micro > 0));
CREATE INDEX invocation_usage ON public.invocation USING btree (agent_id, completed_at DESC) WHERE (usage IS NOT NULL);
CREATE INDEX invocation_waiting ON public.invocation USING btree (deadline) WHERE (status = 'input_required'::text);
CREATE INDEX invocation_waiting_account ON public.invocation USING btree (account_id) WHERE (status = 'input_required'::text);
CREATE TRIGGER invocation_interactive BEFORE UPDATE OF worker ON public.invocation FOR EACH ROW WHEN (((new.input_timeout_s IS NOT NULL) AND (new.worker IS NOT NULL) AND (new.worker IS DISTINCT FROM old.worker))) EXECUTE FUNCTION keep_interactive();
CREATE TRIGGER invocation_scheme BEFORE INSERT ON public.invocation FOR EACH ROW WHEN (((new.scheme IS NULL) AND (new.payer_ledger_id IS NOT NULL))) EXECUTE FUNCTION fill_invocation_scheme();

create table invocation_chunk (
  invocation_id text not null,
  "position" integer not null,
  type text not null,
  data json not null,
  created_at timestamp with time zone not null,
  bytes integer,
  constraint invocation_chunk_pkey PRIMARY KEY (invocation_id, "position"),
  constraint invocation_chunk_type_check CHECK ((type = ANY (ARRAY['invocation.status'::text, 'invocation.chunk'::text, 'invocation.input_required'::text]))) NOT VALID
);
CREATE INDEX invocation_chunk_age ON public.invocation_chunk USING btree (created_at);

create table invocation_receipt (
  request_id text not null,
  receipt json not null,
  issued_at timestamp with time zone not null,
  constraint invocation_receipt_pkey PRIMARY KEY (request_id),
  constraint invocation_receipt_request_id_fkey FOREIGN KEY (request_id) REFERENCES invocation(id)
);

create table invocation_turn (
  request_id text not null,
  turn integer not null,
  input_id text not null,
  kind text not null,
  message text not null,
  schema json,
  url text,
  agent_input_id text,
  state json,
  handle text,
  left_ms bigint not null,
  asked_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  tries integer default 0 not null,
  answered_at timestamp with time zone,
  action text,
  input json,
  note text,
  answer_digest bytea,
  bytes bigint not null,
  message_id text,
  constraint invocation_turn_pkey PRIMARY KEY (request_id, turn),
  constraint invocation_turn_input_id_key UNIQUE (input_id),
  constraint invocation_turn_request_id_fkey FOREIGN KEY (request_id) REFERENCES invocation(id),
  constraint invocation_turn_action_check CHECK ((action = ANY (ARRAY['accept'::text, 'decline'::text]))),
  constraint invocation_turn_check CHECK (((answered_at IS NULL) = (action IS NULL))),
  constraint invocation_turn_kind_check CHECK ((kind = ANY (ARRAY['input'::text, 'approval'::text, 'link'::text])))
);

create table key_spending (
  budget_id text not null,
  day date not null,
  spent_micro bigint not null,
  constraint key_spending_pkey PRIMARY KEY (budget_id, day),
  constraint key_spending_spent_micro_check CHECK ((spent_micro >= 0))
);

create table ledger_account (
  id text not null,
  kind text not null,
  account_id text,
  agent_id text,
  address text,
  label text,
  posted_micro bigint default 0 not null,
  held_micro bigint default 0 not null,
  created_at timestamp with time zone not null,
  entries bigint default 0 not null,
  last_entry_at timestamp with time zone,
  frozen_at timestamp with time zone,
  asset text,
  constraint ledger_account_pkey PRIMARY KEY (id),
  constraint ledger_account_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint ledger_account_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id),
  constraint ledger_account_asset_check CHECK ((NOT (asset IS DISTINCT FROM NULLIF(split_part(id, '@'::text, 2), ''::text)))) NOT VALID,
  constraint ledger_account_check CHECK (((held_micro >= 0) AND (posted_micro >= held_micro))),
  constraint ledger_account_kind_check CHECK ((kind = ANY (ARRAY['treasury'::text, 'agent'::text, 'payer'::text, 'suspense'::text, 'channel'::text, 'wallet'::text, 'vouchers'::text, 'claimed'::text, 'outgoing'::text, 'fees'::text, 'loss'::text])))
);
CREATE INDEX ledger_account_account ON public.ledger_account USING btree (account_id) WHERE (account_id IS NOT NULL);
CREATE UNIQUE INDEX ledger_account_agent ON public.ledger_account USING btree (agent_id, COALESCE(asset, ''::text)) WHERE (kind = 'agent'::text);
CREATE UNIQUE INDEX ledger_account_payer ON public.ledger_account USING btree (address, COALESCE(asset, ''::text)) WHERE (kind = 'payer'::text);
CREATE UNIQUE INDEX ledger_account_suspense ON public.ledger_account USING btree (address, COALESCE(asset, ''::text)) WHERE (kind = 'suspense'::text);
CREATE UNIQUE INDEX ledger_account_treasury ON public.ledger_account USING btree (account_id, COALESCE(asset, ''::text)) WHERE (kind = 'treasury'::text);

create table ledger_total (
  kind text not null,
  change_micro bigint not null,
  is_folded boolean default false not null,
  asset text,
  constraint ledger_total_kind_check CHECK ((kind = ANY (ARRAY['treasury'::text, 'agent'::text, 'payer'::text, 'suspense'::text, 'channel'::text, 'wallet'::text, 'vouchers'::text, 'claimed'::text, 'outgoing'::text, 'fees'::text, 'loss'::text])))
);

create table money_audit (
  only_row boolean default true not null,
  account_id text not null,
  constraint money_audit_pkey PRIMARY KEY (only_row),
  constraint money_audit_only_row_check CHECK (only_row)
);

create table network_entry (
  chain_id integer not null,
  token_id numeric(78,0) not null,
  kind text not null,
  base_url text not null,
  agent_id text,
  owner text not null,
  registered_by text not null,
  state text not null,
  reason text,
  tries integer default 0 not null,
  next_try_at timestamp with time zone,
  uri_block bigint not null,
  uri_index integer not null,
  uri_by text not null,
  constraint network_entry_pkey PRIMARY KEY (chain_id, token_id),
  constraint network_entry_check CHECK (((kind = 'agent'::text) = (agent_id IS NOT NULL))),
  constraint network_entry_kind_check CHECK ((kind = ANY (ARRAY['node'::text, 'agent'::text]))),
  constraint network_entry_state_check CHECK ((state = ANY (ARRAY['new'::text, 'listed'::text, 'ignored'::text])))
);
CREATE INDEX network_entry_agent ON public.network_entry USING btree (agent_id) WHERE (agent_id IS NOT NULL);
CREATE INDEX network_entry_base ON public.network_entry USING btree (base_url, next_try_at);
CREATE INDEX network_entry_due ON public.network_entry USING btree (kind, next_try_at) WHERE (next_try_at IS NOT NULL);

create table network_follow (
  chain_id integer not null,
  number bigint not null,
  constraint network_follow_pkey PRIMARY KEY (chain_id)
);

create table network_node (
  id text not null,
  chain_id integer not null,
  token_id numeric(78,0) not null,
  base_url text not null,
  label text not null,
  version text not null,
  wallet text not null,
  account_id text not null,
  status text not null,
  is_listed boolean default true not null,
  is_shown boolean default true not null,
  failed_in_a_row integer default 0 not null,
  feed_cursor text,
  feed_read integer default 0 not null,
  next_check_at timestamp with time zone not null,
  joined_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  api_key_sealed bytea,
  is_interactive boolean default false not null,
  constraint network_node_pkey PRIMARY KEY (id),
  constraint network_node_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint network_node_status_check CHECK ((status = ANY (ARRAY['online'::text, 'offline'::text])))
);
CREATE INDEX network_node_account ON public.network_node USING btree (account_id);
CREATE UNIQUE INDEX network_node_base_url ON public.network_node USING btree (base_url);
CREATE INDEX network_node_check ON public.network_node USING btree (next_check_at) WHERE is_listed;
CREATE UNIQUE INDEX network_node_token ON public.network_node USING btree (chain_id, token_id) WHERE is_listed;
CREATE TRIGGER node_changed AFTER UPDATE OF base_url, label, wallet, is_interactive ON public.network_node FOR EACH ROW WHEN (((((old.base_url IS DISTINCT FROM new.base_url) OR (old.label IS DISTINCT FROM new.label)) OR (old.wallet IS DISTINCT FROM new.wallet)) OR (old.is_interactive IS DISTINCT FROM new.is_interactive))) EXECUTE FUNCTION note_replica_change('node');
CREATE TRIGGER node_wallet_added AFTER INSERT OR DELETE ON public.network_node FOR EACH ROW EXECUTE FUNCTION note_node_wallet();
CREATE TRIGGER node_wallet_changed AFTER UPDATE OF base_url, wallet, status, is_listed ON public.network_node FOR EACH ROW WHEN (((((old.base_url IS DISTINCT FROM new.base_url) OR (old.wallet IS DISTINCT FROM new.wallet)) OR (old.status IS DISTINCT FROM new.status)) OR (old.is_listed IS DISTINCT FROM new.is_listed))) EXECUTE FUNCTION note_node_wallet();

create table outcome (
  request_id text not null,
  agent_id text not null,
  account_id text not null,
  wallet text not null,
  amount_micro bigint not null,
  is_good boolean not null,
  ended_at timestamp with time zone not null,
  constraint outcome_pkey PRIMARY KEY (request_id),
  constraint outcome_amount_micro_check CHECK ((amount_micro > 0))
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
  constraint outcome_day_pkey PRIMARY KEY (agent_id, day, account_id, wallet)
);

create table outcome_due (
  request_id text not null
);

-- What the price of an agent followed when an account last paid it.
create table paid_terms (
  account_id text not null,
  agent_id text not null,
  terms json not null,
  paid_at timestamp with time zone not null,
  constraint paid_terms_pkey PRIMARY KEY (account_id, agent_id),
  constraint paid_terms_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint paid_terms_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id)
);

create table payer (
  account_id text not null,
  breadth double precision not null,
  since timestamp with time zone,
  computed_at timestamp with time zone not null,
  constraint payer_pkey PRIMARY KEY (account_id)
);

create table payer_agent (
  account_id text not null,
  agent_id text not null,
  paid_micro bigint not null,
  first_paid_at timestamp with time zone not null,
  constraint payer_agent_pkey PRIMARY KEY (account_id, agent_id)
);

create table payer_strike (
  subject text not null,
  strikes integer not null,
  last_at timestamp with time zone not null,
  refused_until timestamp with time zone,
  constraint payer_strike_pkey PRIMARY KEY (subject),
  constraint payer_strike_strikes_check CHECK ((strikes > 0))
);
CREATE INDEX payer_strike_age ON public.payer_strike USING btree (last_at);

create table payer_wallet (
  account_id text not null,
  wallet text not null,
  constraint payer_wallet_pkey PRIMARY KEY (account_id, wallet)
);

create table payout_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  token text default ''::text not null,
  constraint payout_point_pkey PRIMARY KEY (chain_id, token, block_number)
);

create table process (
  id uuid not null,
  worker_ids text[] default '{}'::text[] not null,
  started_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  label text not null,
  event_loop_delay_ms double precision[],
  place text,
  version text,
  schema_version integer,
  drain_asked_at timestamp with time zone,
  draining_since timestamp with time zone,
  open_work jsonb,
  constraint process_pkey PRIMARY KEY (id)
);

create table purchase_key (
  account_id text not null,
  key text not null,
  payment_id text not null,
  created_at timestamp with time zone not null,
  constraint purchase_key_pkey PRIMARY KEY (account_id, key)
);
CREATE INDEX purchase_key_created ON public.purchase_key USING btree (created_at);

create table quote (
  id text not null,
  account_id text not null,
  agent_id text not null,
  price_micro bigint not null,
  valid_until timestamp with time zone not null,
  used_by text,
  created_at timestamp with time zone not null,
  multiplier_hundredths integer,
  unit_count bigint,
  unit_pointer text,
  multiplier_ten_thousandths integer,
  factors json,
  unit_measure text,
  shown_share smallint,
  usage_terms json,
  constraint quote_pkey PRIMARY KEY (id),
  constraint quote_used_by_key UNIQUE (used_by),
  constraint quote_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint quote_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agent(id)
);
CREATE INDEX quote_age ON public.quote USING btree (valid_until);

create table rate_window (
  subject text not null,
  class text not null,
  started_at timestamp with time zone not null,
  used integer not null,
  granted integer not null,
  most integer default 0 not null,
  constraint rate_window_pkey PRIMARY KEY (subject, class)
);
CREATE INDEX rate_window_age ON public.rate_window USING btree (started_at);

create table recurring (
  name text not null,
  due_at timestamp with time zone not null,
  constraint recurring_pkey PRIMARY KEY (name)
);

create table registry_change (
  chain_id integer not null,
  token_id numeric(78,0) not null,
  number bigint default nextval('registry_change_number'::regclass) not null,
  constraint registry_change_pkey PRIMARY KEY (chain_id, token_id)
);
CREATE INDEX registry_change_order ON public.registry_change USING btree (chain_id, number);

create table registry_log (
  chain_id integer not null,
  block_number bigint not null,
  log_index integer not null,
  transaction_hash text not null,
  token_id numeric(78,0) not null,
  kind text not null,
  value text not null,
  bytes bytea,
  fault text,
  constraint registry_log_pkey PRIMARY KEY (chain_id, block_number, log_index),
  constraint registry_log_kind_check CHECK ((kind = ANY (ARRAY['registered'::text, 'uri'::text, 'owner'::text, 'wallet'::text, 'metadata'::text])))
);
CREATE INDEX registry_log_agent ON public.registry_log USING btree (chain_id, "right"(value, 56), block_number, log_index) WHERE ((kind = ANY (ARRAY['registered'::text, 'uri'::text])) AND (value ~~ '%/registration.json'::text));
CREATE INDEX registry_log_token ON public.registry_log USING btree (chain_id, token_id, block_number, log_index);

create table registry_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  constraint registry_point_pkey PRIMARY KEY (chain_id, block_number)
);

create table registry_reading (
  chain_id integer not null,
  state text not null,
  head_block bigint not null,
  safe_block bigint not null,
  good_at timestamp with time zone not null,
  constraint registry_reading_pkey PRIMARY KEY (chain_id),
  constraint registry_reading_state_check CHECK ((state = ANY (ARRAY['syncing'::text, 'live'::text, 'stalled'::text])))
);

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
  constraint registry_token_pkey PRIMARY KEY (chain_id, token_id)
);
CREATE INDEX registry_token_owner ON public.registry_token USING btree (chain_id, owner);
CREATE INDEX registry_token_uri ON public.registry_token USING btree (chain_id, md5(uri));

create table registry_write (
  id text not null,
  chain_id integer not null,
  kind text not null,
  subject_id text not null,
  target text not null,
  data text not null,
  state text not null,
  transaction_hash text,
  token_id numeric(78,0),
  block_number bigint,
  failure text,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  gas bigint default 500000 not null,
  uri text,
  place integer,
  tries integer default 0 not null,
  block_hash text,
  constraint registry_write_pkey PRIMARY KEY (id),
  constraint registry_write_kind_check CHECK ((kind = ANY (ARRAY['register'::text, 'uri'::text, 'transfer'::text, 'retire'::text, 'feedback'::text]))),
  constraint registry_write_state_check CHECK ((state = ANY (ARRAY['due'::text, 'sent'::text, 'done'::text, 'failed'::text])))
);
CREATE INDEX registry_write_done ON public.registry_write USING btree (chain_id, block_number) WHERE (state = 'done'::text);
CREATE UNIQUE INDEX registry_write_once ON public.registry_write USING btree (chain_id, kind, subject_id) WHERE ((state <> 'failed'::text) AND (kind <> 'uri'::text));
CREATE UNIQUE INDEX registry_write_once_open ON public.registry_write USING btree (chain_id, kind, subject_id) WHERE (state = ANY (ARRAY['due'::text, 'sent'::text]));
CREATE INDEX registry_write_open ON public.registry_write USING btree (created_at, id) WHERE (state = ANY (ARRAY['due'::text, 'sent'::text]));
CREATE INDEX registry_write_sent ON public.registry_write USING btree (transaction_hash) WHERE (state = 'sent'::text);
CREATE INDEX registry_write_subject ON public.registry_write USING btree (subject_id, kind);

create table replica_change (
  xid xid8 default pg_current_xact_id() not null,
  topic text not null,
  id text not null,
  changed_at timestamp with time zone default clock_timestamp() not null
);
CREATE INDEX replica_change_xid ON public.replica_change USING btree (xid) INCLUDE (topic, id);

create table replica_forgotten (
  is_only boolean default true not null,
  xid xid8 not null,
  constraint replica_forgotten_pkey PRIMARY KEY (is_only),
  constraint replica_forgotten_is_only_check CHECK (is_only)
);

create table reserves_watch (
  only_row boolean default true not null,
  drifted_checks integer not null,
  is_told boolean not null,
  asset text,
  constraint reserves_watch_only_row_check CHECK (only_row)
);
CREATE UNIQUE INDEX reserves_watch_asset ON public.reserves_watch USING btree (asset) NULLS NOT DISTINCT;

-- Files that the result of a completed request refers to: who may read the result may read them
create table result_file (
  request_id text not null,
  owner_id text not null,
  sha256 bytea not null,
  constraint result_file_pkey PRIMARY KEY (request_id, sha256),
  constraint result_file_request_id_fkey FOREIGN KEY (request_id) REFERENCES invocation(id)
);
CREATE INDEX result_file_of_file ON public.result_file USING btree (owner_id, sha256);

create table schema_migration (
  version integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone default now() not null,
  needs integer,
  constraint schema_migration_pkey PRIMARY KEY (version)
);

create table storage_change (
  id bigint generated always as identity not null,
  account_id text not null,
  bytes bigint not null,
  constraint storage_change_pkey PRIMARY KEY (id)
);
CREATE INDEX storage_change_account ON public.storage_change USING btree (account_id);

-- Gifts of test USDC in the last 24 hours, by the id of their deposit: noted before anything is paid
create table test_grant (
  id text not null,
  account_id text not null,
  network text not null,
  created_at timestamp with time zone not null,
  constraint test_grant_pkey PRIMARY KEY (id),
  constraint test_grant_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id)
);
CREATE INDEX test_grant_age ON public.test_grant USING btree (created_at);

create table transfer (
  id text not null,
  debit text not null,
  credit text not null,
  amount_micro bigint not null,
  kind text not null,
  subject_id text not null,
  created_at timestamp with time zone not null,
  debit_sequence bigint,
  debit_balance_micro bigint,
  credit_sequence bigint,
  credit_balance_micro bigint,
  constraint transfer_pkey PRIMARY KEY (id),
  constraint transfer_amount_micro_check CHECK ((amount_micro > 0)),
  constraint transfer_asset_check CHECK ((split_part(debit, '@'::text, 2) = split_part(credit, '@'::text, 2))) NOT VALID,
  constraint transfer_check CHECK ((debit <> credit)),
  constraint transfer_kind_check CHECK ((kind = ANY (ARRAY['deposit'::text, 'charge'::text, 'fee'::text, 'refund'::text, 'payout'::text, 'withdrawal'::text, 'return'::text, 'reversal'::text, 'claim'::text, 'bill'::text, 'bill_return'::text, 'fee_payout'::text, 'voucher'::text, 'voucher_release'::text, 'voucher_claim'::text, 'sweep'::text, 'voucher_loss'::text, 'collect'::text]))) NOT VALID
);
CREATE INDEX transfer_collect ON public.transfer USING btree (debit) WHERE (kind = 'collect'::text);
CREATE INDEX transfer_credit ON public.transfer USING btree (credit, created_at, credit_sequence) WHERE (credit_sequence IS NOT NULL);
CREATE INDEX transfer_debit ON public.transfer USING btree (debit, created_at, debit_sequence) WHERE (debit_sequence IS NOT NULL);

create table transfer_point (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  token text default ''::text not null,
  constraint transfer_point_pkey PRIMARY KEY (chain_id, token, block_number)
);

create table unaudited_request (
  request_id text not null,
  since timestamp with time zone not null,
  constraint unaudited_request_pkey PRIMARY KEY (request_id)
);
CREATE INDEX unaudited_request_since ON public.unaudited_request USING btree (since);

create table unpaid_task (
  id text not null,
  account_id text,
  caller_agent_id text,
  holder text not null,
  agent_id text not null,
  body json not null,
  quote_id text,
  message_key text not null,
  offer json not null,
  refusal text,
  ended text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint unpaid_task_pkey PRIMARY KEY (id),
  constraint unpaid_task_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint unpaid_task_ended_check CHECK ((ended = ANY (ARRAY['rejected'::text, 'cancelled'::text])))
);
CREATE INDEX unpaid_task_expires ON public.unpaid_task USING btree (expires_at);
CREATE INDEX unpaid_task_holder ON public.unpaid_task USING btree (holder, created_at);
CREATE INDEX unpaid_task_keyless ON public.unpaid_task USING btree (id) WHERE (account_id IS NULL);

create table unshown_transfer (
  chain_id integer not null,
  from_address text not null,
  nonce text not null,
  value_micro bigint not null,
  transaction_hash text not null,
  block_number bigint not null,
  block_hash text not null,
  seen_at timestamp with time zone not null,
  token text default ''::text not null,
  constraint unshown_transfer_pkey PRIMARY KEY (chain_id, token, from_address, nonce),
  constraint unshown_transfer_value_micro_check CHECK ((value_micro > 0))
);

create table upstream_call (
  request_id text not null,
  sent_at timestamp with time zone not null,
  handle text,
  turn integer default 1 not null,
  constraint upstream_call_pkey PRIMARY KEY (request_id, turn),
  constraint upstream_call_request_id_fkey FOREIGN KEY (request_id) REFERENCES invocation(id)
);

create table used_challenge (
  id text not null,
  expires_at timestamp with time zone not null,
  constraint used_challenge_pkey PRIMARY KEY (id)
);
CREATE INDEX used_challenge_expiry ON public.used_challenge USING btree (expires_at);

create table webhook (
  id text not null,
  account_id text not null,
  kind text not null,
  url text,
  description text not null,
  event_types text[],
  status text not null,
  disabled_reason text,
  secret_sealed bytea not null,
  old_secret_sealed bytea,
  old_valid_until timestamp with time zone,
  failing_since timestamp with time zone,
  paused_until timestamp with time zone,
  due_at timestamp with time zone,
  courier uuid,
  created_at timestamp with time zone not null,
  constraint webhook_pkey PRIMARY KEY (id),
  constraint webhook_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id),
  constraint webhook_check CHECK (((kind = 'endpoint'::text) = (url IS NOT NULL))),
  constraint webhook_kind_check CHECK ((kind = ANY (ARRAY['endpoint'::text, 'account'::text]))),
  constraint webhook_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'disabled'::text])))
);
CREATE INDEX webhook_account ON public.webhook USING btree (account_id);
CREATE INDEX webhook_due ON public.webhook USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX webhook_single ON public.webhook USING btree (account_id) WHERE (kind = 'account'::text);

create table webhook_attempt (
  delivery_id text not null,
  number integer not null,
  at timestamp with time zone not null,
  status integer,
  error text,
  duration_ms integer not null,
  response text,
  constraint webhook_attempt_pkey PRIMARY KEY (delivery_id, number),
  constraint webhook_attempt_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES webhook_delivery(id) ON DELETE CASCADE
);

create table webhook_delivery (
  id text not null,
  webhook_id text not null,
  event_id text not null,
  sequence bigint,
  type text not null,
  url text,
  body text,
  state text not null,
  attempts integer not null,
  tries integer not null,
  next_attempt_at timestamp with time zone,
  created_at timestamp with time zone not null,
  is_early boolean default false not null,
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_webhook_id_event_id_key UNIQUE (webhook_id, event_id),
  constraint webhook_delivery_webhook_id_fkey FOREIGN KEY (webhook_id) REFERENCES webhook(id) ON DELETE CASCADE,
  constraint webhook_delivery_check CHECK (((state = 'pending'::text) = (next_attempt_at IS NOT NULL))),
  constraint webhook_delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);
CREATE INDEX webhook_delivery_age ON public.webhook_delivery USING btree (created_at) WHERE (state <> 'pending'::text);
CREATE INDEX webhook_delivery_failed ON public.webhook_delivery USING btree (webhook_id, created_at, id) WHERE (state = 'failed'::text);
CREATE INDEX webhook_delivery_first ON public.webhook_delivery USING btree (webhook_id, sequence) WHERE ((state = 'pending'::text) AND (tries = 0));
CREATE INDEX webhook_delivery_list ON public.webhook_delivery USING btree (webhook_id, created_at, id);
CREATE INDEX webhook_delivery_retry ON public.webhook_delivery USING btree (webhook_id, next_attempt_at) WHERE ((state = 'pending'::text) AND (tries > 0));

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
  WHERE chain_payment.purpose = 'deposit'::text AND chain_payment.state = 'settled'::text AND NOT (chain_payment.from_address IN ( SELECT faucet_wallet.address
           FROM faucet_wallet));

CREATE OR REPLACE FUNCTION public.database_identity()
 RETURNS text
 LANGUAGE plpgsql
AS $function$
begin
  return (select (pg_control_system()).system_identifier::text || '.' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
            || '.' || (select oid::text from pg_database where datname = current_database())
            || '.' || coalesce((select max(id) from database_hole where not is_open), 0)::text);
exception when others then
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.duration_bin(ms double precision)
 RETURNS smallint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (CASE WHEN (ms IS NULL) THEN ('-1'::integer)::double precision ELSE LEAST(GREATEST(floor((((8)::double precision * ln(GREATEST(ms, (1)::double precision))) / ln((2.0)::double precision))), (0)::double precision), (250)::double precision) END)::smallint;

CREATE OR REPLACE FUNCTION public.fill_hold_scheme()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.scheme := scheme_of_account(new.ledger_account_id);
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.fill_invocation_scheme()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.scheme := scheme_of_account(new.payer_ledger_id);
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.first_open_transaction()
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(min(open.xid::text::bigint), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
    from pg_snapshot_xip(pg_current_snapshot()) as open(xid)
   where open.xid::xid not in (
     select backend_xid from pg_stat_get_activity(null)
      where backend_xid is not null and datid <> (select oid from pg_database where datname = current_database())
     union all
     select transaction from pg_prepared_xacts where database <> current_database())
$function$;

CREATE OR REPLACE FUNCTION public.keep_interactive()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if exists (select from process where id = new.worker and schema_version < 155) then
    return null;
  end if;
  return new;
end $function$;

CREATE OR REPLACE FUNCTION public.note_agent_text()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.status = 'removed' then
    delete from agent_vector where agent_id = new.id;
  else
    insert into agent_vector (agent_id, due_at) values (new.id, now())
    on conflict (agent_id) do update set due_at = excluded.due_at;
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.note_former_terms()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare former json := json_build_object(
  'perRequestMicro', old.per_request_micro::text, 'takesHints', coalesce((old.metadata->>'priceHints')::boolean, false),
  'sizeSteps', old.metadata->'sizeSteps', 'perUnit', old.metadata->'perUnit', 'perUsage', old.metadata->'perUsage');
begin
  delete from former_terms f where f.agent_id = old.id and (f.ended_at < now() - interval '2 days'
    or f.digest in (select digest from former_terms where agent_id = old.id order by (terms->>'perRequestMicro')::numeric offset 99));
  insert into former_terms (agent_id, digest, terms, ended_at) values (old.id, md5(former::text), former, now())
    on conflict (agent_id, digest) do update set ended_at = excluded.ended_at;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.note_node_wallet()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into replica_change (topic, id)
  select distinct 'wallet', wallet from unnest(array[old.wallet, new.wallet]) as wallet where wallet is not null;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.note_operator_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into replica_change (topic, id) values ('account', coalesce(new.account_id, old.account_id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.note_replica_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into replica_change (topic, id) values (tg_argv[0], coalesce(new.id, old.id));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.note_vector_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into replica_change (topic, id) values ('vector', new.agent_id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.open_account_totals()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into account_totals (account_id, seen_at) values (new.id, date_trunc('second', new.created_at)) on conflict do nothing;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.require_true(holds boolean)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
begin
  if holds is not true then
    raise exception 'a guard of the transaction does not hold' using errcode = 'AN001';
  end if;
  return true;
end $function$;

CREATE OR REPLACE FUNCTION public.scheme_of_account(account text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select case when account like 'channel:%' then 'batch-settlement' when account like 'payer:%' then 'exact'
              when account is not null then 'treasury' end
$function$;

CREATE OR REPLACE FUNCTION public.site_of(base_url text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select case when host ~ '^\[|^[0-9.]+$' then host else coalesce(substring(host from '[^.]+\.[^.]+$'), host) end
    from (select substring(base_url from '^https?://(\[[^]]*\]|[^/:]*)') as host) as parsed
$function$;
