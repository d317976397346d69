import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { silentLog } from '../src/lib/telemetry/log.ts';
import { startEmbeddedPostgres } from '../src/store/embedded-postgres.ts';
import { migrate } from '../src/store/migrate.ts';
import { removePostgresDataDir } from '../test/support/remove-data-dir.ts';

/** Writes `packages/service/schema.sql`, the schema that all migrations make; with `--check` exits 1 when the file is another. */
const FILE = join(import.meta.dirname, '../schema.sql');
const HEADER = `-- The schema that the migrations in src/store/migrations make, one table after the other. Made by "npm run schema"; do not edit.
`;

interface Table {
  readonly name: string;
  readonly kind: 'table' | 'view' | 'sequence';
  readonly comment: string | null;
  readonly definition: string;
}

const FUNCTIONS = `
  select pg_get_functiondef(oid) as definition from pg_proc
  where pronamespace = 'public'::regnamespace order by proname, oid`;

const TABLES = `
  select relname as name, 'table' as kind, obj_description(c.oid, 'pg_class') as comment,
    (select string_agg('  ' || line, E',\\n' order by rank, line_number, line) from (
       select 1 as rank, attnum::int as line_number,
         quote_ident(attname) || ' ' || format_type(atttypid, atttypmod)
         || case when attidentity <> '' then ' generated ' || case attidentity when 'a' then 'always' else 'by default' end || ' as identity' else '' end
         || case when attgenerated = 's' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
                 when d.adbin is not null then ' default ' || pg_get_expr(d.adbin, d.adrelid) else '' end
         || case when attnotnull then ' not null' else '' end as line
       from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
       where a.attrelid = c.oid and attnum > 0 and not attisdropped
       union all
       select 2, case contype when 'p' then 1 when 'u' then 2 when 'f' then 3 else 4 end, 'constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid)
       from pg_constraint where conrelid = c.oid and contype in ('p', 'u', 'f', 'c', 'x')
     ) lines) as definition
  from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by relname`;

const VIEWS = `
  select relname as name, 'view' as kind, obj_description(oid, 'pg_class') as comment, pg_get_viewdef(oid, true) as definition
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('v', 'm') order by relname`;

const SEQUENCES = `
  select relname as name, 'sequence' as kind, null as comment, '' as definition from pg_class c
  where relnamespace = 'public'::regnamespace and relkind = 'S'
    and not exists (select from pg_depend where objid = c.oid and deptype = 'i') order by relname`;

const INDEXES = `
  select tablename as table_name, indexdef as definition from pg_indexes i where schemaname = 'public'
    and not exists (select from pg_constraint where conname = i.indexname and connamespace = 'public'::regnamespace)
  order by tablename, indexname`;

const TRIGGERS = `
  select tgrelid::regclass::text as table_name, pg_get_triggerdef(oid) as definition from pg_trigger
  where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace) order by 1, tgname`;

async function readSchema(url: string): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const rows = async <T>(text: string) => (await client.query<T & pg.QueryResultRow>(text)).rows;
    const parts = [HEADER];
    for (const { name } of await rows<Table>(SEQUENCES)) parts.push(`create sequence ${name};\n`);
    const attached = [
      ...(await rows<{ table_name: string; definition: string }>(INDEXES)),
      ...(await rows<{ table_name: string; definition: string }>(TRIGGERS)),
    ];
    for (const table of await rows<Table>(TABLES)) {
      const own = attached
        .filter(({ table_name }) => table_name === table.name)
        .map(({ definition }) => `${definition};`);
      const comment = table.comment === null ? [] : [`-- ${table.comment}`];
      parts.push([...comment, `create table ${table.name} (`, table.definition, ');', ...own, ''].join('\n'));
    }
    for (const { name, definition } of await rows<Table>(VIEWS)) parts.push(`create view ${name} as\n${definition}\n`);
    for (const { definition } of await rows<{ definition: string }>(FUNCTIONS)) parts.push(`${definition.trim()};\n`);
    return parts.join('\n');
  } finally {
    await client.end();
  }
}

const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-schema-'));
// As root, PostgreSQL's own user has to get in.
await chmod(dataDir, 0o711);
const postgres = await startEmbeddedPostgres({ dataDir, durable: false, log: silentLog });
try {
  await migrate(postgres.url, silentLog);
  const schema = await readSchema(postgres.url);
  if (!process.argv.includes('--check')) await writeFile(FILE, schema);
  else if ((await readFile(FILE, 'utf8').catch(() => '')) !== schema) {
    console.error('packages/service/schema.sql is not what the migrations make: npm run schema');
    process.exitCode = 1;
  } else console.log('schema.sql is what the migrations make');
} finally {
  await postgres.stop();
  await removePostgresDataDir(dataDir);
}
