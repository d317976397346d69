import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { silentLog } from '../packages/service/src/lib/telemetry/log.ts';
import { startEmbeddedPostgres } from '../packages/service/src/store/embedded-postgres.ts';
import { migrate } from '../packages/service/src/store/migrate.ts';
import { type BenchContext, type Figure, figureOf } from './bench-context.ts';
import { startNode } from './child-process.ts';
import { searchByMeaning, seedVectors } from './meaning-questions.ts';
import { measure } from './measure.ts';
import { duration, tell } from './progress.ts';
import { registerWhileSearching } from './register-while-searching.ts';
import { plainTable, type QuestionKind, questionKinds, questionOf, statementOf } from './registry-questions.ts';
import { residentMib } from './resident-memory.ts';
import { seedSearch } from './seed-search.ts';

const CALLERS = 32;
/** More connections than cores do not make PostgreSQL quicker. */
const PLAIN_CALLERS = 4;
const VARIANTS = 40;
/** Seconds that seeding takes for each agent, with the plain table and its indexes. */
const SEED_SECONDS = 0.0015;
const READY_MS = 10 * 60_000;

interface Node {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly readyMs: number;
  stop(): Promise<void>;
}

/** (i) Questions to a registry of many agents, beside PostgreSQL with the indexes for them. */
export async function benchRegistry(ctx: BenchContext): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-registry-'));
  ctx.stops.add(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: silentLog });
  ctx.stops.add(() => postgres.stop());
  const figures: Figure[] = [];
  for (const agents of ctx.agents) {
    const database = await seeded(postgres.url, agents);
    const node = await startOn(database, join(folder, `node-${agents}`), ctx);
    const memory = `${agents} agents: ready in ${(node.readyMs / 1000).toFixed(1)} s, ${(await residentMib(node.baseUrl)).toFixed(0)} MiB`;
    tell(memory);
    const plain = new pg.Pool({ connectionString: database, max: PLAIN_CALLERS });
    try {
      tell(`${agents} agents: a plain table with GIN and B-tree indexes`);
      for (const statement of plainTable) await plain.query(statement);
      for (const kind of questionKinds)
        figures.push({ ...(await compare(ctx, kind, agents, { node, plain })), note: memory });
      figures.push(await registerWhileSearching(ctx, agents, node), ...(await searchByMeaning(ctx, agents, node)));
    } finally {
      await plain.end();
      await node.stop();
    }
  }
  return figures;
}

async function seeded(adminUrl: string, agents: number): Promise<string> {
  tell(`${agents} agents: seeding, about ${duration(agents * SEED_SECONDS)}`);
  const admin = new pg.Client(adminUrl);
  await admin.connect();
  await admin.query(`create database registry_${agents}`);
  await admin.end();
  const database = new URL(adminUrl);
  database.pathname = `/registry_${agents}`;
  await migrate(database.href, silentLog);
  await seedSearch(database.href, agents);
  await seedVectors(database.href);
  return database.href;
}

/** A node of its own on that database, once it has loaded the agents. */
async function startOn(databaseUrl: string, dataDir: string, { stops }: BenchContext): Promise<Node> {
  const main = fileURLToPath(new URL('../packages/service/src/main.ts', import.meta.url));
  const startMs = performance.now();
  const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', DATABASE_URL: databaseUrl };
  const child = startNode([main], env);
  stops.add(() => child.stop());
  await child.line(/is running at/, READY_MS);
  const local = JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8')) as { baseUrl: string; apiKey: string };
  while ((await fetch(`${local.baseUrl}/readyz`)).status !== 200) {
    if (performance.now() - startMs > READY_MS) throw new Error('the node is not ready in ten minutes');
    await sleep(50);
  }
  return { ...local, readyMs: performance.now() - startMs, stop: () => child.stop() };
}

/** Asks both the same questions, and checks the node's answers by the totals of PostgreSQL. */
async function compare(
  ctx: BenchContext,
  kind: QuestionKind,
  agents: number,
  { node, plain }: { node: Node; plain: pg.Pool },
): Promise<Figure> {
  tell(`${agents} agents: ${kind.name}`);
  const variants = Array.from({ length: VARIANTS }, () => kind.variant());
  const totals: number[] = [];
  for (const variant of variants) {
    const { rows } = await plain.query(`select count(*)::int as total from plain_agent where ${variant.where}`, [
      ...variant.params,
    ]);
    totals.push((rows[0] as { total: number }).total);
  }
  const questions = variants.map((variant, index) => questionOf(node.baseUrl, variant, totals[index] ?? Number.NaN));
  let asked = 0;
  const askPlain = async () => {
    const variant = variants[asked++ % variants.length] as (typeof variants)[number];
    await plain.query({ name: kind.name, text: statementOf(kind, variant), values: [...variant.params] });
    return true;
  };
  const ours = await ctx.load.run({ kind: 'plain', callers: CALLERS, seconds: ctx.seconds, questions });
  const theirs = await measure(askPlain, { callers: PLAIN_CALLERS, seconds: ctx.seconds });
  const result = { ...ours, eachPerSecond: [ours.perSecond] };
  const peer = { name: 'PostgreSQL', perSecond: theirs.perSecond, ratio: ours.perSecond / theirs.perSecond };
  return { ...figureOf('i', `${kind.name}, ${agents} agents`, CALLERS, result), peer };
}
