import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkOut, removeCheckOut } from '../../../../../scripts/check-out.ts';
import { silentLog } from '../../../src/lib/telemetry/log.ts';
import { startEmbeddedPostgres } from '../../../src/store/embedded-postgres.ts';
import { askDatabase } from '../../support/books.ts';
import { removePostgresDataDir } from '../../support/remove-data-dir.ts';
import { auditEnd } from '../torture/audit-end.ts';
import { newBook } from '../torture/bank-book.ts';
import { actOnce } from '../torture/bank-clients.ts';
import { type BankWorld, startBankWorld } from '../torture/bank-world.ts';
import { createRandom } from '../torture/random.ts';
import { createTally, type Tally } from '../torture/tally.ts';

const usage = `Two processes of an older commit under paid load are replaced one by one by the code here, which migrates their database
while they serve; an older one is restarted in between, if its code can. Then every micro-USDC is accounted for.

  npm run check:beside -- [commit] [--seconds 20] [--clients 4] [--seed text]

Default: the commit before the newest migration. Ends with 1 when anything was not as promised.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '20' },
    clients: { type: 'string', default: '4' },
    seed: { type: 'string', default: String(Date.now()) },
    help: { type: 'boolean', default: false },
  },
});

const repository = join(import.meta.dirname, '../../../../..');
const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' }).trim();
const tell = (text: string) => void process.stderr.write(`${text}\n`);

/** The room of the database, and its place in commits before decision 56. */
const places = ['packages/service/src/store', 'packages/service/src/db'];

/** The commit before the one that brought the newest migration; null where the history does not reach back to it. */
function commitBefore(): string | null {
  const folders = places.map((place) => `${place}/migrations`);
  const [newest] = git('log', '--diff-filter=A', '--format=%H', '--', ...folders).split('\n');
  try {
    return newest ? git('rev-parse', '--verify', `${newest}^`) : null;
  } catch {
    return null;
  }
}

/** Versions of code that refuse every newer database cannot come back beside a newer one. */
async function bearsNewer(old: string): Promise<boolean> {
  const place = places.find((each) => existsSync(join(old, each, 'migrate.ts'))) ?? '';
  return /\b(MOST|MAX)_AHEAD\b/.test(await readFile(join(old, place, 'migrate.ts'), 'utf8'));
}

const newestOf = async (world: BankWorld) =>
  (
    await askDatabase<{ name: string }>(
      world.databaseUrl,
      'select name from schema_migration order by version desc limit 1',
    )
  )[0]?.name;

async function replaceUnderLoad(
  world: BankWorld,
  old: string,
  setProgram: (seat: number, isOld: boolean) => void,
): Promise<void> {
  const book = newBook();
  let isOver = false;
  const acting = world.clients.map(async (client) => {
    const random = createRandom(values.seed, client.name);
    while (!isOver) {
      await actOnce({ world, client, random, book });
      await sleep(random.int(0, 100));
    }
  });
  const step = async (what: string, seat: number | null) => {
    if (seat !== null) await world.seats[seat]?.restart();
    const before = book.deals.length;
    await sleep(Number(values.seconds) * 1000);
    tell(`${what}: database at ${await newestOf(world)}, ${book.deals.length - before} purchases`);
  };
  try {
    await step('two old processes', null);
    setProgram(1, false);
    await step('old and new', 1);
    if (await bearsNewer(old)) await step('old, started again beside new', 0);
    setProgram(0, false);
    await step('two new processes', 0);
  } finally {
    isOver = true;
    await Promise.all(acting);
  }
  await auditEnd(world, book, 120_000);
  tell(`${book.deals.length} purchases, ${book.deposits.length} deposits, ${book.withdrawals.length} withdrawals`);
}

async function run(old: string): Promise<Tally> {
  const tally = createTally(values.seed);
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-beside-'));
  // As root, PostgreSQL's own user has to get in.
  await chmod(dataDir, 0o711);
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false, log: silentLog });
  const program = join(old, 'packages/service/test/support/node-child.ts');
  const isOld = [true, true];
  try {
    const world = await startBankWorld({
      seed: values.seed,
      random: createRandom(values.seed, 'world'),
      tally,
      processes: 2,
      clients: Number(values.clients),
      agents: 3,
      database: { url: postgres.url, drop: () => Promise.resolve() },
      seatProgram: (index) => (isOld[index] ? program : undefined),
    });
    const setProgram = (seat: number, value: boolean) => {
      isOld[seat] = value;
    };
    await replaceUnderLoad(world, old, setProgram).finally(() => world.stop());
    return tally;
  } finally {
    await postgres.stop();
    await removePostgresDataDir(dataDir);
  }
}

async function main(): Promise<boolean> {
  const commit = positionals[0] ?? commitBefore();
  if (commit === null) {
    tell('check:beside is skipped: the history here does not reach back to the commit before the newest migration');
    return true;
  }
  const root = await mkdtemp(join(tmpdir(), 'agent-network-old-'));
  const old = join(root, 'code');
  checkOut(repository, old, commit);
  try {
    const tally = await run(old);
    process.stdout.write(`${git('log', '-1', '--format=%h %s', commit)}\n${tally.print()}\n`);
    return tally.violations.length === 0;
  } finally {
    removeCheckOut(repository, old);
    await rm(root, { recursive: true, force: true });
  }
}

if (values.help) process.stdout.write(usage);
else process.exitCode = (await main()) ? 0 : 1;
