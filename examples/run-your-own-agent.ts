/** Brings an agent of your own online, earns with it, and takes it away again. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, createPayer, invokeAndWait } from '@agent-network/sdk';
import { AgentError, serveAgent } from '@agent-network/sdk/agent';
import { firstWallet, type Local, runExample } from './local.ts';
import { untilOnline } from './until-online.ts';

const startDice = (local: Local, tokenFile: string) =>
  serveAgent({
    registerWith: {
      baseUrl: local.baseUrl,
      apiKey: local.apiKey,
      tokenFile,
      name: 'Dice',
      description: 'Rolls a die with as many sides as you like.',
      capabilities: ['dice'],
      rates: { perRequest: '0.02' },
    },
    handle: ({ input }) => {
      const sides = Number(input.sides ?? 6);
      if (!Number.isInteger(sides) || sides < 2) throw new AgentError('invalid_input', 'input.sides must be 2 or more');
      return { sides, rolled: 1 + Math.floor(Math.random() * sides) };
    },
  });

export async function run(local: Local): Promise<void> {
  const payer = createPayer({ privateKey: firstWallet(local).privateKey, maxPerCall: '0.02' });
  const client = createClient({ baseUrl: local.baseUrl, apiKey: local.apiKey, payer });
  const folder = await mkdtemp(join(tmpdir(), 'dice-agent-'));
  const agent = await startDice(local, join(folder, 'token.json'));
  const id = agent.agentId ?? '';
  try {
    await untilOnline(client, id);
    const { agents } = await client.listAgents({ query: { capability: 'dice', status: 'online' } });
    assert.ok(
      agents.some((found) => found.id === id),
      'the agent is found by what it can do',
    );

    const headers = { 'x-payment-method': 'x402' } as const;
    const record = await invokeAndWait(client, id, { task: 'roll', input: { sides: 20 } }, { headers });
    const { rolled } = record.result as { rolled: number };
    assert.ok(rolled >= 1 && rolled <= 20);
    assert.equal(record.cost, '0.02');
    console.log(`${id} rolled ${rolled} for ${record.cost} USDC`);
  } finally {
    await client.removeAgent({ params: { id } });
    await agent.close();
    await rm(folder, { recursive: true });
  }
}

if (import.meta.main) await runExample(run);
