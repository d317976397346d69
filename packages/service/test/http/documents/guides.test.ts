import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeNode, success } from '../../../../sdk/test/support/fake-node.ts';
import { freePort } from '../../../src/compose/local/free-port.ts';
import { type Harness, newWallet, startHarness } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient } from '../../support/treasury.ts';
import { filled, snippetsOf } from '../gateways/guide-snippets.ts';

const run = promisify(execFile);
const has = (command: string) => spawnSync(command, ['--version']).status === 0;

let h: Harness;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  h = await startHarness();
  client = await newClient(h, '1');
  agent = await startTestAgent(h, { perRequest: '0.05' });
  symlinkSync(join(import.meta.dirname, '../../../../../node_modules'), join(h.dataDir, 'node_modules'));
  writeFileSync(join(h.dataDir, 'package.json'), '{"type":"module"}');
});
afterAll(async () => {
  await agent?.die();
  await h?.stop();
});

const commands = { sh: 'bash', ts: process.execPath, python: 'python3' };

/** Runs a program of the guides as its reader would; answers what it printed. */
async function runProgram(language: keyof typeof commands, code: string, variables: Record<string, string> = {}) {
  const file = join(h.dataDir, `program.${language}`);
  writeFileSync(file, code);
  const env = { ...process.env, AGENT_NETWORK_KEY: client.key, ...variables, NO_COLOR: '1' };
  const flags = language === 'ts' ? ['--no-warnings'] : [];
  return (await run(commands[language], [...flags, file], { cwd: h.dataDir, env, timeout: 150_000 })).stdout.trim();
}

const here = () => ({ 'http://127.0.0.1:4020': h.baseUrl });
const address = (code: string) => filled(code, here());

/** The key of a wallet that holds one USDC. */
async function fundedWallet(): Promise<string> {
  const key = generatePrivateKey();
  await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, key);
  return key;
}

