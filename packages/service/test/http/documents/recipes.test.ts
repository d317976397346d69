import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { BIN } from '../../../../cli/test/support/command-lines.ts';
import { type Harness, newWallet, startHarness } from '../../support/harness.ts';
import { answerWith, type Behaviour, startTestAgent, type TestAgent, untilStatus } from '../../support/test-agent.ts';
import { type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { filled, snippetsOf } from '../gateways/guide-snippets.ts';

const hasPython = spawnSync('python3', ['--version']).status === 0;

let h: Harness;
let client: Client;
let agent: TestAgent;
let failing: TestAgent;
beforeAll(async () => {
  h = await startHarness();
  client = await newClient(h, '2');
  agent = await startTestAgent(h, { perRequest: '0.05' });
  failing = await startTestAgent(h, { perRequest: '0.05', behaviour: answerWith(500, { error: { message: 'no' } }) });
  symlinkSync(join(import.meta.dirname, '../../../../../node_modules'), join(h.dataDir, 'node_modules'));
  writeFileSync(join(h.dataDir, 'package.json'), '{"type":"module"}');
});
afterAll(async () => {
  await agent?.die();
  await failing?.die();
  await h?.stop();
});

const environment = () => ({ ...process.env, AGENT_NETWORK_KEY: client.key, NO_COLOR: '1' });

/** Runs a program of the guides as its reader would; answers what it printed. */
async function runProgram(name: string, code: string, values: Record<string, string> = {}): Promise<string> {
  const file = join(h.dataDir, name);
  writeFileSync(file, filled(code, { 'http://127.0.0.1:4020': h.baseUrl, ...values }));
  const command = name.endsWith('.py') ? ['python3', file] : [process.execPath, '--no-warnings', file];
  const options = { cwd: h.dataDir, env: environment(), timeout: 150_000 };
  return (await promisify(execFile)(command[0] ?? '', command.slice(1), options)).stdout.trim();
}

/** The block of a language that has these words. */
const block = (language: string, words: string): string =>
  snippetsOf('guides/recipes.md', language).find((code) => code.includes(words)) ?? '';

describe('the recipes work as they stand', () => {
  it('a budget', async () => {
    const printed = await runProgram('budget.ts', block('ts', 'createApiKey'));
    expect(printed).toMatch(/^key of \d+ characters: 0\.10 per call, 1\.00 per day$/);
  });

  it('a refund', async () => {
    const printed = await runProgram('refund.ts', block('ts', 'record.refund'), { AGENT_ID: failing.id });
    expect(printed).toBe('failed agent_error cost 0.00, refund 0.05');
  });

  it('files', async () => {
    const returnsFile: Behaviour = ({ body }, response) => {
      const { data } = body.input.file;
      answerWith(200, { result: { files: [{ name: '../out.pdf', data }] } })({ headers: {}, body }, response);
    };
    const compressor = await startTestAgent(h, { perRequest: '0.05', behaviour: returnsFile });
    onTestFinished(() => compressor.die());
    writeFileSync(join(h.dataDir, 'report.pdf'), Buffer.from([0, 1, 254, 255]));
    const printed = await runProgram('files.ts', block('ts', 'report.pdf'), { AGENT_ID: compressor.id });
    expect(printed).toBe('returned-out.pdf');
    expect(readFileSync(join(h.dataDir, printed))).toEqual(Buffer.from([0, 1, 254, 255]));
  });

  it('follow-up questions', async () => {
    const asksForDay: Behaviour = ({ body }, response) => {
      const day = body.answers?.[0].input.day;
      const question = { status: 'input_required', input: { message: 'Which day?' } };
      answerWith(200, day ? { result: { booked: day } } : question)({ headers: {}, body }, response);
    };
    const booker = await startTestAgent(h, { perRequest: '0.05', behaviour: asksForDay });
    onTestFinished(() => booker.die());
    const printed = await runProgram('questions.ts', block('ts', 'onInput'), { AGENT_ID: booker.id });
    expect(printed).toBe("The agent asks: Which day?\n2 { booked: 'Friday' }");
  });

  it('several agents', async () => {
    expect(await runProgram('several.ts', block('ts', 'invokeBulk'))).toMatch(/^(completed|failed) 0\.\d+ 2$/);
  });

  it('a caller of x402 middleware', async () => {
    const key = generatePrivateKey();
    await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, key);
    const values = { YOUR_WALLET_KEY: key, AGENT_ID: agent.id };
    expect(await runProgram('x402.mjs', block('js', 'wrapFetchWithPayment'), values)).toMatch(/^completed \{ echo: /);
  });

  it.each(['@langchain/openai', '@ai-sdk/openai'])('%s', async (library) => {
    const values = { YOUR_API_KEY: client.key, AGENT_ID: agent.id };
    expect(await runProgram('model.mjs', block('js', library), values)).toContain('Say hello.');
  });

  it.skipIf(!hasPython)('Python', async () => {
    const printed = await runProgram('call.py', block('python', 'urllib'), { AGENT_ID: agent.id });
    expect(printed).toMatch(/^completed 0\.05 \{'echo': 'Say hello\.'/);
  });

  it('an MCP host that starts the command line', async () => {
    const { command, args } = JSON.parse(block('json', 'mcpServers')).mcpServers['agent-network'];
    expect(command).toBe('agentnet');
    const env = {
      ...process.env,
      AGENTNET_CONFIG_DIR: h.dataDir,
      AGENTNET_URL: h.baseUrl,
      AGENTNET_API_KEY: client.key,
    };
    const host = spawn(process.execPath, [BIN, ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void host.kill('SIGKILL'));
    const clientInfo = { name: 'host', version: '1.0.0' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    host.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    const [said] = await once(host.stdout, 'data');
    expect(JSON.parse(String(said)).result.serverInfo).toBeDefined();
  });
});

describe('the first agent', () => {
  const called = async (agentId: string) => {
    await untilStatus(h, agentId, 'online');
    const body = { task: 'Five minutes to the first agent', maxCost: '0.02' };
    const { requestId } = (await h.request('POST', `/invoke/${agentId}`, { key: client.key, body })).body.data;
    expect(await untilEnded(h, client.key, requestId)).toMatchObject({
      status: 'completed',
      result: { slug: 'five-minutes-to-the-first-agent' },
      cost: expect.stringMatching(/^0\.020*$/),
    });
  };

  it('of a program, by the command line', async () => {
    const [program = ''] = snippetsOf('guides/first-agent.md', 'js');
    writeFileSync(join(h.dataDir, 'slug.mjs'), program);
    const [line = ''] = snippetsOf('guides/first-agent.md', 'sh');
    const [, ...args] = line.split(' ');
    const env = { PATH: process.env.PATH, AGENTNET_CONFIG_DIR: h.dataDir, AGENTNET_URL: h.baseUrl };
    const key = (await h.newAccount()).key;
    const options = { cwd: h.dataDir, env: { ...env, AGENTNET_API_KEY: key } };
    const serving = spawn(process.execPath, [BIN, ...args], { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void serving.kill('SIGKILL'));
    const [said] = await once(serving.stdout, 'data');
    await called(/agt_\w+/.exec(String(said))?.[0] ?? '');
  });

  it('of a function, by the SDK', async () => {
    const [code = ''] = snippetsOf('guides/first-agent.md', 'ts');
    const file = join(h.dataDir, 'slugger.ts');
    writeFileSync(file, filled(code, { 'http://127.0.0.1:4020': h.baseUrl }));
    const serving = spawn(process.execPath, ['--no-warnings', file], { cwd: h.dataDir, env: environment() });
    onTestFinished(() => void serving.kill('SIGKILL'));
    const [said] = await once(serving.stdout, 'data');
    await called(/serving (agt_\w+)/.exec(String(said))?.[1] ?? '');
  });
});
