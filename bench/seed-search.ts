import pg from 'pg';

/** Words and capabilities of the seeded agents; the lower the rank, the more agents have it (as `1/rank`). */
export const VOCABULARY = 20_000;
export const CAPABILITIES = 2_000;

const syllables = [
  'ka',
  'lo',
  'mi',
  'ne',
  'ru',
  'sa',
  'ti',
  'vo',
  'xe',
  'zu',
  'ba',
  'do',
  'fi',
  'ge',
  'hu',
  'ja',
  'pe',
  'qui',
  'wo',
  'ya',
];

/** The word of a rank, from 1 to VOCABULARY. */
export function wordOf(rank: number): string {
  let word = '';
  for (let rest = rank + 4000; rest > 0; rest = Math.floor(rest / 20)) word += syllables[rest % 20];
  return word;
}

const insertAgents = `
  insert into agent (id, account_id, owner_address, name, description, capabilities, per_request_micro, per_hour_micro, tiers,
    endpoint, metadata, status, reputation, token_hash, token_sealed, endpoint_proven_at, last_seen_at, response_ms, created_at, updated_at)
  select 'agt_' || lpad(to_hex(hashint8(n)::bigint & 4294967295), 10, '0') || lpad(n::text, 16, '0'), a.id, a.address,
    initcap(w.words[1] || ' ' || w.words[2]), array_to_string(w.words[6:], ' '), c.capabilities, (1 + (hashint8(n + 1) & 1023)) * 500,
    (1 + (hashint8(n + 2) & 255)) * 10000, '{}', 'http://127.0.0.1:9/' || n, json_build_object('tags', w.words[3:5]),
    case when n % 10 = 0 then 'offline' else 'online' end, (hashint8(n + 3) & 1048575) % 1001, sha256(('search' || n)::bytea), '\\x00',
    case when n % 7 > 0 then now() end, now(), 20 + n % 900, now() - n * interval '1 second', now()
  from generate_series($1::int, $2::int) as n
  cross join (select id, address from account order by created_at limit 1) as a
  cross join lateral (
    select array_agg(distinct 'capability-' || floor(power(${CAPABILITIES}, random() + n * 0 + i * 0))::int) as capabilities from generate_series(1, 12) as i
  ) as c
  cross join lateral (
    select array_agg(v.word) as words from generate_series(1, 24) as i
      cross join lateral (select floor(power(${VOCABULARY}, random() + n * 0 + i * 0))::int as rank) as r join vocabulary v using (rank)
  ) as w`;

const BATCH = 50_000;

/** Puts this many agents straight into a database that has the schema and no agents. A million take some ten minutes. */
export async function seedSearch(databaseUrl: string, agents: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(`set maintenance_work_mem = '1GB'; set work_mem = '256MB'`);
    await client.query(
      `insert into account values ('acc_search', '0x' || repeat('a', 40), 'enterprise', now(), now())`,
    );
    await client.query('create temp table vocabulary (rank int primary key, word text)');
    const words = Array.from({ length: VOCABULARY }, (_, index) => wordOf(index + 1));
    await client.query(
      'insert into vocabulary select rank, word from unnest($1::text[]) with ordinality as v(word, rank)',
      [words],
    );
    // Nodes load agents at their start: no change needs a note.
    await client.query('alter table agent disable trigger agent_added');
    for (let from = 1; from <= agents; from += BATCH)
      await client.query(insertAgents, [from, Math.min(from + BATCH - 1, agents)]);
    await client.query('insert into agent_totals (agent_id) select id from agent');
    await client.query('alter table agent enable trigger agent_added');
    for (const table of ['agent', 'agent_totals']) await client.query(`vacuum analyze ${table}`);
  } finally {
    await client.end();
  }
}
