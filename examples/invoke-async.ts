/** Fills a treasury with one payment, then pays from it: the call returns at once and the result is fetched later. */
import assert from 'node:assert/strict';
import { createClient, createPayer, invokeAndWait } from '@agent-network/sdk';
import { parseUnits } from 'viem';
import { agentNamed, firstWallet, type Local, runExample } from './local.ts';

const text = `Honey bees tell each other where food is by dancing. A bee that has found flowers comes home and runs in a
figure of eight on the comb. The angle of her run shows the direction of the flowers, measured from the sun. The length
of the run shows how far away the flowers are. Other bees follow the dance, fly out and find the flowers themselves.`;

const micro = (amount: string) => parseUnits(amount, 6);

export async function run(local: Local): Promise<void> {
  const payer = createPayer({ privateKey: firstWallet(local).privateKey, maxPerCall: '1.00' });
  const client = createClient({ baseUrl: local.baseUrl, apiKey: local.apiKey, payer });

  const { treasuryId } = await client.createTreasury();
  const available = async () => {
    const { treasuries } = await client.getBalance();
    return treasuries.find((treasury) => treasury.treasuryId === treasuryId)?.available ?? '0';
  };
  if (micro(await available()) < micro('0.50')) {
    const deposit = await client.depositToTreasury({ body: { amount: '1.00', treasuryId } });
    console.log(`Deposited ${deposit.amount} USDC in ${deposit.transactionHash}`);
  }

  const before = micro(await available());
  const record = await invokeAndWait(
    client,
    agentNamed(local, 'Text Analyst').id,
    { task: 'Summarise this text', input: { text, summarySentences: 2 }, maxCost: '0.10' },
    { headers: { 'x-payment-method': 'treasury' }, timeoutMs: 30_000 },
  );
  const result = record.result as { counts: { sentences: number }; summary: string; keywords: { phrase: string }[] };
  assert.equal(record.paymentMethod, 'treasury');
  assert.equal(result.counts.sentences, 5);
  assert.ok(result.keywords.length > 0 && result.summary.length < text.length);
  const cost = micro(record.cost ?? '');
  assert.ok(cost > 0n && cost <= micro('0.10'), 'the cost is within maxCost');
  assert.equal(before - micro(await available()), cost, 'exactly the cost left the treasury');
  console.log(`${record.requestId} cost ${record.cost} USDC and took ${record.duration}`);
  console.log(`Summary: ${result.summary}`);
}

if (import.meta.main) await runExample(run);
