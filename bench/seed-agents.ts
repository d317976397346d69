import pg from 'pg';

export interface Seeded {
  /** Number of agents per capability. */
  readonly counts: ReadonlyMap<string, number>;
}

const CAPABILITIES = 50;

/** Capability `k` is offered by a share of agents that falls with its rank, as `1/k`: few are everywhere, most are rare. */
const insertAgents = `
  insert into agent (id, account_id, owner_address, name, description, capabilities, per_request_micro, per_hour_micro, tiers,
    endpoint, metadata, status, reputation, token_hash, token_sealed, endpoint_proven_at, last_seen_at, response_ms, created_at, updated_at)
  select 'agt_bench' || lpad(n::text, 21, '0'), a.id, a.address, 'Agent ' || n, 'Seeded for the bench.', c.capabilities,
    (1 + n % 100) * 1000, 0, '{}', 'http://127.0.0.1:9/' || n, '{}', case when n % 10 = 0 then 'offline' else 'online' end,
    (n * 7919) % 1001, sha256(('bench' || n)::bytea), '\\x00', now(), now(), 20 + n % 300, now(), now()
  from generate_series(1, $1::int) as n
  cross join (select id, address from account order by created_at limit 1) as a
  cross join lateral (
    select coalesce(nullif(array_agg('capability-' || k), '{}'), '{capability-1}') as capabilities
      from generate_series(1, ${CAPABILITIES}) as k
     where (hashint8(n::bigint * 1000 + k)::bigint + 2147483648) / 4294967296.0 < 1.0 / k
  ) as c`;

/** Puts this many agents straight into the database, as registering them one by one takes minutes. */
export async function seedAgents(databaseUrl: string, agents: number): Promise<Seeded> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(insertAgents, [agents]);
    await client.query(`insert into agent_totals (agent_id) select id from agent where id like 'agt_bench%'`);
    for (const table of ['agent', 'agent_totals']) await client.query(`vacuum analyze ${table}`);
    const { rows } = await client.query<{ capability: string; count: number }>(
      `select capability, count(*)::int as count from agent cross join unnest(capabilities) as capability
        where capability like 'capability-%' group by capability`,
    );
    return { counts: new Map(rows.map(({ capability, count }) => [capability, count])) };
  } finally {
    await client.end();
  }
}
