import { callChain } from '@agent-network/chain/chain-rpc-client';
import { parseUsdc } from '@agent-network/contracts/money';
import type { Reserves } from '@agent-network/contracts/payments/reserves';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Block } from '../../src/chain/wallet-balance-client.ts';
import { createNodeMetrics } from '../../src/compose/context.ts';
import { aggregateTotals } from '../../src/payments/ledger/aggregate-totals.ts';
import { LOSS, postTransfers, WALLET } from '../../src/payments/ledger/ledger-store.ts';
import { readReserves, watchReserves } from '../../src/payments/statements/read-reserves.ts';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { deposit, newClient } from '../support/treasury.ts';
import { until } from '../support/until.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
let operator: TestAccount;
let customer: TestAccount;
beforeAll(async () => {
  h = await startHarness();
  operator = await h.newAccount();
  customer = await h.newAccount({ scopes: ['webhooks:manage', 'invoke'] });
  const owner = await h.newAccount({ scopes: ['agents:write'] });
  agent = await startTestAgent(h, { owner, perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const micro = (amount: string) => (amount.startsWith('-') ? -parseUsdc(amount.slice(1)) : parseUsdc(amount));
const read = async (): Promise<Reserves> => (await readReserves(h.ctx)).reserves;
const watch = () => watchReserves(h.ctx);
const gauge = async () => (await h.ctx.metrics.reservesDifference.get()).values[0]?.value;
const driftsToldTo = async ({ key }: TestAccount): Promise<{ data: Reserves }[]> =>
  (await h.request('GET', '/events?type=reserves.drift&limit=100', { key })).body.data.events;

/** What the operator was told, once it is this many: an event shows when no transaction that began before it is open any more. */
async function untilTold(count: number): Promise<{ data: Reserves }[]> {
  const enough = async () => {
    const told = await driftsToldTo(operator);
    return told.length >= count ? told : null;
  };
  return until(enough);
}

/** Changes what the wallet holds without a transfer that anybody could read. */
async function setWallet(amountMicro: bigint): Promise<void> {
  const { token, wallet } = h.ctx.chain;
  await callChain(h.rpcUrl, 'anvil_dealERC20', wallet, token, `0x${amountMicro.toString(16)}`);
  await callChain(h.rpcUrl, 'anvil_mine', '0x1');
}

/** Sends USDC in anybody's name, as whoever has the key can. */
async function transfer(from: string, to: string, amountMicro: bigint): Promise<void> {
  const data = `0xa9059cbb${to.slice(2).padStart(64, '0')}${amountMicro.toString(16).padStart(64, '0')}`;
  await callChain(h.rpcUrl, 'anvil_impersonateAccount', from);
  await callChain(h.rpcUrl, 'eth_sendTransaction', {
    from,
    to: h.ctx.chain.token,
    data,
    gas: '0x30d40',
    gasPrice: '0x0',
  });
}

/** What stands in the answer adds up, whatever the status is. */
function expectToAddUp(reserves: Reserves): void {
  const { total, ...kinds } = reserves.liabilities;
  expect(micro(total)).toBe(Object.values(kinds).reduce((sum, amount) => sum + micro(amount), 0n));
  const { onChain, bookedAfterBlock, difference, loss } = reserves;
  expect(micro(onChain) + micro(bookedAfterBlock) - micro(difference) + micro(loss)).toBe(micro(total));
}

describe('the reserves', () => {
  it('say what is owed to whom, and that the wallet has it, to anybody, without a key', async () => {
    const client = await newClient(h, '3.000001');
    await h.request('POST', `/invoke/${agent.id}`, {
      key: client.key,
      body: { task: 'x' },
      headers: { 'x-sync': 'true' },
    });
    await aggregateTotals(h.ctx);
    const { status, body } = await h.request('GET', '/payments/reserves');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      wallet: h.ctx.chain.wallet,
      onChain: '3.000001',
      liabilities: { treasuries: '2.950001', agents: '0.05', payers: '0.00', fees: '0.00', total: '3.000001' },
      difference: '0.00',
      loss: '0.00',
      status: 'balanced',
      platformFeeBps: 0,
    });
    const block = await callChain<{ hash: string }>(
      h.rpcUrl,
      'eth_getBlockByNumber',
      `0x${body.data.block.number.toString(16)}`,
      false,
    );
    expect(body.data.block.hash).toBe(block.hash);
    expect(body.data.onChain).toBe('3.000001');
  });

  it('never show a drift while payments, deposits, refunds and calls come and go', async () => {
    const account = await h.newAccount();
    let isDone = false;
    const seen: Reserves[] = [];
    const looking = (async () => {
      while (!isDone) seen.push(await read());
    })();
    const client = await newClient(h, '1');
    const pay = async (index: number) => {
      const request = { key: account.key, body: { task: `${index}` } };
      const unpaid = await h.request('POST', `/invoke/${agent.id}`, request);
      if (index % 3 === 0) agent.behave((_request, response) => void response.writeHead(500).end());
      const headers = await payV2(h, await h.newWallet(1_000_000n), unpaid);
      await h.request('POST', `/invoke/${agent.id}`, { ...request, headers: { ...headers, 'x-sync': 'true' } });
    };
    const jobs = Array.from({ length: 40 }, (_, index) => index);
    const one = async () => {
      for (let index = jobs.pop(); index !== undefined; index = jobs.pop()) {
        await pay(index);
        if (index % 10 === 0) await deposit(h, client.key, client.treasuryId, '0.1');
      }
    };
    await Promise.all([one(), one(), one(), one(), one(), one()]);
    isDone = true;
    await looking;
    expect(seen.length).toBeGreaterThan(3);
    for (const reserves of seen) expectToAddUp(reserves);
    expect(seen.filter(({ status }) => status === 'drift')).toEqual([]);
  });
});

it('of an endpoint that answers for the next block are read again before they count', async () => {
  const { walletBalances } = h.ctx;
  let isAhead = false;
  const ahead = {
    ...walletBalances,
    async head() {
      isAhead = true;
      return walletBalances.head();
    },
    async balanceAt(block: Block) {
      const balance = await walletBalances.balanceAt(block);
      // A refund of 0.05 is in the block after.
      const answer = isAhead ? balance - 50_000n : balance;
      isAhead = false;
      return answer;
    },
  };
  const { reserves, driftMicro } = await readReserves({ ...h.ctx, walletBalances: ahead });
  expect([reserves.status, reserves.difference, driftMicro]).toEqual(['balanced', '0.00', 0n]);
  expectToAddUp(reserves);
});

describe('when the wallet holds less than the books say', () => {
  let before: bigint;
  beforeAll(async () => {
    before = await h.usdcOf(h.ctx.chain.wallet);
    await watch();
    expect(await driftsToldTo(operator)).toEqual([]);
  });
  afterEach(async () => {
    await setWallet(before);
    await watch();
    expect((await read()).status).toBe('balanced');
    expect(await gauge()).toBe(0);
  });

  it('because USDC left without a booking, operators alone get an event, once, at the second check', async () => {
    const toldBefore = (await driftsToldTo(operator)).length;
    await transfer(h.ctx.chain.wallet, customer.address, 1n);
    const reserves = await read();
    expect(reserves).toMatchObject({ status: 'drift', difference: '-0.000001' });
    expectToAddUp(reserves);
    await watch();
    expect(await gauge()).toBe(-1);
    await watch();
    await watch();
    await watch();
    const told = await untilTold(toldBefore + 1);
    expect(told.length).toBe(toldBefore + 1);
    expect(told.at(-1)?.data).toMatchObject({ status: 'drift', difference: '-0.000001' });
    expect(await driftsToldTo(customer)).toEqual([]);
  });

  it('because there is more, operators get another event, in a new episode', async () => {
    const toldBefore = (await driftsToldTo(operator)).length;
    await setWallet(before + 7_000_000n);
    await watch();
    await watch();
    expect(await gauge()).toBe(7_000_000);
    const told = await untilTold(toldBefore + 1);
    expect(told.length).toBe(toldBefore + 1);
    expect(told.at(-1)?.data).toMatchObject({ status: 'drift', difference: '7.00' });
  });
});

describe('an unexpected transfer', () => {
  it('is not drift: USDC from an unknown wallet counts on chain, and is owed to it in suspense', async () => {
    const before = await read();
    const stranger = await h.newWallet(5_000_000n);
    await transfer(stranger.address, h.ctx.chain.wallet, 2_000_000n);
    const statuses = new Set<string>();
    let now = before;
    while (micro(now.liabilities.suspense) === micro(before.liabilities.suspense)) {
      now = await read();
      statuses.add(now.status);
    }
    expect([...statuses]).not.toContain('drift');
    expect(micro(now.liabilities.suspense) - micro(before.liabilities.suspense)).toBe(2_000_000n);
    expect(micro(now.onChain) - micro(before.onChain)).toBe(2_000_000n);
  });
});

describe('the metrics of a comparison', () => {
  it('tell when the last one was, which stays as it is while the chain does not answer', async () => {
    const metrics = createNodeMetrics();
    const checkedS = async () => (await metrics.reservesChecked.get()).values[0]?.value ?? 0;
    const startedS = await checkedS();
    expect(startedS).toBeGreaterThan(Date.now() / 1000 - 60);
    const walletBalances = { ...h.ctx.walletBalances, head: () => Promise.reject(new Error('away')) };
    await expect(watchReserves({ ...h.ctx, metrics, walletBalances })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await checkedS()).toBe(startedS);
    await watchReserves({ ...h.ctx, metrics });
    expect(await checkedS()).toBeGreaterThan(startedS);
  });

  it('show what the books have lost as a rise, and nothing before the first one', async () => {
    const metrics = createNodeMetrics();
    const losses = async () => (await metrics.booksLoss.get()).values.map(({ value }) => value);
    expect(await losses()).toEqual([]);
    await watchReserves({ ...h.ctx, metrics });
    expect(await losses()).toEqual([0]);
    const loss = { debit: LOSS, credit: WALLET, amountMicro: 7n, kind: 'reversal', subjectId: 'trf_lost' } as const;
    await postTransfers(h.ctx.db, [{ id: 'loss:trf_lost', ...loss }], new Date());
    await setWallet((await h.usdcOf(h.ctx.chain.wallet)) - 7n);
    await watchReserves({ ...h.ctx, metrics });
    expect(await losses()).toEqual([7]);
    // The books agree with the wallet, and nobody's money covers what is gone.
    expect(await read()).toMatchObject({ loss: '0.000007', difference: '0.00', status: 'drift' });
  });
});
