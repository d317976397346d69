import { generatePrivateKey } from 'viem/accounts';
import { expect, it } from 'vitest';
import { newWallet } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { startTestAgent } from '../../../support/test-agent.ts';
import { newClient } from '../../../support/treasury.ts';
import { filled, runSnippet, snippetsOf } from '../guide-snippets.ts';

it('the snippets of the guide to A2A work as they stand', async () => {
  const h = await borrowHarness();
  const agent = await startTestAgent(h, { perRequest: '0.05' });
  try {
    const buyer = await newClient(h, '1');
    const [treasury = '', x402 = '', ...others] = snippetsOf('guide-a2a.md', 'js');
    expect(others).toEqual([]);
    const values = { 'http://127.0.0.1:4020': h.baseUrl, AGENT_ID: agent.id };
    const bought = await runSnippet(h.dataDir, filled(treasury, { ...values, YOUR_API_KEY: buyer.key }));
    expect(bought).toMatch(/^TASK_STATE_COMPLETED 0\.05 \[[\s\S]*Say hello\./);

    const privateKey = generatePrivateKey();
    await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, privateKey);
    const paid = await runSnippet(h.dataDir, filled(x402, { ...values, YOUR_PRIVATE_KEY: privateKey }));
    expect(paid).toMatch(/^TASK_STATE_COMPLETED 0x[0-9a-f]{64}$/);
  } finally {
    await agent.die();
    await h.stop();
  }
});
