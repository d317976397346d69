import { callChain } from '@agent-network/chain/chain-rpc-client';
import type { Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { depositCall } from '../../../src/chain/channels/channel-calls.ts';
import { gasInBatch, type SignedAuthorization, settlementCall } from '../../../src/chain/settlement-call.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import { askDatabase } from '../../support/books.ts';
import { sendAs } from '../../support/chain-actions.ts';
import { channelOf, signDeposit } from '../../support/channels.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { type Harness, startHarness, type TestWallet } from '../../support/harness.ts';
import { type ProxiedHarness, startProxiedHarness } from '../../support/proxied-harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { newClient, untilUsdc } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { payV2 } from '../../support/x402-payer.ts';

const setGas = (rpcUrl: string, address: string, wei: bigint) =>
  callChain(rpcUrl, 'anvil_setBalance', address, `0x${wei.toString(16)}`);

/** What USDC's proxy adds to each of the four calls that a deposit makes to the token: a cold address, and the call through it. */
const PROXY_GAS = 4 * 11_000;
/** Code that says yes to every signature (EIP-1271), after counting down from 5000: some 130,000 gas. */
const SLOW_WALLET = `0x6113885b60019003806003577f1626ba7e${'0'.repeat(56)}60005260206000f3`;
const OF_CONTRACT: Hex = `0x${'ab'.repeat(100)}`;
const SOMEBODY = `0x${'cd'.repeat(20)}`;

async function newDeposits(engine: Engine, count: number): Promise<SignedAuthorization[]> {
  const payers = await Promise.all(Array.from({ length: count }, () => engine.newPayer()));
  return payers.map((payer) => {
    const config = channelOf(engine.ctx.chain, payer);
    const { salt, ...deposit } = signDeposit(engine.ctx.chain, payer, config);
    return { ...deposit, depositCall: depositCall(config, salt, deposit) };
  });
}

describe('a cap of gas for a day', () => {
  let h: Harness;
  beforeAll(async () => {
    h = await startHarness({ env: { GAS_PER_DAY: '0.000000000000000001' } });
  });
  afterAll(() => h.stop());

  it('refuses payments, deposits and withdrawals once it is spent, before anything is taken, until a day later', async () => {
    const owner = await h.newAccount();
    const agent = await startTestAgent(h, { owner, perRequest: '0.05' });
    const settlement = async () => (await h.request('GET', '/readyz')).body.settlement;
    const caller = await h.newAccount();
    const call = { key: caller.key, body: { task: 'x' }, headers: { 'x-sync': 'true' } };
    const wallet = await h.newWallet(50_000n);
    const headers = await payV2(h, wallet, await h.request('POST', `/invoke/${agent.id}`, call));
    const pay = () => h.request('POST', `/invoke/${agent.id}`, { ...call, headers: { ...call.headers, ...headers } });
    expect(await settlement()).toBe('ok');
    const { key } = await newClient(h, '1');
    await expect.poll(settlement).toBe('gas_cap');
    // The sum is of the chain's own figures.
    const sent = await askDatabase<{ hash: Hex; cost: string }>(
      h.databaseUrl,
      'select hash, cost_wei::text as cost from chain_transaction',
    );
    for (const { hash, cost } of sent) {
      const { gasUsed, effectiveGasPrice } = await callChain<{ gasUsed: Hex; effectiveGasPrice: Hex }>(
        h.rpcUrl,
        'eth_getTransactionReceipt',
        hash,
      );
      expect(BigInt(cost)).toBe(BigInt(gasUsed) * BigInt(effectiveGasPrice));
    }
    const refused = { status: 503, body: { error: { code: 'UNAVAILABLE', details: { state: 'cannot_settle' } } } };
    const claimed = () => askDatabase(h.databaseUrl, 'select id from chain_payment order by id');
    const before = await claimed();
    expect(await pay()).toMatchObject(refused);
    for (const path of ['/payments/withdraw', '/payments/treasury/deposit'])
      expect(await h.request('POST', path, { key, body: { amount: '0.5' } })).toMatchObject(refused);
    expect(await claimed()).toEqual(before);
    // Of more than a day ago.
    await askDatabase(h.databaseUrl, "update chain_transaction set created_at = created_at - interval '25 hours'");
    await expect.poll(settlement).toBe('ok');
    expect((await pay()).body.data).toMatchObject({ status: 'completed' });
  });
});

describe('keys that run out of gas', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ senders: 2 });
  });
  afterAll(() => engine.stop());

  it.each([
    { count: 1, atLeast: 120_000 },
    { count: 20, atLeast: 80_000 },
  ])(
    '$count deposits into new channels take what is allowed for them, with room for the proxy of USDC',
    async (deposits) => {
      const { chain, ctx } = engine;
      const batch = await newDeposits(engine, deposits.count);
      const { to, data, gas } = settlementCall(ctx.chain.token as Hex, batch);
      const hash = await sendAs(chain.rpcUrl, SOMEBODY, to, data);
      const receipt = await callChain<{ gasUsed: Hex; logs: unknown[] }>(
        chain.rpcUrl,
        'eth_getTransactionReceipt',
        hash,
      );
      expect(receipt.logs.length).toBeGreaterThanOrEqual(3 * deposits.count);
      const each = Number(receipt.gasUsed) / deposits.count;
      expect(each).toBeGreaterThan(deposits.atLeast);
      expect(each + PROXY_GAS).toBeLessThan(Number(gasInBatch(batch[0] as SignedAuthorization)));
      expect(Number(receipt.gasUsed) + deposits.count * PROXY_GAS).toBeLessThan(Number(gas));
    },
  );

  it('send as much as they can pay for, and the rest later', async () => {
    const { ctx, chain } = engine;
    const { maxFeePerGas } = await ctx.fees.current();
    const payments = await engine.claimMany(6);
    // Enough for three of them in one transaction.
    for (const { address } of ctx.senders) await setGas(chain.rpcUrl, address, 380_000n * maxFeePerGas);
    await ctx.gas.refresh();
    const outcomes = await Promise.all(payments.map((payment) => ctx.settler.settle(payment)));
    expect(outcomes.map(({ state }) => state)).toEqual([...Array(3).fill('settled'), ...Array(3).fill('unknown')]);
    for (const { address } of ctx.senders) await setGas(chain.rpcUrl, address, 10n ** 18n);
    await ctx.gas.refresh();
    const rest = await Promise.all(payments.slice(3).map((payment) => ctx.settler.settle(payment)));
    expect(rest.map(({ state }) => state)).toEqual(Array(3).fill('settled'));
  });

  it('leave the payment of a contract wallet that none can pay for at once, and it is sent once there is gas', async () => {
    const { ctx, chain } = engine;
    const payer = await engine.newPayer();
    await callChain(chain.rpcUrl, 'anvil_setCode', payer.address, SLOW_WALLET);
    const payment = await engine.claim(payer, { signature: OF_CONTRACT });
    const { maxFeePerGas } = await ctx.fees.current();
    for (const { address } of ctx.senders) await setGas(chain.rpcUrl, address, 190_000n * maxFeePerGas);
    await ctx.gas.refresh();
    expect(await ctx.settler.settle(payment)).toEqual({ state: 'unknown', transactionHash: null });
    for (const { address } of ctx.senders) await setGas(chain.rpcUrl, address, 10n ** 18n);
    await ctx.gas.refresh();
    expect(await ctx.settler.settle(payment)).toMatchObject({ state: 'settled' });
  });

  it('are reported and not picked; when no key can pay, payments wait', async () => {
    const { ctx, chain, databaseUrl } = engine;
    const [rich, ...poor] = ctx.senders.map(({ address }) => address);
    const since = new Date();
    for (const address of poor) await setGas(chain.rpcUrl, address, 1n);
    await ctx.gas.refresh();
    expect(ctx.gas.fundedSenders(1000n)).toEqual([rich]);
    const { values } = await ctx.metrics.gasBalance.get();
    expect(values.find(({ labels }) => labels.signer === poor[0])?.value).toBe(1);
    for (const payment of await engine.claimMany(4))
      expect(await ctx.settler.settle(payment)).toMatchObject({ state: 'settled' });
    const signers = await askDatabase<{ signer: string }>(
      databaseUrl,
      'select distinct signer from chain_transaction where created_at > $1',
      [since],
    );
    expect(signers).toEqual([{ signer: rich }]);

    await setGas(chain.rpcUrl, rich ?? '', 1n);
    await ctx.gas.refresh();
    await expect(ctx.gas.requireGas(1000n, 'No.')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('a node that cannot pay for gas', () => {
  let h: ProxiedHarness;
  let agent: TestAgent;
  beforeAll(async () => {
    h = await startProxiedHarness();
    agent = await startTestAgent(h, { perRequest: '0.05' });
  });
  afterAll(async () => {
    await agent.die();
    await h.stop();
  });

  it('answers a payment with 503 before it claims it, and takes it once there is gas again', async () => {
    const { key } = await h.newAccount();
    const call = { key, body: { task: 'x' } };
    const wallet = await h.newWallet(50_000n);
    const headers = await payV2(h, wallet, await h.request('POST', `/invoke/${agent.id}`, call));
    await setGas(h.rpcUrl, h.ctx.wallet.address, 0n);
    await h.ctx.gas.refresh();
    const refused = await h.request('POST', `/invoke/${agent.id}`, { ...call, headers });
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
    expect(await askDatabase(h.databaseUrl, 'select id from chain_payment')).toEqual([]);
    expect(agent.calls).toEqual([]);
    await setGas(h.rpcUrl, h.ctx.wallet.address, 10n ** 18n);
    await h.ctx.gas.refresh();
    const paid = await h.request('POST', `/invoke/${agent.id}`, { ...call, headers });
    expect(paid.body.data).toMatchObject({ status: 'completed' });
  });

  it('takes one payment that is shown many times at once as soon as there is gas again', async () => {
    const { key } = await h.newAccount();
    const call = { key, body: { task: 'at once' } };
    const wallet = await h.newWallet(50_000n);
    const path = `/invoke/${agent.id}`;
    const headers = await payV2(h, wallet, await h.request('POST', path, call));
    await setGas(h.rpcUrl, h.ctx.wallet.address, 0n);
    await h.ctx.gas.refresh();
    const readAtMs = performance.now();
    await setGas(h.rpcUrl, h.ctx.wallet.address, 10n ** 18n);
    // What was read is believed for a second.
    await until(async () => performance.now() - readAtMs > 1100);
    const answers = await Promise.all(Array.from({ length: 4 }, () => h.request('POST', path, { ...call, headers })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('takes no withdrawal that it cannot send; what it owes already waits, pending, and is sent once there is gas again', async () => {
    const { key, address } = await newClient(h, '1');
    const paid = await h.newAccount();
    const wallet = await h.newWallet(50_000n);
    const call = { key: paid.key, body: { task: 'fail' }, headers: { 'x-sync': 'true' } };
    const path = `/invoke/${agent.id}`;
    const headers = await payV2(h, wallet, await h.request('POST', path, call));
    agent.behave(async (request, response) => {
      await setGas(h.rpcUrl, h.ctx.wallet.address, 0n);
      await h.ctx.gas.refresh();
      answerWith(500, {})(request, response);
    });
    const failed = await h.request('POST', path, { ...call, headers: { ...call.headers, ...headers } });
    expect(failed.body.data).toMatchObject({ status: 'failed', refund: '0.05' });
    const refused = await h.request('POST', '/payments/withdraw', { key, body: { amount: '0.5' } });
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
    expect((await h.request('GET', '/payments/balance', { key })).body.data.available).toBe('1.00');
    const history = async () => (await h.request('GET', '/payments/history', { key: paid.key })).body.data.payments;
    const refund = async () => (await history()).find(({ type }: { type: string }) => type === 'refund');
    const nonces = 'select hash from chain_transaction';
    const before = await askDatabase(h.databaseUrl, nonces);
    const later = { ...h.ctx, clock: { now: () => new Date(Date.now() + 60_000) } };
    for (let turn = 0; turn < 3; turn++) await reconcilePayments(later);
    // It is told at once that nothing can be sent: what waits does not pile up before the engine.
    await h.ctx.settler.idle();
    expect(await refund()).toMatchObject({ amount: '0.05', status: 'pending' });
    expect(await askDatabase(h.databaseUrl, nonces)).toEqual(before);
    await setGas(h.rpcUrl, h.ctx.wallet.address, 10n ** 18n);
    await h.ctx.gas.refresh();
    await reconcilePayments(later);
    expect(await untilUsdc(h, wallet.address, 50_000n)).toBe(50_000n);
    await expect.poll(refund).toMatchObject({ status: 'confirmed' });
    const taken = await h.request('POST', '/payments/withdraw', { key, body: { amount: '0.5' } });
    expect(taken.body.data).toMatchObject({ status: 'confirmed', to: address });
    agent.behave(echo);
  });

  it('refuses a payment of a contract wallet that needs more gas than any key has', async () => {
    const { key } = await h.newAccount();
    const call = { key, body: { task: 'x' }, headers: { 'x-sync': 'true' } };
    const path = `/invoke/${agent.id}`;
    const wallet = await h.newWallet(50_000n);
    await callChain(h.rpcUrl, 'anvil_setCode', wallet.address, SLOW_WALLET);
    const signed = await payV2(h, wallet, await h.request('POST', path, call), { signature: OF_CONTRACT });
    const pay = () => h.request('POST', path, { ...call, headers: { ...call.headers, ...signed } });
    const claimed = () => askDatabase(h.databaseUrl, 'select id from chain_payment');
    const before = await claimed();
    const { maxFeePerGas } = await h.ctx.fees.current();
    // Enough to take a payment of a key.
    await setGas(h.rpcUrl, h.ctx.wallet.address, 1_900_000n * maxFeePerGas);
    await h.ctx.gas.refresh();
    const message = expect.stringContaining('cannot settle payments now');
    expect(await pay()).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE', message } } });
    expect(await claimed()).toEqual(before);
    await setGas(h.rpcUrl, h.ctx.wallet.address, 10n ** 18n);
    await h.ctx.gas.refresh();
    expect((await pay()).body.data).toMatchObject({ status: 'completed' });
  });

  it('refuses a deposit at once, before anything is signed, and says so in /readyz', async () => {
    const { key } = await h.newAccount();
    await h.request('POST', '/payments/treasury', { key, body: {} });
    const deposit = () => h.request('POST', '/payments/treasury/deposit', { key, body: { amount: '1' } });
    const settlement = async () => (await h.request('GET', '/readyz')).body.settlement;
    expect(await settlement()).toBe('ok');
    await setGas(h.rpcUrl, h.ctx.wallet.address, 0n);
    await h.ctx.gas.refresh();
    const message = 'The node cannot settle payments now: its keys lack gas (ETH). Nothing was charged.';
    const details = { outcome: 'nothing', state: 'cannot_settle' };
    expect(await deposit()).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE', message, details } } });
    expect(await settlement()).toBe('no_gas');
    await setGas(h.rpcUrl, h.ctx.wallet.address, 10n ** 18n);
    await h.ctx.gas.refresh();
    expect((await deposit()).status).toBe(402);
    expect(await settlement()).toBe('ok');
  });

  it('a bad signature is refused without a question to the token', async () => {
    const { key } = await h.newAccount();
    const call = { key, body: { task: 'x' } };
    const [wallet, thief] = [await h.newWallet(50_000n), await h.newWallet(50_000n)];
    const headers = await payV2(
      h,
      { ...thief, address: wallet.address },
      await h.request('POST', `/invoke/${agent.id}`, call),
    );
    await h.ctx.usdc.chainId();
    const asked: unknown[] = [];
    h.proxy.rule('eth_call', (rpcCall) => {
      asked.push(JSON.stringify(rpcCall.params).includes(wallet.address.slice(2).toLowerCase()));
      return rpcCall.forward();
    });
    const refused = await h.request('POST', `/invoke/${agent.id}`, { ...call, headers });
    h.proxy.rule('eth_call', null);
    expect(refused).toMatchObject({
      status: 402,
      body: { error: { details: { reason: 'invalid_exact_evm_signature' } } },
    });
    expect(asked).not.toContain(true);
  });

  it('takes a payment as long as it can pay for ten, so that its refund is sent too, and shows that its key is low', async () => {
    const { key } = await h.newAccount();
    const call = { key, body: { task: 'x' }, headers: { 'x-sync': 'true' } };
    const path = `/invoke/${agent.id}`;
    const wallet = await h.newWallet(50_000n);
    const pay = async (from: TestWallet) => {
      const headers = await payV2(h, from, await h.request('POST', path, call));
      return { ...call, headers: { ...call.headers, ...headers } };
    };
    const [first, second] = [await pay(wallet), await pay(await h.newWallet(50_000n))];
    const isLow = async () => {
      await h.ctx.gas.refresh();
      const { values } = await h.ctx.metrics.gasLow.get();
      return values.find(({ labels }) => labels.signer === h.ctx.wallet.address)?.value;
    };
    expect(await isLow()).toBe(0);
    // Far from a full transaction, and once the payment is sent, less than ten payments need.
    const { maxFeePerGas } = await h.ctx.fees.current();
    await setGas(h.rpcUrl, h.ctx.wallet.address, 1_620_000n * maxFeePerGas);
    expect(await isLow()).toBe(1);
    agent.behave(answerWith(500, {}));
    expect((await h.request('POST', path, first)).body.data).toMatchObject({ status: 'failed', refund: '0.05' });
    agent.behave(echo);
    expect(await untilUsdc(h, wallet.address, 50_000n)).toBe(50_000n);
    expect(await isLow()).toBe(1);
    expect(await h.request('POST', path, second)).toMatchObject({ status: 503 });
    await setGas(h.rpcUrl, h.ctx.wallet.address, 10n ** 18n);
    expect(await isLow()).toBe(0);
  });
});
