import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const scripts = join(import.meta.dirname, '../../scripts');
const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'command-line-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of the operator in a folder without a node, unless `env` names one. */
const run = (script: string, args: readonly string[], env: Record<string, string> = {}) =>
  new Promise<Ended>((resolve) => {
    const { DATABASE_URL: _, DATA_DIR: __, NODE_ENV: ___, ...own } = process.env;
    execFile(
      process.execPath,
      [join(scripts, script), ...args],
      { cwd: folder, env: { ...own, ...env } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

describe('a command of the operator', () => {
  it.each(['operator.ts', 'new-account.ts'])(
    '%s explains itself, and ends with 2 when nothing was asked',
    async (script) => {
      const help = await run(script, ['--help']);
      expect([help.code, help.stderr]).toEqual([0, '']);
      expect(help.stdout).toContain('npm run ');
      expect(await run(script, [])).toMatchObject({ code: 2, stderr: help.stdout });
    },
  );

  it.each<[string, string[], string]>([
    ['operator.ts', ['foo'], 'There is no command "foo": --help lists them.'],
    ['operator.ts', ['toString'], 'There is no command "toString": --help lists them.'],
    ['operator.ts', ['reconcile', '--foo'], "Unknown option '--foo'. --help lists the options."],
    ['operator.ts', ['drain', 'p1'], 'drain does not accept "p1". Run it with --help.'],
    ['operator.ts', ['status'], 'Set DATABASE_URL to the database of the node.'],
    ['new-account.ts', ['0x12'], '"0x12" is no wallet address: it is 0x and 40 hexadecimal digits.'],
    ['new-account.ts', [WALLET, '--plan', 'gold'], 'There is no plan "gold": it is one of free, pro, enterprise.'],
    ['new-account.ts', [WALLET, '--scopes', 'invoke,foo'], 'There is no scope "foo": they are '],
    ['new-account.ts', [WALLET], 'Set DATABASE_URL to the database of the node.'],
  ])('%s %j says in a line what is wrong with it', async (script, args, said) => {
    const { code, stdout, stderr } = await run(script, args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(said);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('uses the database of the local node when none is named, and never so in production', async () => {
    const file = join(folder, 'local.json');
    await writeFile(file, JSON.stringify({ database: 'postgresql://local@127.0.0.1:1/local' }));
    // Nothing listens there: the failure shows that it was asked.
    const { code, stderr } = await run('operator.ts', ['backup', 'check'], { DATA_DIR: folder });
    expect([code, stderr]).toEqual([1, expect.stringContaining('127.0.0.1:1')]);
    expect(stderr).toContain(`using the database of the local node (${file})`);
    const production = await run('operator.ts', ['status'], { DATA_DIR: folder, NODE_ENV: 'production' });
    expect(production).toMatchObject({ code: 2, stderr: 'Set DATABASE_URL to the database of the node.\n' });
    const misspelt = await run('operator.ts', ['status'], { DATA_DIR: folder, NODE_ENV: 'prod' });
    expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringMatching(/^NODE_ENV must be production/) });
  });

  it('names what is missing before anything is done', async () => {
    const env = { DATABASE_URL: 'postgresql://local@127.0.0.1:1/local' };
    const missing = await Promise.all([
      run('operator.ts', ['drain'], env),
      run('operator.ts', ['decide', 'pay_1'], env),
      run('operator.ts', ['accept-database'], env),
    ]);
    expect(missing.map(({ code }) => code)).toEqual([2, 2, 2]);
    expect(missing.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('--process'),
      expect.stringContaining('--by'),
      expect.stringContaining('--by'),
    ]);
  });
});