describe('the quickstart leads to the result of a paid call', () => {
  it.skipIf(!has('curl'))('with curl', async () => {
    const blocks = snippetsOf('guides/quickstart.md', 'sh');
    expect(blocks).toHaveLength(3);
    const code = filled(address(blocks.join('\n')), { YOUR_API_KEY: client.key, AGENT_ID: agent.id });
    const printed = await runProgram('sh', code, { AGENT_NETWORK_KEY: '' });
    expect(printed).toContain(`"id":"${agent.id}"`);
    expect(printed).toMatch(/"status":"completed".*"result":\{"echo":"Say hello\."/);
  });

  it('in TypeScript', async () => {
    const printed = await runProgram('ts', address(snippetsOf('guides/quickstart.md', 'ts').join('\n')));
    expect(printed).toMatch(new RegExp(`^${agent.id} .* 0\\.05\\ncompleted 0\\.05 \\{ echo: 'Say hello\\.'`));
  });

  it.skipIf(!has('python3'))('in Python', async () => {
    const printed = await runProgram('python', address(snippetsOf('guides/quickstart.md', 'python').join('\n')));
    expect(printed).toMatch(new RegExp(`^${agent.id} .* 0\\.05\\ncompleted 0\\.05 \\{'echo': 'Say hello\\.'`));
  });
});

describe('each way to pay works as its guide has it', () => {
  const blocks = snippetsOf('guides/calling.md', 'ts');
  const runWith = async (code = '') => runProgram('ts', address(code), { WALLET_PRIVATE_KEY: await fundedWallet() });

  it('and there are three', () => expect(blocks).toHaveLength(3));

  it('a treasury is filled by a wallet', async () => {
    expect(await runWith(blocks[0])).toMatch(/^[12]\.\d+ USDC in the treasury$/);
  });

  it('a wallet pays a call without a key', async () => {
    const printed = await runWith(blocks[1]);
    expect(printed).toContain("status: 'completed'");
    expect(printed).toContain("result: { echo: 'Say hello.'");
  });

  it('a channel pays three calls by one deposit, and gives the rest back', async () => {
    expect(await runWith(blocks[2])).toBe('0.15 USDC spent, 0.35 came back');
  });
});

describe('a call is repeated safely as the guide has it', () => {
  const program = (language: string) => {
    const [code = '', ...others] = snippetsOf('guides/retries.md', language);
    expect(others).toEqual([]);
    return filled(address(code), { AGENT_ID: agent.id });
  };

  it.skipIf(!has('curl') || !existsSync('/proc/sys/kernel/random/uuid'))('with curl', async () => {
    expect(await runProgram('sh', program('sh'))).toContain('"status":"completed"');
  });

  it('in TypeScript, and a key of its own gives the same request', async () => {
    const before = agent.calls.length;
    expect(await runProgram('ts', program('ts'))).toBe('true');
    expect(agent.calls.length - before).toBe(1);
  });

  it.skipIf(!has('python3'))('in Python', async () => {
    expect(await runProgram('python', program('python'))).toBe('completed 0.05');
  });

  it.skipIf(!has('python3'))('in Python, also after a closed connection and a date in `Retry-After`', async () => {
    const record = success({ status: 'completed', cost: '0.05' });
    const busy = { status: 503, body: '', headers: { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' } };
    await using node = await startFakeNode((_seen, count) => (count === 1 ? 'hang up' : count === 2 ? busy : record));
    const code = filled(program('python'), { [h.baseUrl]: node.baseUrl, 'time.sleep(': 'str(' });
    expect(await runProgram('python', code)).toBe('completed 0.05');
    const keys = node.seen.map(({ headers }) => headers['idempotency-key']);
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  });

  it.skipIf(!has('python3'))('in Python, and raises the error when no attempt succeeds', async () => {
    const code = filled(program('python'), { [h.baseUrl]: 'http://127.0.0.1:1', 'time.sleep(': 'str(' });
    await expect(runProgram('python', code)).rejects.toThrow('Connection refused');
  });
});

describe('a receiver of the guide takes deliveries of the node and nothing else', () => {
  /** Its connection ends with the receiver. */
  const stranger = (port: number) => connect(port, '127.0.0.1').on('error', () => undefined);

  const receives = async (language: 'ts' | 'python') => {
    const port = await freePort(0);
    const url = `http://127.0.0.1:${port}/`;
    const { body } = await h.request('POST', '/account/webhooks', { key: client.key, body: { url } });
    const { webhookId, secret } = body.data;
    const [code = '', ...others] = snippetsOf('guides/verifying.md', language);
    expect(others).toEqual([]);
    const file = join(h.dataDir, `receiver.${language}`);
    writeFileSync(file, filled(code, { '8803': String(port) }));
    const env = { ...process.env, WEBHOOK_SECRET: secret };
    const receiver = spawn(commands[language], [file], { cwd: h.dataDir, env, stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
      expect((await lines.next()).value).toBe('listening');
      // Strangers: one says nothing, one names a length that has no end. Neither keeps the receiver from its deliveries.
      const [silent, endless] = [stranger(port), stranger(port)];
      await Promise.all([once(silent, 'connect'), once(endless, 'connect')]);
      const refused = once(endless, 'data');
      endless.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n');
      const test = await h.request('POST', `/account/webhooks/${webhookId}/test`, { key: client.key, body: {} });
      expect(test.body.data.status).toBe('delivered');
      expect((await lines.next()).value).toMatch(/^webhook\.test evt_\w+$/);
      expect(String(await refused)).toMatch(/^HTTP\/1\.\d 400 /);
      const headers = {
        'webhook-id': 'evt_forged',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
      };
      expect((await fetch(url, { method: 'POST', headers, body: '{"type":"webhook.test"}' })).status).toBe(400);
    } finally {
      receiver.kill('SIGKILL');
      await h.request('DELETE', `/account/webhooks/${webhookId}`, { key: client.key });
    }
  };

  it('in TypeScript', () => receives('ts'));
  it.skipIf(!has('python3'))('in Python', () => receives('python'));
});
