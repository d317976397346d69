import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUsdcClient } from '../../src/chain/usdc-client.ts';
import { askDatabase, contradictions } from '../support/books.ts';
import { newWallet } from '../support/harness.ts';
import { at, type NodeCluster, type NodeProcess, startCluster } from '../support/node-cluster.ts';
import { headerIn } from '../support/two-networks.ts';
import { until } from '../support/until.ts';
import { paymentOf } from '../support/x402-payer.ts';

const NETWORK = 'eip155:84532';
const ADDRESS = '0x7e57d0117e57d0117e57d0117e57d0117e57d011';

let cluster: NodeCluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const start = (env: NodeJS.ProcessEnv = {}) =>
  cluster.startProcess({
    CHAIN_RPC_URL: undefined,
    NETWORKS: JSON.stringify([{ id: NETWORK, rpcUrls: [cluster.proxy.url], tokens: ['USDC', 'TUSD'] }]),
    ...env,
  });
const usdc = () => cluster.ctx.chain;
const tusd = () => ({ ...cluster.ctx.chain, token: ADDRESS, tokenName: 'TUSD' });
const heldIn = (token: string, address: string) =>
  createUsdcClient({ rpcUrl: cluster.chain.rpcUrl, token }).balanceOf(address);

/** Deposits 2.00 of each token for an account; answers its key. */
async function depositBoth(process: NodeProcess): Promise<string> {
  const { key } = await cluster.newAccount();
  const host = at(cluster, process);
  await host.request('POST', '/payments/treasury', { key, body: {} });
  for (const chain of [usdc(), tusd()]) {
    const wallet = await newWallet(cluster.chain.rpcUrl, chain.token, 2_000_000n);
    const call = { key, body: { amount: '2.00', asset: `${NETWORK}/erc20:${chain.token}` } };
    const path = '/payments/treasury/deposit';
    const unpaid = await until(async () => {
      const answer = await host.request('POST', path, call);
      return answer.status === 402 && answer;
    });
    const payment = await paymentOf({ ctx: { chain } }, wallet, headerIn(unpaid, 'payment-required'));
    const headers = { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') };
    expect((await host.request('POST', path, { ...call, headers })).status).toBe(200);
  }
  return key;
}

it('withdrawals of both tokens that a killed process has sent, or has not, are each paid once by the next', async () => {
  const mortal = await start();
  const key = await depositBoth(mortal);
  // The chain takes some and does not say so; others never reach it.
  let sends = 0;
  cluster.proxy.rule('eth_sendRawTransaction', async ({ forward }) => {
    sends += 1;
    if (sends % 2 === 0) await forward();
    return null;
  });
  cluster.proxy.rule('eth_getTransactionReceipt', () => null);
  const orders = Array.from({ length: 6 }, (_, index) => ({
    token: [usdc(), tusd()][index % 2]?.token ?? '',
    to: privateKeyToAccount(generatePrivateKey()).address,
    amount: ['0.10', '0.20'][index % 2] ?? '',
  }));
  const asked = orders.map(({ token, to, amount }) =>
    at(cluster, mortal)
      .request('POST', '/payments/withdraw', { key, body: { amount, to, asset: `${NETWORK}/erc20:${token}` } })
      .catch(() => null),
  );
  const committed = `select 1 from chain_payment where purpose = 'withdrawal' having count(*) > 3 and count(distinct token) = 2
    and bool_or(state = 'broadcasting')`;
  await until(async () => (await askDatabase(cluster.databaseUrl, committed)).length > 0);
  await mortal.kill();
  await Promise.all(asked);
  await askDatabase(cluster.databaseUrl, 'delete from process');
  cluster.proxy.rule('eth_sendRawTransaction', null);
  cluster.proxy.rule('eth_getTransactionReceipt', null);
  const begun = await askDatabase<{ to: string; token: string }>(
    cluster.databaseUrl,
    `select to_address as to, token from chain_payment where purpose = 'withdrawal'`,
  );
  expect(new Set(begun.map(({ token }) => token))).toEqual(new Set([usdc().token, ADDRESS]));

  await start();
  const isOpen = `select 1 from chain_payment where purpose = 'withdrawal' and state <> 'settled'`;
  await until(async () => (await askDatabase(cluster.databaseUrl, isOpen)).length === 0);
  for (const { token, to, amount } of orders) {
    const wasBegun = begun.some((each) => each.to === to.toLowerCase());
    const micro = amount === '0.10' ? 100_000n : 200_000n;
    expect(await heldIn(token, to)).toBe(wasBegun ? micro : 0n);
    expect(await heldIn(token === ADDRESS ? usdc().token : ADDRESS, to)).toBe(0n);
  }
  const twice = `select 1 from chain_transaction where state = 'mined' group by signer, nonce having count(*) > 1`;
  expect(await askDatabase(cluster.databaseUrl, twice)).toEqual([]);
  expect(await contradictions(cluster.databaseUrl)).toEqual([]);
  const books = await askDatabase<{ asset: string | null; micro: string }>(
    cluster.databaseUrl,
    `select asset, (-sum(change_micro))::text as micro from ledger_total where kind = 'wallet' group by 1 order by 1 nulls first`,
  );
  expect(books.map(({ micro }) => BigInt(micro))).toEqual([
    await heldIn(usdc().token, cluster.walletAddress),
    await heldIn(ADDRESS, cluster.walletAddress),
  ]);
});
