import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { callSnippets } from '@agent-network/contracts/agents/call-snippets';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, newWallet } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient } from '../../support/treasury.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '../../../../..');

let h: Harness;
let agent: TestAgent;
let client: Client;
let folder: string;
beforeAll(async () => {
  [h, folder] = await Promise.all([borrowHarness(), mkdtemp(join(tmpdir(), 'agent-network-snippets-'))]);
  client = await newClient(h, '5');
  agent = await startTestAgent(h, { perRequest: '0.05', behaviour: answerWith(200, { result: 'Hello!' }) });
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(async () => {
  await agent?.die();
  await h?.stop();
  await rm(folder, { recursive: true, force: true });
});

it('each way to call an agent that its page shows calls it, as stock clients run it', async () => {
  const { interfaces, rates } = (await h.request('GET', `/agents/${agent.id}`)).body.data;
  const { chainId, token } = h.ctx.chain;
  const facts = { agentId: agent.id, price: rates.perRequest, network: `eip155:${chainId}`, interfaces };
  const snippets = callSnippets(facts);
  const key = generatePrivateKey();
  const wallet = await newWallet(h.rpcUrl, token, 1_000_000n, key);
  const env = { ...process.env, AGENT_NETWORK_KEY: client.key, WALLET_PRIVATE_KEY: key };

  const scripts = snippets.filter(({ language }) => language === 'js');
  expect(scripts.map(({ label }) => label)).toEqual([
    'TypeScript SDK',
    '@x402/fetch',
    'A2A client',
    'openai',
    'Vercel AI SDK',
  ]);
  await Promise.all(scripts.map(({ code }, at) => writeFile(join(folder, `snippet-${at}.mjs`), code)));
  const files = scripts.map((_, at) => `await import('./snippet-${at}.mjs');`);
  await writeFile(join(folder, 'all.mjs'), files.join('\n'));
  const told = await run(process.execPath, ['--no-warnings', 'all.mjs'], { cwd: folder, env, timeout: 150_000 });
  expect(told.stdout.match(/Hello!/g), told.stdout).toHaveLength(scripts.length);
  expect(agent.calls).toHaveLength(scripts.length);
  expect(await h.usdcOf(wallet.address)).toBe(950_000n);

  const curl = snippets.find(({ label }) => label === 'curl')?.code ?? '';
  expect(JSON.parse((await run('bash', ['-c', curl], { env })).stdout).data).toMatchObject({ result: 'Hello!' });
  expect(agent.calls.at(-1)?.body).toMatchObject({ task: 'Say hello.' });

  const host = JSON.parse(snippets.find(({ language }) => language === 'json')?.code ?? '');
  const { url, headers } = host.mcpServers[agent.id];
  const listing = await fetch(url, {
    method: 'POST',
    headers: {
      Authorization: headers.Authorization.replace('YOUR_API_KEY', client.key),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect(await listing.text()).toContain('"name":"invoke"');
});

it('a free agent is called without a key, as its page shows', async () => {
  const free = await startTestAgent(h, { perRequest: '0.00', behaviour: answerWith(200, { result: 'Hello!' }) });
  try {
    const { interfaces } = (await h.request('GET', `/agents/${free.id}`)).body.data;
    const facts = { agentId: free.id, price: '0.00', network: `eip155:${h.ctx.chain.chainId}`, interfaces };
    const [first] = callSnippets(facts);
    expect(first?.label).toBe('curl, no key');
    const { stdout } = await run('bash', ['-c', first?.code ?? '']);
    expect(JSON.parse(stdout).data).toMatchObject({ status: 'completed', result: 'Hello!' });
  } finally {
    await free.die();
  }
});
