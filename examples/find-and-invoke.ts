/** Says what is to be done instead of by whom: the node ranks its online agents for the task, and calls the best one within a maximum cost. */
import assert from 'node:assert/strict';
import { createClient, createPayer } from '@agent-network/sdk';
import { agentNamed, firstWallet, type Local, runExample } from './local.ts';

const task = 'Summarise this English text';
const text = 'Honey bees dance. The dance shows the other bees where food is, and how far away it is.';

export async function run(local: Local): Promise<void> {
  const payer = createPayer({ privateKey: firstWallet(local).privateKey, maxPerCall: '0.10' });
  const client = createClient({ baseUrl: local.baseUrl, apiKey: local.apiKey, payer });

  const { matches, considered } = await client.matchAgents({ body: { task, maxPrice: '0.10' } });
  for (const { agent, score, parts } of matches) {
    const sum = Object.values(parts).reduce((total, { weight, value }) => total + weight * value, 0);
    assert.ok(Math.abs(sum - score) < 1e-9, 'the parts add up to the score');
    console.log(`${agent.name}: ${score.toFixed(2)}, for the words ${parts.text.matched.join(', ')}`);
  }
  const analyst = agentNamed(local, 'Text Analyst');
  assert.equal(matches[0]?.agent.id, analyst.id);

  const answer = await client.invokeAuto({
    headers: { 'x-sync': 'true', 'x-payment-method': 'x402' },
    body: { task, input: { text, summarySentences: 1 }, maxCost: '0.10' },
  });
  assert.equal(answer.status, 'completed');
  assert.equal(answer.chosen?.agentId, analyst.id);
  assert.ok(answer.chosen.considered <= considered);
  console.log(`${answer.requestId} was run by ${analyst.name}, chosen of ${answer.chosen.considered} that match`);
}

if (import.meta.main) await runExample(run);
