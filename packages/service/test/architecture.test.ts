import { execFile } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, test } from 'vitest';
import { checkContent } from '../../../scripts/check-content.ts';
import { packages } from '../../../scripts/floors.ts';
import { findSplitFiles } from '../../../scripts/split-files.ts';

const repository = join(import.meta.dirname, '../../..');
const cruiser = join(repository, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');

interface Violation {
  readonly from: string;
  readonly rule: { readonly name: string };
}

/** The rules of `.dependency-cruiser.mjs` that a made-up tree breaks, as `file: rule`. */
async function broken(files: Record<string, string>): Promise<string[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'rules-')));
  try {
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    write('tsconfig.json', '{}');
    for (const name of Object.keys(packages)) write(`packages/${name}/src/empty.ts`, 'export {};\n');
    for (const [path, text] of Object.entries(files)) write(`packages/${path}`, text);
    const args = [
      cruiser,
      'packages',
      '--config',
      join(repository, '.dependency-cruiser.mjs'),
      '--output-type',
      'json',
    ];
    const output = await new Promise<string>((resolve) => {
      // It exits with the number of violations.
      execFile(process.execPath, args, { cwd: root, maxBuffer: 2 ** 26 }, (_, stdout) => resolve(stdout));
    });
    const { violations } = JSON.parse(output).summary as { violations: Violation[] };
    return violations.map(({ from, rule }) => `${from.replace('packages/', '')}: ${rule.name}`).sort();
  } finally {
    rmSync(root, { recursive: true });
  }
}

it('an import up, across where a room forbids it, in a ring, of a foreign store, of a package out of its place or from a room without a floor is refused', async () => {
  expect(
    await broken({
      // Allowed.
      'service/src/agents/health/due-work.ts': "import '../search/words.ts';\nimport '../agent.ts';",
      'service/src/agents/search/words.ts': 'export {};',
      'service/src/agents/agent.ts': "import '../lib/clock.ts';\nimport { z } from '@agent-network/contracts/money';",
      'service/src/lib/clock.ts': 'export const now = 1;',
      'service/src/store/pool.ts': "import pg from 'pg';\nexport { pg };",
      // Refused.
      'service/src/agents/agent-store.ts': 'export const find = 1;',
      'service/src/calls/invocation.ts': "import { find } from '../agents/agent-store.ts';\nexport const x = find;",
      'service/src/payments/ledger/up.ts': "export type { Agent } from '../../agents/agent.ts';",
      'service/src/payments/ledger/across.ts': "import '../payouts/withdraw.ts';",
      'service/src/payments/payouts/withdraw.ts': 'export {};',
      'service/src/http/gateways/mcp/answer.ts': "import '../a2a/tasks.ts';",
      'service/src/http/gateways/a2a/tasks.ts': 'export {};',
      'service/src/lib/a.ts': "import './b.ts';",
      'service/src/lib/b.ts': "import type { A } from './a.ts';\nexport type B = A;",
      'service/src/agents/hono.ts': "import { Hono } from 'hono';\nexport const app = Hono;",
      'service/src/billing/bill.ts': "import '../lib/clock.ts';",
      'contracts/src/upward.ts': "import '../../sdk/src/empty.ts';",
    }),
  ).toEqual([
    'contracts/src/upward.ts: package: contracts',
    'service/src/agents/hono.ts: home of hono, @hono',
    'service/src/billing/bill.ts: room without a floor',
    'service/src/calls/invocation.ts: store of another room',
    'service/src/http/gateways/mcp/answer.ts: gateways do not know each other',
    'service/src/lib/a.ts: circle',
    'service/src/payments/ledger/across.ts: the ledger stands alone',
    'service/src/payments/ledger/up.ts: floor: payments',
  ]);
});

