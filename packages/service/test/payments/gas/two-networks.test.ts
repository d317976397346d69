import { callChain } from '@agent-network/chain/chain-rpc-client';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onToken, requireNetwork } from '../../../src/chain/networks.ts';
import type { NodeContext } from '../../../src/compose/context.ts';
import { askDatabase } from '../../support/books.ts';
import { newWallet, startHarness, type TestAccount } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { networkAt, payOn, startTwoNetworks, type TwoNetworks } from '../../support/two-networks.ts';
import { until } from '../../support/until.ts';
import { newVoucherPayer } from '../../support/voucher-payer.ts';

const OTHER = 421_614;
const ARB_GAS_INFO = '0x000000000000000000000000000000000000006c';
const GAS_OF_BYTE = 1000n;

let t: TwoNetworks;
let agent: TestAgent;
let account: TestAccount;
beforeAll(async () => {
  t = await startTwoNetworks({ env: { CHANNELS: 'true', CHANNEL_CLAIM_THRESHOLD: '100' } });
  account = await t.h.newAccount();
  agent = await startTestAgent(t.h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await t.stop();
});

const word = (value: bigint) => value.toString(16).padStart(64, '0');
/** Code that returns these words, whatever it is asked. */
const returning = (words: readonly bigint[]): Hex => {
  const stored = words.map((value, index) => `7f${word(value)}61${(32 * index).toString(16).padStart(4, '0')}52`);
  return `0x${stored.join('')}61${(32 * words.length).toString(16).padStart(4, '0')}6000f3`;
};

/** From now on a byte of data on the chain below costs this much gas at the least base fee, as on Arbitrum. */
async function dataCosts(gasOfByte: bigint): Promise<void> {
  const gasWei = 10_000_000n;
  const prices = [0n, gasOfByte * gasWei, 0n, gasWei, 0n, gasWei];
  const code = gasOfByte === 0n ? '0x' : returning(prices);
  await callChain(t.other.rpcUrl, 'anvil_setCode', ARB_GAS_INFO, code);
  await until(async () => (await t.onOther().fees.dataGasPerByte()) === 2n * gasOfByte);
}

const call = (headers: Record<string, string> = {}) =>
  t.h.request('POST', `/invoke/${agent.id}`, { key: account.key, body: { task: 'x' }, headers });

/** Gas limit and length of the call of the transactions of a chain since there were so many. */
async function sentOn({ chain }: NodeContext, rpcUrl: string, after: number) {
  const rows = await askDatabase<{ hash: string }>(
    t.h.databaseUrl,
    'select hash from chain_transaction where chain_id = $1 order by created_at offset $2',
    [chain.chainId, after],
  );
  return Promise.all(
    rows.map(async ({ hash }) => {
      const found = await callChain<{ gas: Hex; input: Hex }>(rpcUrl, 'eth_getTransactionByHash', hash);
      return { gas: BigInt(found.gas), bytes: BigInt(found.input.length / 2 - 1) };
    }),
  );
}

it('leaves room for the data of a transaction where the chain counts that as gas, in payments and in claims', async () => {
  const on = t.onOther();
  const pay = async (ctx: NodeContext, rpcUrl: string) => {
    const wallet = await newWallet(rpcUrl, ctx.chain.token, 1_000_000n);
    const paid = await call(await payOn(ctx, wallet, await call()));
    expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  };
  await pay(on, t.other.rpcUrl);
  await pay(t.h.ctx, t.h.rpcUrl);
  const plain = [...(await sentOn(on, t.other.rpcUrl, 0)), ...(await sentOn(t.h.ctx, t.h.rpcUrl, 0))];
  expect(plain.map(({ gas }) => gas)).toEqual([160_000n, 160_000n]);

  await dataCosts(GAS_OF_BYTE);
  await pay(on, t.other.rpcUrl);
  const payer = newVoucherPayer({ ctx: on });
  await newWallet(t.other.rpcUrl, on.chain.token, 1_000_000n, payer.key);
  expect((await call(payer.pay(await call(), 50_000n, { payload: await payer.deposit(500_000n) }))).status).toBe(200);
  await on.channelClaims.claim('payout');
  const sent = await sentOn(on, t.other.rpcUrl, 1);
  expect(sent).toHaveLength(3);
  for (const { gas, bytes } of sent) expect(gas).toBeGreaterThanOrEqual(130_000n + 2n * GAS_OF_BYTE * bytes);
  expect(sent[0]?.gas).toBeLessThan(160_000n + 2n * GAS_OF_BYTE * 700n);
});

it('takes no payment for which no key has the gas of its data', async () => {
  const on = t.onOther();
  await dataCosts(GAS_OF_BYTE);
  const { maxFeePerGas } = await on.fees.current();
  const setGas = async (wei: bigint) => {
    await callChain(t.other.rpcUrl, 'anvil_setBalance', on.wallet.address, `0x${wei.toString(16)}`);
    await on.gas.refresh();
  };
  // Ten payments by the gas of their code alone.
  await setGas(2_000_000n * maxFeePerGas);
  const states = async () => (await t.h.request('GET', '/payments/networks')).body.data.networks;
  await until(async () => (await states())[1].state === 'no_gas');
  const wallet = await t.walletOnOther();
  expect((await call(await payOn(on, wallet, await call()))).status).toBe(503);
  await dataCosts(0n);
  await on.gas.refresh();
  await until(async () => (await states())[1].state === 'open');
  expect((await call(await payOn(on, wallet, await call()))).status).toBe(200);
});

it('a cap of gas for a day holds for the network that has it', async () => {
  const capped = { ...networkAt(t.other.rpcUrl), gasPerDayWei: 1n };
  const h = await startHarness({ furtherNetworks: [capped] });
  await t.other.fund([{ address: h.ctx.chain.wallet as Hex, ethWei: 10n ** 18n, usdcMicro: 0n }]);
  const sold = await startTestAgent(h, { perRequest: '0.05' });
  try {
    const on = requireNetwork(onToken(h.ctx, { chainId: OTHER, token: t.other.usdc.toLowerCase() }));
    await on.gas.refresh();
    const { key } = await h.newAccount();
    const ask = (headers: Record<string, string> = {}) =>
      h.request('POST', `/invoke/${sold.id}`, { key, body: { task: 'x' }, headers });
    const pay = async (ctx: NodeContext, rpcUrl: string) =>
      (await ask(await payOn(ctx, await newWallet(rpcUrl, ctx.chain.token, 1_000_000n), await ask()))).status;
    expect(await pay(on, t.other.rpcUrl)).toBe(200);
    const states = async () => (await h.request('GET', '/payments/networks')).body.data.networks;
    await until(async () => (await states())[1].state === 'gas_cap');
    expect(await pay(on, t.other.rpcUrl)).toBe(503);
    expect(await pay(h.ctx, h.rpcUrl)).toBe(200);
    expect((await states())[0].state).toBe('open');
  } finally {
    await sold.die();
    await h.stop();
  }
});
