import { readFileSync } from 'node:fs';
import { generatePrivateKey } from 'viem/accounts';
import { expect, it } from 'vitest';
import { newWallet, startHarness } from '../../../support/harness.ts';
import { startTestAgent } from '../../../support/test-agent.ts';
import { newClient } from '../../../support/treasury.ts';
import { filled, runSnippet, snippetsOf } from '../guide-snippets.ts';
import { stockClients } from './stock-clients.ts';

const readJson = (path: string) =>
  JSON.parse(readFileSync(new URL(`../../../../../../${path}`, import.meta.url), 'utf8'));

it('server.json is what the MCP registry takes, and names this version and this address', () => {
  const server = readJson('server.json');
  expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(server.description.length).toBeLessThanOrEqual(100);
  const [remote] = server.remotes;
  expect(remote).toMatchObject({ type: 'streamable-http', url: '{base_url}/mcp' });
  expect(Object.keys(remote.variables)).toEqual(['base_url']);
  const cli = readJson('packages/cli/package.json');
  const [{ identifier, version, packageArguments }] = server.packages;
  expect({ identifier, version }).toEqual({ identifier: cli.publishedAs, version: cli.version });
  expect(packageArguments).toEqual([{ type: 'positional', value: 'mcp' }]);
  expect(server.version).toBe(readJson('packages/service/package.json').version);
});

it('the snippets of the guide to MCP work as they stand', async () => {
  const h = await startHarness();
  const agent = await startTestAgent(h, { perRequest: '0.05' });
  try {
    const buyer = await newClient(h, '1');
    const urls = { 'http://127.0.0.1:4020': h.baseUrl, YOUR_API_KEY: buyer.key };
    const [host = ''] = snippetsOf('guide-mcp.md', 'json');
    const { url, headers } = JSON.parse(filled(host, urls)).mcpServers['agent-network'];
    const connect = stockClients[0]?.[1];
    const client = await connect?.(url, headers.Authorization.replace('Bearer ', ''));
    expect((await client?.call('get_balance', {}))?.data.available).toBe('1.00');
    await client?.close();

    const [treasury = '', x402 = '', ...others] = snippetsOf('guide-mcp.md', 'js');
    expect(others).toEqual([]);
    expect(await runSnippet(h.dataDir, filled(treasury, urls))).toMatch(/^completed 0\.05 \{ echo: 'Say hello\.'/);

    const privateKey = generatePrivateKey();
    await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, privateKey);
    const poor = await h.newAccount();
    const values = { ...urls, YOUR_API_KEY: poor.key, YOUR_PRIVATE_KEY: privateKey, AGENT_ID: agent.id };
    expect(await runSnippet(h.dataDir, filled(x402, values))).toMatch(/^completed 0x[0-9a-f]{64}$/);
  } finally {
    await agent.die();
    await h.stop();
  }
});
