import type { Harness } from '../../../support/harness.ts';

/** Tables that a refused call may change: heartbeats, due times, rate limits, and counts being aggregated. */
const bookkeeping = new Set(
  ['process', 'recurring', 'rate_window'].concat([
    'ledger_total',
    'account_totals',
    'agent_use',
    'call_change',
    'call_figure',
    'money_audit',
    'unaudited_request',
    'reserves_watch',
    'transfer_point',
    'chain_gate',
    'payout_point',
    'chain_catch_up',
    'registry_point',
    'registry_reading',
    'network_follow',
    'audit_entry',
    'replica_change',
    'replica_forgotten',
  ]),
);

/** Changes of the stored bytes, and the sums that they are folded into in the background: only together do they say what is stored. */
const storage = ['account_storage', 'storage_change'];

/** Tables of chain data, read in the background. */
const read = ['registry_point', 'registry_reading', 'registry_log', 'registry_token', 'registry_change'].concat([
  'channel_point',
  'channel_receiver',
]);

/** Tables derived from outcomes and probes, in the background. */
const derived = ['outcome_due', 'outcome_day', 'payer', 'payer_agent', 'payer_wallet', 'agent_payee'].concat([
  'agent_reputation',
  'agent_probe_day',
  'agent_health',
]);

const writtenByChecks = [
  'next_check_at',
  'checks_done',
  'failed_in_a_row',
  'passed_in_a_row',
  'last_ping_at',
  'last_seen_at',
]
  .concat(['response_ms', 'reputation', 'fault', 'upstream_digest'])
  .map((column) => `'${column}'`);

/** Left out is what using a key, or the checks of agents and the readings of channels in the background, change at any moment. */
const contentOf: Record<string, string> = {
  api_key: 'row(x.id, x.account_id, x.name, x.scopes, x.secret_hash, x.expires_at, x.revoked_at)',
  agent: `(to_jsonb(x) - array[${writtenByChecks}])`,
  agent_totals: 'row(x.agent_id, x.completed, x.failed, x.duration_ms)',
  channel: `(to_jsonb(x) - array['balance_micro', 'refund_nonce', 'withdraw_requested_at', 'read_block', 'due_block', 'changed_at'])`,
  event: 'row(x.id, x.account_id, x.type, x.subject_id, x.created_at)',
};

/** Events about the reading of the chain, in the background, are left out. */
const rowsOf: Record<string, string> = { event: `(select * from event where type <> 'replication.status')` };

/**
 * Digest query of each database, built once, as its tables stay the same; prepared, as planning seventy tables takes longer than reading
 * them.
 */
const queries = new WeakMap<Harness, Promise<string>>();

async function digestQuery(h: Harness): Promise<string> {
  const tables = await h.ctx.db.pool.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  );
  const parts = tables.rows
    .filter(({ name }) => !bookkeeping.has(name) && ![...derived, ...read, ...storage].includes(name))
    .map(({ name }) => {
      const content = `(${contentOf[name] ?? 'x'})::text`;
      return `select '${name}' as name, count(*) || ' ' || md5(coalesce(string_agg(${content}, '|' order by ${content}), ''))
                as digest from ${rowsOf[name] ?? `"${name}"`} x`;
    });
  const stored = `select 'stored bytes', string_agg(row(account_id, bytes)::text, '|' order by account_id) from (
    select account_id, sum(bytes) as bytes from (${storage.map((name) => `select account_id, bytes from ${name}`).join(' union all ')}) x
     group by account_id) y`;
  return [...parts, stored].join(' union all ');
}

/** The number of rows of every table of the node with a digest of their content: equal digests mean that nothing was written. */
export async function databaseDigest(h: Harness): Promise<Record<string, string>> {
  const query = queries.get(h) ?? digestQuery(h);
  queries.set(h, query);
  const digests = await h.ctx.db.pool.query<{ name: string; digest: string }>({
    name: 'database-digest',
    text: await query,
  });
  return Object.fromEntries(digests.rows.map(({ name, digest }) => [name, digest]));
}
