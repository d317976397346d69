import { generatePrivateKey } from 'viem/accounts';
import { expect, it } from 'vitest';
import { newWallet, startHarness } from '../../support/harness.ts';
import { startTestAgent } from '../../support/test-agent.ts';
import { newClient } from '../../support/treasury.ts';
import { filled, runSnippet, snippetsOf } from '../guide-snippets.ts';
import { stockClients } from './stock-clients.ts';

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