test.each([
  ["ctx.db.selectFrom('agent')", 'SQL stands only in'],
  ['run(`\n  select id\n  from agent`)', 'SQL stands only in'],
  ["run('UPDATE agent SET x = 1')", 'SQL stands only in'],
  ["ctx.db.query('ready', 'select 1')", 'SQL stands only in'],
  ['await fetch(url)', 'no fetch()'],
  ['await globalThis.fetch(url)', 'no fetch()'],
  ["import { privateKeyToAccount } from 'viem/accounts';", 'private keys stay'],
  ['createContext({ key: secrets.settlementPrivateKey })', 'private keys stay'],
  ['createSecrets(keys.secretKey)', 'private keys stay'],
  ['const wallet = createLocalSigner(key);', 'private keys stay'],
  ['await wallet.signHash(given)', 'only hashes that the node composes'],
])('outside of its home, refused: %s', (text, rule) => {
  expect(checkContent('agents/a.ts', text)).toEqual([expect.stringContaining(rule)]);
});

test.each([
  ['agents/agent-store.ts', 'sql`select 1 from agent`;'],
  ['http/api/a.ts', 'app.fetch(request);'],
  ['chain/keys/node-keys.ts', 'createLocalSigner(configured.settlementPrivateKey)'],
  ['payments/a.ts', 'await wallet.signHash(\n  digestsOf(chain.chainId).refundDigest(id, 0n, 1n),\n)'],
  ['agents/a.ts', '// select id from agent, by fetch(url)'],
])('at home, allowed: %s', (place, text) => expect(checkContent(place, text)).toEqual([]));

it('a small file is split off when only its neighbour imports it, unless it is loaded by name or of another kind', () => {
  const src = 'packages/service/src';
  const lines = (text: string, count: number) => `${text}${'\n'.repeat(count)}`;
  const texts = {
    [`${src}/agents/agent.ts`]: lines(
      `import { a } from './split.ts';
       import { b } from './agent-store.ts';
       import { c } from './large.ts';
       import { d } from './shared.ts';
       export { e } from './public.ts';
       import { f } from './worker.ts';
       const lazy = import('./lazy.ts');
       import { g } from './home.ts';`,
      100,
    ),
    [`${src}/agents/health/check.ts`]: "import { d } from '../shared.ts';",
    [`${src}/agents/agent.test.ts`]: "import { a } from './split.ts';",
    [`${src}/agents/split.ts`]: lines('export const a = 1;', 59),
    [`${src}/agents/agent-store.ts`]: lines('export const b = 1;', 1),
    [`${src}/agents/large.ts`]: lines('export const c = 1;', 60),
    [`${src}/agents/shared.ts`]: lines('export const d = 1;', 1),
    [`${src}/agents/public.ts`]: lines('export const e = 1;', 1),
    [`${src}/agents/worker.ts`]: lines('export const f = 1;', 1),
    [`${src}/agents/start.ts`]: "new Worker(new URL('./worker.ts', import.meta.url));",
    [`${src}/agents/lazy.ts`]: lines('export const x = 1;', 1),
    [`${src}/agents/home.ts`]: lines("import { Hono } from 'hono';", 1),
  };
  const found = (maxLines: number) =>
    findSplitFiles(new Map(Object.entries(texts)), maxLines).map(({ path }) => path.replace(`${src}/`, ''));
  expect(found(500)).toEqual(['agents/split.ts']);
  expect(found(150)).toEqual([]);
});

it('every test with a long variant is in npm run test:long, and nothing else is', () => {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const filters = scripts['test:long']?.split('--mode long ')[1]?.split(' ') ?? [];
  const tests = globSync('packages/*/{src,test}/**/*.test.ts', { cwd: repository });
  const isLong = (path: string) =>
    /support\/(long|daily)\.ts'|inject\('isLong'\)/.test(readFileSync(join(repository, path), 'utf8'));
  const isRun = (path: string) => filters.some((filter) => path.includes(filter));
  expect(tests.filter(isRun).sort()).toEqual(tests.filter(isLong).sort());
  expect(filters.filter((filter) => !tests.some((path) => path.includes(filter)))).toEqual([]);
});
