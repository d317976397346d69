import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUNDLES } from '../../service/test/support/bundled.ts';
import { type Harness, startHarness } from '../../service/test/support/harness.ts';
import { echo, startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../service/test/support/treasury.ts';
import { bundledMain } from './support/command-lines.ts';

const COLUMNS = 72;
const CTRL_C = '\u0003';

/** util-linux has it; that of BSD takes other arguments. */
const hasTerminals = spawnSync('script', ['-qfec', 'true', '/dev/null']).status === 0;

let h: Harness;
let buyer: Client;
let agent: TestAgent;
let folder: string;
beforeAll(async () => {
  h = await startHarness();
  [buyer, folder] = [await newClient(h, '5'), await mkdtemp(join(tmpdir(), 'agentnet-'))];
  agent = await startTestAgent(h, {
    name: 'An agent with a name that is longer than a narrow terminal has columns for it',
    capabilities: ['testing', 'being-tested', 'waiting'],
  });
});
afterAll(async () => {
  await agent?.die();
  await h?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Typed {
  /** Written once this text has been shown. */
  readonly after: RegExp;
  readonly keys: string;
}

/** Runs a command in a terminal of 72 columns, and types; answers all that was shown. */
async function inTerminal(
  args: readonly string[],
  typed: readonly Typed[] = [],
  env: Record<string, string> = { AGENTNET_API_KEY: buyer.key },
): Promise<{ code: number; shown: string }> {
  const words = [process.execPath, await bundledMain(), ...args].map((word) => `'${word}'`).join(' ');
  const terminal = spawn('script', ['-qfec', `stty cols ${COLUMNS} rows 40; exec ${words}`, '/dev/null'], {
    env: {
      ...{ PATH: process.env.PATH, SHELL: '/bin/sh', TERM: 'xterm-256color', NODE_COMPILE_CACHE: BUNDLES },
      ...{ AGENTNET_URL: h.baseUrl, AGENTNET_CONFIG_DIR: folder, ...env },
    },
  });
  let shown = '';
  let seen = 0;
  const left = [...typed];
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    const [next] = left;
    if (!next?.after.test(shown.slice(seen))) return;
    left.shift();
    seen = shown.length;
    terminal.stdin.write(next.keys);
  });
  const overdue = setTimeout(() => terminal.kill('SIGKILL'), 150_000);
  const [code] = (await once(terminal, 'close')) as [number];
  clearTimeout(overdue);
  expect(left, `never asked for; shown: ${shown}`).toEqual([]);
  return { code, shown };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's own language is looked for
const COLOR = /\u001b\[\d+(;\d+)*m/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const plain = (text: string) => text.replaceAll(/\u001b\[[\d;?]*[a-zA-Z]/g, '').replaceAll('\r', '');

describe.skipIf(!hasTerminals)('a call in a terminal (script of util-linux)', () => {
  const call = (...more: string[]) => ['call', agent.id, 'hello', ...more];
  const asked = /Pay 0\.05 USDC to/;

  it('shows the price and asks: yes pays', async () => {
    const { code, shown } = await inTerminal(call(), [{ after: asked, keys: 'y' }]);
    expect([code, plain(shown)]).toEqual([0, expect.stringContaining('hello')]);
  });

  it.each([
    ['no', 'n', 3],
    ['Ctrl-C', CTRL_C, 130],
  ])('shows the price and asks: %s spends nothing', async (_name, keys, expected) => {
    const before = [await balanceOf(h, buyer.key), agent.calls.length];
    expect((await inTerminal(call(), [{ after: asked, keys }])).code).toBe(expected);
    expect([await balanceOf(h, buyer.key), agent.calls.length]).toEqual(before);
  });

  it('does not ask with --yes, or within --max-cost', async () => {
    for (const more of [['--yes'], ['--max-cost', '0.05']]) {
      const { code, shown } = await inTerminal(call(...more));
      expect([code, asked.test(shown)]).toEqual([0, false]);
    }
  });

  it('names the request on Ctrl-C; it goes on, and "calls wait" has its result', async () => {
    const answer = Promise.withResolvers<void>();
    agent.behave(async (request, response) => {
      await answer.promise;
      await echo(request, response);
    });
    const waiting = /(req_\w+) is (?:pending|processing)/;
    const { code, shown } = await inTerminal(call('--yes'), [{ after: waiting, keys: CTRL_C }]);
    const [, requestId = ''] = waiting.exec(shown) ?? [];
    expect([code, plain(shown)]).toEqual([130, expect.stringContaining(`agentnet calls wait ${requestId}`)]);
    const waited = inTerminal(['calls', 'wait', requestId]);
    answer.resolve();
    agent.behave(echo);
    expect(await waited).toMatchObject({ code: 0, shown: expect.stringContaining('hello') });
  });
});

describe.skipIf(!hasTerminals)('a terminal (script of util-linux)', () => {
  it('gets tables that fit it, colors, and none of them with NO_COLOR or --no-color', async () => {
    const table = await inTerminal(['search', '--all']);
    const lines = plain(table.shown).trimEnd().split('\n');
    expect(lines.filter((line) => line.length > COLUMNS)).toEqual([]);
    expect(plain(table.shown)).toContain(agent.id);
    const status = await inTerminal(['doctor']);
    expect(status.shown).toMatch(COLOR);
    expect((await inTerminal(['doctor', '--no-color'])).shown).not.toMatch(COLOR);
    const key = { AGENTNET_API_KEY: buyer.key };
    expect((await inTerminal(['doctor'], [], { ...key, NO_COLOR: '1' })).shown).not.toMatch(COLOR);
  });

  it('is asked how to sign in, and does not show the key that is typed', async () => {
    const { code, shown } = await inTerminal(
      ['login'],
      [
        { after: /Sign in to/, keys: '\r' },
        { after: / {2}API key/, keys: `${buyer.key}\r` },
      ],
      {},
    );
    expect([code, plain(shown)]).toEqual([0, expect.stringContaining('Signed in to')]);
    expect(shown).not.toContain(buyer.key);
  });

  it('is asked before a key is revoked', async () => {
    const made = await inTerminal(['keys', 'create', 'spare', '--json']);
    const { keyId: id } = JSON.parse(plain(made.shown));
    expect((await inTerminal(['keys', 'revoke', id], [{ after: /\?|Revoke/, keys: 'n' }])).code).toBe(3);
    expect((await inTerminal(['keys', 'revoke', id], [{ after: /\?|Revoke/, keys: 'y' }])).code).toBe(0);
  });
});
