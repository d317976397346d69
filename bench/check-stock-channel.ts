import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createClient } from '@agent-network/sdk';
import { createPublicClient, erc20Abi, formatUnits, http, parseUnits } from 'viem';
import { work } from './bench-context.ts';
import { peersFolder } from './peers.ts';
import type { ServiceUnderTest } from './service-under-test.ts';

const CALLS = 1000;
const AT_ONCE = 16;
const PRICE = '0.001';
/** Deposit for a fixed number of calls: the next one has to top the channel up. */
const DEPOSIT = '1';
const micro = (usdc: string) => parseUnits(usdc, 6);

/** The stock client deposits what the node names as its least deposit. */
export const channelSettings = { CHANNEL_MIN_DEPOSIT: DEPOSIT };

interface PaidByChannel {
  readonly statuses: Readonly<Record<string, number>>;
  readonly deposits: readonly string[];
  readonly depositsInRow: number;
  readonly charged: string;
  readonly refunded: string;
  readonly callsPerS: number;
}

/**
 * The stock client with both schemes: a thousand calls from one deposit, a top-up, 16 calls at once, and a refund. The wallet has to hold to
 * the unit what was not charged.
 */
export async function payByChannel({ local, echoAgentId }: ServiceUnderTest): Promise<string> {
  const wallet = local.wallets[1];
  assert.ok(wallet, 'the node has a second funded wallet');
  await createClient(local).updateAgent({ params: { id: echoAgentId }, body: { rates: { perRequest: PRICE } } });
  const chain = createPublicClient({ transport: http(local.chain.rpcUrl) });
  const args = [wallet.address] as const;
  const balance = () =>
    chain.readContract({ address: local.chain.usdc, abi: erc20Abi, functionName: 'balanceOf', args });
  const before = await balance();
  const settings = {
    url: `${local.baseUrl}/invoke/${echoAgentId}`,
    privateKey: wallet.privateKey,
    rpcUrl: local.chain.rpcUrl,
    calls: CALLS,
    request: {
      method: 'POST',
      headers: { authorization: `Bearer ${local.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(work),
    },
  };
  const { stdout } = await promisify(execFile)(process.execPath, [`${peersFolder}x402-fetch-channel.mjs`], {
    env: { ...process.env, CLIENT_SETTINGS: JSON.stringify(settings) },
    timeout: 300_000,
  });
  const paid = JSON.parse(stdout) as PaidByChannel;
  const calls = CALLS + 1 + AT_ONCE;
  const charged = micro(PRICE) * BigInt(calls);
  assert.deepEqual(paid.statuses, { 200: calls }, stdout);
  assert.equal(paid.depositsInRow, 1, stdout);
  assert.deepEqual(paid.deposits, [String(micro(DEPOSIT)), String(micro(DEPOSIT))], stdout);
  assert.equal(BigInt(paid.charged), charged, stdout);
  assert.equal(BigInt(paid.refunded), 2n * micro(DEPOSIT) - charged, stdout);
  assert.equal(before - (await balance()), charged, 'exactly what was charged left the wallet');
  return `x402-fetch-channel.mjs: ${CALLS} calls from one deposit (${paid.callsPerS}/s), a top-up and ${AT_ONCE} calls at once cost ${formatUnits(charged, 6)} USDC; ${formatUnits(BigInt(paid.refunded), 6)} were refunded`;
}
