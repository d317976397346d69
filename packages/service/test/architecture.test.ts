import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { checkImports, formatViolation } from '../../../scripts/check-imports.ts';

const repositoryRoot = join(import.meta.dirname, '../../..');
let roots: string[] = [];

afterEach(() => {
  for (const root of roots) rmSync(root, { recursive: true });
  roots = [];
});

/** The broken rules of a made-up source tree, each as `path:line rule`. */
function check(files: Record<string, string>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'imports-'));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) {
    const target = join(root, 'packages', path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  const { fileCount, violations } = checkImports(root);
  expect(fileCount).toBe(Object.keys(files).filter((path) => !path.includes('.test.')).length);
  return violations.map(({ path, line, rule }) => `${path.replace('packages/', '')}:${line} ${rule}`);
}

const service = (path: string, text: string) => check({ [`service/src/${path}`]: text });

test('the source keeps the order of imports', () => {
  const { fileCount, violations } = checkImports(repositoryRoot);
  expect(violations.map(formatViolation)).toEqual([]);
  expect(fileCount).toBeGreaterThan(50);
});

test('packages import only those below them', () => {
  expect(check({ 'contracts/src/a.ts': "import { x } from '@agent-network/sdk';" })).toEqual([
    'contracts/src/a.ts:1 contracts may import no other package, not sdk',
  ]);
  expect(service('agents/a.ts', "import type { X } from '@agent-network/sdk/agent';")).toEqual([
    'service/src/agents/a.ts:1 service may import contracts, chain, not sdk',
  ]);
  expect(service('agents/a.ts', "import { x } from '../../../chain/src/x.ts';")).toEqual([
    'service/src/agents/a.ts:1 a package is left by its name, not by a relative path',
  ]);
  expect(
    check({
      'service/src/agents/a.ts':
        "import { x } from '@agent-network/contracts/money';\nimport '@agent-network/chain/usdc';",
      'service/src/agents/a.test.ts': "import { x } from '@agent-network/sdk';",
      'cli/src/a.ts': "import { x } from '@agent-network/sdk';",
    }),
  ).toEqual([]);
});

test('folders of the service import only those below them', () => {
  const upward = 'service/src/payments/a.ts:1 payments stands below or beside agents';
  expect(service('payments/a.ts', "import { x } from '../agents/agent.ts';")).toEqual([upward]);
  expect(service('payments/a.ts', "export { x } from '../agents/agent.ts';")).toEqual([upward]);
  expect(service('payments/a.ts', "const x = await import('../agents/agent.ts');")).toEqual([upward]);
  expect(service('http/a.ts', "import { x } from '../jobs.ts';")).toEqual([
    'service/src/http/a.ts:1 http stands below or beside jobs.ts',
  ]);
  expect(service('lib/a.ts', "\nimport {\n  x,\n  y,\n} from '../config.ts';")).toEqual([
    'service/src/lib/a.ts:5 lib stands below or beside config.ts',
  ]);
  expect(service('billing/a.ts', "import { x } from '../lib/clock.ts';")).toEqual([
    'service/src/billing/a.ts:1 billing has no floor in the service (scripts/import-rules.ts)',
  ]);
  expect(
    check({
      'service/src/agents/a.ts':
        "import { x } from '../payments/x402/terms.ts';\nimport { y } from './agent-store.ts';",
      'service/src/app.ts': "import type { Context } from './context.ts';",
      'service/src/db/a.ts': "import { x } from '../config.ts';\n// import { y } from '../agents/agent.ts';",
    }),
  ).toEqual([]);
});

test('a store is imported inside of its own folder only', () => {
  const rule = "another folder's store is never imported: call a use case or a rule";
  for (const path of ['invocations/a.ts', 'http/handlers/a.ts', 'jobs.ts', 'context.ts']) {
    const up = '../'.repeat(path.split('/').length - 1) || './';
    expect(service(path, `import { x } from '${up}agents/agent-store.ts';`)).toEqual([`service/src/${path}:1 ${rule}`]);
  }
});

test.each([
  ["import pg from 'pg';", 'SQL stands only in *-store.ts, db/ and queue/'],
  ["import type { Pool } from 'pg';", 'SQL stands only in *-store.ts, db/ and queue/'],
  ["ctx.db.selectFrom('agent')", 'SQL stands only in *-store.ts, db/ and queue/'],
  ['run(`\n  select id\n  from agent`)', 'SQL stands only in *-store.ts, db/ and queue/'],
  ["run('UPDATE agent SET x = 1')", 'SQL stands only in *-store.ts, db/ and queue/'],
  ["import { run } from 'graphile-worker';", 'graphile-worker stays in db/ and queue/'],
  ["import { Hono } from 'hono/tiny';", 'Hono stays in http/ and app.ts'],
  ["import { serve } from '@hono/node-server';", 'Hono stays in http/ and app.ts'],
  ["import { parseAbi } from 'viem';", 'viem stays in payments/x402/, identity/, local/ and local-mode.ts'],
  ["import { request } from 'undici';", 'only lib/guarded-fetch reaches out: undici stays there'],
  ['await fetch(url)', 'only lib/guarded-fetch reaches out: no fetch()'],
  ['await globalThis.fetch(url)', 'only lib/guarded-fetch reaches out: no fetch()'],
])('outside of its home, refused: %s', (text, rule) => {
  expect(service('agents/a.ts', text)).toEqual([expect.stringMatching(/^service\/src\/agents\/a\.ts:\d /)]);
  expect(service('agents/a.ts', text)[0]).toContain(rule);
});

test('each tool is at home somewhere', () => {
  expect(
    check({
      'service/src/agents/agent-store.ts': "import pg from 'pg';\nsql`select 1 from agent`;",
      'service/src/db/a.ts': "import { Pool } from 'pg';",
      'service/src/queue/a.ts': "import { run } from 'graphile-worker';",
      'service/src/http/handlers/a.ts': "import { Hono } from 'hono';\napp.fetch(request);",
      'service/src/payments/x402/a.ts': "import { parseAbi } from 'viem';",
      'service/src/lib/guarded-fetch-connect.ts': "import { Agent } from 'undici';",
      'sdk/src/client.ts': "import { parseAbi } from 'viem';\nawait fetch(url);",
    }),
  ).toEqual([]);
});

test('files that import one another in a ring are reported once, with the way around', () => {
  const ring = {
    'service/src/agents/a.ts': "import { b } from './b.ts';",
    'service/src/agents/b.ts': "import type { c } from './c.ts';",
    'service/src/agents/c.ts': "import { a } from './a.ts';",
    'service/src/agents/d.ts': "import { a } from './a.ts';",
  };
  expect(check(ring)).toEqual(['service/src/agents/a.ts:1 files never import one another in a ring']);
});
