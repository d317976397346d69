/**
 * Pays many calls of an agent by channel with the stock version 2 client, one after the other, then one more and 16 at once, has the rest
 * refunded, and prints what happened as JSON.
 */
import { toClientEvmSigner } from '@x402/evm';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { createPublicClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const { url, privateKey, rpcUrl, request, calls } = JSON.parse(process.env.CLIENT_SETTINGS ?? '{}');
const account = privateKeyToAccount(privateKey);
const channels = new BatchSettlementEvmScheme(
  toClientEvmSigner(account, createPublicClient({ transport: http(rpcUrl) })),
);
const client = new x402Client()
  .register('eip155:84532', new ExactEvmScheme(account))
  .register('eip155:84532', channels);
const pay = wrapFetchWithPayment(fetch, client);

const statuses = {};
const deposits = [];
let charged = 0n;
const call = async () => {
  const response = await pay(url, request);
  await response.arrayBuffer();
  statuses[response.status] = (statuses[response.status] ?? 0) + 1;
  const header = response.headers.get('payment-response');
  if (!header) return;
  const { amount, extra } = decodePaymentResponseHeader(header);
  charged += BigInt(extra?.chargedAmount ?? 0);
  if (amount) deposits.push(amount);
};
const startedAt = performance.now();
for (let count = 0; count < calls; count += 1) await call();
const inRowMs = performance.now() - startedAt;
const depositsInRow = deposits.length;
await call();
await Promise.all(Array.from({ length: 16 }, call));
const refund = await channels.refund(url);
const callsPerS = Math.round(calls / (inRowMs / 1000));
const sums = { charged: String(charged), refunded: String(refund.amount) };
console.log(JSON.stringify({ statuses, deposits, depositsInRow, ...sums, callsPerS }));
