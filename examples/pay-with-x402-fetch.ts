/** Pays an agent with the stock x402 client, knowing nothing of this project but its addresses. */
import assert from 'node:assert/strict';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { parseUnits } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { readChain } from './chain-reads.ts';
import { agentNamed, firstWallet, type Local, runExample } from './local.ts';

export async function run(local: Local): Promise<void> {
  const wallet = firstWallet(local);
  const chain = readChain(local);
  const client = new x402Client().register(
    `eip155:${local.chain.chainId}`,
    new ExactEvmScheme(privateKeyToAccount(wallet.privateKey)),
  );
  const fetchAndPay = wrapFetchWithPayment(fetch, client);

  const before = await chain.usdcOf(wallet.address);
  const response = await fetchAndPay(`${local.baseUrl}/invoke/${agentNamed(local, 'Echo').id}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${local.apiKey}`,
      'content-type': 'application/json',
      'x-payment-method': 'x402',
    },
    body: JSON.stringify({ task: 'say hello', input: { to: 'world' } }),
  });
  const { data } = (await response.json()) as { data: Record<string, string> & { result: unknown } };
  assert.equal(response.status, 200);
  assert.equal(data.status, 'completed');
  assert.deepEqual(data.result, { echo: { task: 'say hello', input: { to: 'world' } } });

  const price = parseUnits(data.cost ?? '', 6);
  const paymentHash = data.paymentHash as `0x${string}`;
  assert.ok(price > 0n, 'the call cost something');
  assert.equal(before - (await chain.usdcOf(wallet.address)), price, 'exactly the cost left the wallet');
  assert.equal(await chain.usdcMovedBy(paymentHash, wallet.address), price, 'paymentHash is the transfer');
  const settlement = decodePaymentResponseHeader(response.headers.get('payment-response') ?? '');
  assert.equal(settlement.transaction, paymentHash);
  console.log(`Paid ${data.cost} USDC in ${paymentHash} and got ${JSON.stringify(data.result)}`);
}

if (import.meta.main) await runExample(run);
