/** Pays a hundred calls with one deposit: each is a signature, and what is left comes back. */
import assert from 'node:assert/strict';
import { createClient, createPayer } from '@agent-network/sdk';
import { formatUnits, parseUnits } from 'viem';
import { readChain } from './chain-reads.ts';
import { agentNamed, firstWallet, type Local, runExample } from './local.ts';

const calls = 100;
/** A line on the terminal after so many calls: each takes 30 to 200 ms, by how busy the machine is. */
const callsPerLine = 20;

export async function run(local: Local): Promise<void> {
  const { privateKey, address } = firstWallet(local);
  const payer = createPayer({
    privateKey,
    maxPerCall: '0.05',
    channels: { deposit: '2.00', rpcUrl: local.chain.rpcUrl },
  });
  const client = createClient({ baseUrl: local.baseUrl, apiKey: local.apiKey, payer });
  const agentId = agentNamed(local, 'Echo').id;
  const invoke = (round: number) =>
    client.invokeAgent({
      params: { agentId },
      headers: { 'x-payment-method': 'x402', 'x-sync': 'true' },
      body: { task: 'say hello', input: { round } },
    });

  const chain = readChain(local);
  const before = await chain.usdcOf(address);
  let cost = 0n;
  console.log(`Depositing 2 USDC into a channel with the first of ${calls} calls; the others are a signature each.`);
  for (let round = 0; round < calls; round += 1) {
    const answer = await invoke(round);
    assert.ok('cost' in answer && answer.status === 'completed');
    cost += parseUnits(answer.cost ?? '', 6);
    assert.equal(before - (await chain.usdcOf(address)), parseUnits('2', 6), 'one deposit left the wallet');
    if ((round + 1) % callsPerLine === 0) console.log(`${round + 1} of ${calls} calls done`);
  }
  assert.ok(cost > 0n, 'the calls cost something');

  console.log('Closing the channel: the rest comes back.');
  const [closed] = await payer.close();
  assert.ok(closed, 'the channel was closed');
  assert.equal(parseUnits(closed.refunded, 6), parseUnits('2', 6) - cost, 'the rest was refunded');
  assert.equal(before - (await chain.usdcOf(address)), cost, 'exactly the cost left the wallet');
  console.log(`${calls} calls cost ${formatUnits(cost, 6)} USDC out of one deposit of 2; ${closed.refunded} came back`);
}

if (import.meta.main) await runExample(run);
