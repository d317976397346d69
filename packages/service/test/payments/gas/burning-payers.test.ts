import { callChain } from '@agent-network/chain/chain-rpc-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPayerStatus } from '../../../src/payments/schemes/exact/payer-status.ts';
import { newContractWallet } from '../../http/api/support/chain-actions.ts';
import { contradictions } from '../../support/books.ts';
import { emptyWallet, paymentIn } from '../../support/chain-actions.ts';
import { type Answer, type Harness, startHarness, type TestWallet } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { gasOfDoing } from './support/gas-meter.ts';

/** Says yes to every signature when it is asked for nothing (`eth_call`), and runs in a circle in a transaction. */
const TWO_FACED = '0x3a601457631626ba7e60e01b60005260206000f35b601456';
const OF_CONTRACT = `0x${'ab'.repeat(100)}`;

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startHarness({ env: { TRUSTED_PROXIES: '127.0.0.0/8,::1', ALLOW_PRIVATE_ENDPOINTS: 'true' } });
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterEach(async () => expect(await contradictions(h.databaseUrl)).toEqual([]));
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const newBurner = async (): Promise<TestWallet> => {
  const wallet = await h.newWallet();
  await callChain(h.rpcUrl, 'anvil_setCode', wallet.address, TWO_FACED);
  return wallet;
};

async function pay(key: string, wallet: TestWallet, signature?: string, client?: string): Promise<Answer> {
  const call = { key, body: { task: 'x' } };
  const path = `/invoke/${agent.id}`;
  const from = client === undefined ? {} : { 'x-forwarded-for': client };
  const signed = await payV2(h, wallet, await h.request('POST', path, call), signature ? { signature } : {});
  return h.request('POST', path, { ...call, headers: { ...signed, ...from } });
}

const isRefused = ({ status, body }: Answer) =>
  status === 429 && body.error.details.type === 'failed_payments' && body.error.details.retryAfterS > 0;

describe('a contract wallet that approves in simulations and burns in transactions', () => {
  it('burns no more than its estimate, once, and is refused from then on: by every process, for whatever account', async () => {
    const [{ key }, other, wallet] = [await h.newAccount(), await h.newAccount(), await newBurner()];
    const answers: Answer[] = [];
    const burnt = await gasOfDoing(h, async () => {
      for (let i = 0; i < 10; i++) answers.push(await pay(key, wallet, OF_CONTRACT));
      answers.push(await pay(other.key, wallet, OF_CONTRACT));
    });
    expect(answers[0]?.body.error.code).toBe('PAYMENT_REQUIRED');
    expect(answers.slice(1).map(isRefused)).toEqual(Array(10).fill(true));
    expect(burnt).toBeGreaterThan(20_000);
    expect(burnt).toBeLessThan(150_000);
    const anotherProcess = createPayerStatus({ db: h.ctx.db, clock: h.ctx.clock });
    const authorization = {
      ...paymentIn(await payV2(h, wallet, await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' } })))
        .authorization,
    };
    const payment = { authorization, accountId: null } as never;
    await expect(anotherProcess.require(payment)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(agent.calls).toHaveLength(0);
  });

  it('shown many times at once is sent once', async () => {
    const [{ key }, wallet] = [await h.newAccount(), await newBurner()];
    const answers: Answer[] = [];
    const burnt = await gasOfDoing(h, async () => {
      answers.push(...(await Promise.all(Array.from({ length: 12 }, () => pay(key, wallet, OF_CONTRACT)))));
    });
    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toEqual([]);
    expect(burnt).toBeLessThan(300_000);
  });

  it('many of them, of one account or one network address, are refused together', async () => {
    const { key } = await h.newAccount();
    const states: boolean[] = [];
    const burnt = await gasOfDoing(h, async () => {
      for (let i = 0; i < 6; i++) states.push(isRefused(await pay(key, await newBurner(), OF_CONTRACT)));
    });
    expect(states).toEqual([false, false, false, true, true, true]);
    expect(burnt).toBeLessThan(3 * 150_000);
    const ofAddress: boolean[] = [];
    const more = await gasOfDoing(h, async () => {
      for (let i = 0; i < 12; i++) {
        const fresh = await h.newAccount();
        ofAddress.push(isRefused(await pay(fresh.key, await newBurner(), OF_CONTRACT, '203.0.113.7')));
      }
    });
    expect(ofAddress).toEqual([...Array(10).fill(false), true, true]);
    expect(more).toBeLessThan(10 * 150_000);
    const neighbour = await h.newAccount();
    expect((await pay(neighbour.key, await h.newWallet(50_000n), undefined, '203.0.113.8')).status).toBe(200);
  });
});

it('an honest contract wallet pays, again and again, and many at once', async () => {
  const { key } = await h.newAccount();
  const wallet = await newContractWallet(h, await h.newWallet(0n), 1_000_000n);
  for (let i = 0; i < 2; i++) expect((await pay(key, wallet)).body.data).toMatchObject({ status: 'completed' });
  const together = await Promise.all(Array.from({ length: 4 }, () => pay(key, wallet)));
  expect(together.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

it('a wallet that is empty when its payment is sent is refused for a while, and a treasury can pay meanwhile', async () => {
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(50_000n);
  const path = `/invoke/${agent.id}`;
  const call = { key, body: { task: 'x' } };
  const signed = await payV2(h, wallet, await h.request('POST', path, call));
  const simulate = h.ctx.simulator.simulate;
  let isEmptied = false;
  h.ctx.simulator.simulate = async (payment) => {
    const answer = await simulate(payment);
    if (!isEmptied) await emptyWallet(h.rpcUrl, h, wallet, 50_000n);
    isEmptied = true;
    return answer;
  };
  const failed = await h.request('POST', path, { ...call, headers: signed });
  h.ctx.simulator.simulate = simulate;
  expect(failed.body.error.details.reason).toBe('invalid_exact_evm_transaction_failed');
  expect(isRefused(await pay(key, wallet))).toBe(true);
  expect((await pay(key, await h.newWallet(50_000n))).status).toBe(200);
});
