/** Calls an agent without an API key: the wallet pays, the account is the wallet's, and the result is read with its token. */
import assert from 'node:assert/strict';
import { createClient, createPayer } from '@agent-network/sdk';
import { agentNamed, firstWallet, type Local, runExample } from './local.ts';

export async function run(local: Local): Promise<void> {
  const payer = createPayer({ privateKey: firstWallet(local).privateKey, maxPerCall: '0.10' });
  const client = createClient({ baseUrl: local.baseUrl, payer });
  const { id: agentId } = agentNamed(local, 'Echo');

  const answer = await client.invokeKeyless({ params: { agentId }, body: { task: 'say hello' } });
  assert.ok('resultToken' in answer && answer.resultToken, 'the answer has the token that reads on');
  assert.equal(answer.status, 'completed');

  const { requestId, resultToken } = answer;
  const record = await client.getInvocation({ params: { requestId }, headers: { 'x-result-token': resultToken } });
  assert.deepEqual(record.result, { echo: { task: 'say hello', input: {} } });
  assert.equal(record.paymentMethod, 'x402');
  await assert.rejects(client.getInvocation({ params: { requestId } }), { code: 'UNAUTHORIZED' });
  console.log(`${record.status} for ${record.cost} USDC, paid by ${payer.address} in ${record.paymentHash}`);
}

if (import.meta.main) await runExample(run);
