import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { linkWallet } from '../../src/accounts/link-wallet.ts';
import { contradictions, walletByBooks } from '../support/books.ts';
import { cancelPayment, emptyWallet, refillWallet, submitPayment } from '../support/chain-actions.ts';
import { type ProxiedHarness, startProxiedHarness } from '../support/proxied-harness.ts';
import type { RpcRule } from '../support/rpc-proxy.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { untilUsdc } from '../support/treasury.ts';
import { until } from '../support/until.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: ProxiedHarness;
let agent: TestAgent;
const disturbed: string[] = [];
beforeAll(async () => {
  h = await startProxiedHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterEach(async () => {
  for (const method of disturbed.splice(0)) h.proxy.rule(method, null);
  await h.ctx.settler.idle();
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  // A refund that began after the answer may be on the chain before it is in the books.
  const drift = async () => (await walletByBooks(h.databaseUrl)) - (await h.usdcOf(h.ctx.wallet.address));
  await expect.poll(drift).toBe(0n);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const SEND = 'eth_sendRawTransaction';
const body = { task: 'through trouble' };
const invoke = (key: string, headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body, headers });

function disturb(method: string, rule: RpcRule): void {
  disturbed.push(method);
  h.proxy.rule(method, rule);
}

/** Treats the first calls of a method otherwise, and passes the others on. */
function disturbFirst(method: string, count: number, rule: RpcRule): void {
  let left = count;
  disturb(method, (call) => (left-- > 0 ? rule(call) : call.forward()));
}

async function payer(micro = 50_000n) {
  const { key, accountId } = await h.newAccount();
  const wallet = await h.newWallet(micro);
  const headers = await payV2(h, wallet, await invoke(key));
  return { key, accountId, wallet, headers, calls: agent.calls.length };
}

it('a payment on its way, shown again when its agent has been removed, is not refused: the same request is the answer', async () => {
  const owner = await h.newAccount();
  const leaving = await startTestAgent(h, { owner, perRequest: '0.05' });
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(50_000n);
  const call = (headers: Record<string, string> = {}) =>
    h.request('POST', `/invoke/${leaving.id}`, { key, body, headers });
  const headers = await payV2(h, wallet, await call());
  disturb('eth_getTransactionReceipt', ({ answer }) => answer(null));
  const first = call(headers);
  const isOnItsWay = async () => (await h.usdcOf(wallet.address)) === 0n || null;
  await until(isOnItsWay);
  expect((await h.request('DELETE', `/agents/${leaving.id}`, { key: owner.key })).status).toBe(200);
  const again = call(headers);
  await h.request('GET', `/agents/${leaving.id}`);
  h.proxy.rule('eth_getTransactionReceipt', null);
  const [one, two] = await Promise.all([first, again]);
  expect([one.status, two.status]).toEqual([200, 200]);
  expect(two.body.data).toEqual(one.body.data);
  await leaving.die();
});

describe('a payment is settled once and the call is answered', () => {
  const lost: Record<string, () => void> = {
    'the answer to the transaction is lost': () =>
      disturbFirst(SEND, 1, async ({ forward }) => {
        await forward();
        return null;
      }),
    'the transaction itself is lost, twice': () => disturbFirst(SEND, 2, () => null),
    'the chain refuses the transaction for a while': () =>
      disturbFirst(SEND, 3, ({ refuse }) => refuse('out of order')),
    'the fees cannot be read': () => disturbFirst('eth_getBlockByNumber', 3, ({ refuse }) => refuse('out of order')),
    'receipts cannot be read': () =>
      disturbFirst('eth_getTransactionReceipt', 6, ({ refuse }) => refuse('out of order')),
    'receipts are late': () => disturbFirst('eth_getTransactionReceipt', 4, ({ answer }) => answer(null)),
  };

  it.each(Object.keys(lost))('although %s', async (name) => {
    const { key, wallet, headers, calls } = await payer();
    lost[name]?.();
    const [paid, twin] = await Promise.all([invoke(key, headers), invoke(key, headers)]);
    expect(paid).toMatchObject({ status: 200, body: { data: { status: 'completed', cost: '0.05' } } });
    expect(twin.body.data).toEqual(paid.body.data);
    expect(agent.calls.length - calls).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(0n);
  });

  it('although a third party submitted it before we saw it, when the account has proven its wallet', async () => {
    const { key, accountId, wallet, headers, calls } = await payer();
    await h.ctx.db.transaction((tx) => linkWallet(tx, wallet.address.toLowerCase(), accountId, h.ctx.clock.now()));
    const hash = await submitPayment(h.chain.rpcUrl, h, headers);
    const paid = await invoke(key, headers);
    expect(paid.body.data).toMatchObject({ status: 'completed', paymentHash: hash });
    expect((await invoke(key, headers)).body.data).toEqual(paid.body.data);
    expect(agent.calls.length - calls).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(0n);
  });

  it('although a third party submitted it while we were about to', async () => {
    const { key, wallet, headers, calls } = await payer();
    let hash = '';
    disturbFirst(SEND, 1, async ({ forward }) => {
      hash = await submitPayment(h.chain.rpcUrl, h, headers);
      return forward();
    });
    const paid = await invoke(key, headers);
    expect(paid.body.data).toMatchObject({ status: 'completed', paymentHash: hash });
    expect(agent.calls.length - calls).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(0n);
  });
});

describe('a chain that does not answer', () => {
  it('is no refusal of the payment: 503, nothing is claimed, and the same payment is good later', async () => {
    const { key, wallet, headers, calls } = await payer();
    disturb('eth_call', ({ refuse }) => refuse('out of order'));
    expect(await invoke(key, headers)).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
    h.proxy.rule('eth_call', null);
    expect(agent.calls.length).toBe(calls);
    expect((await invoke(key, headers)).body.data).toMatchObject({ status: 'completed' });
    expect(await h.usdcOf(wallet.address)).toBe(0n);
  });
});

describe('a payer that cancels the payment between its check and its settlement', () => {
  it('by cancelling it: 402, nothing runs, also when it is shown again', async () => {
    const { key, wallet, headers, calls } = await payer();
    disturbFirst(SEND, 1, async ({ forward }) => {
      await cancelPayment(h.chain.rpcUrl, h, wallet, headers);
      return forward();
    });
    for (let turn = 0; turn < 2; turn++)
      expect(await invoke(key, headers)).toMatchObject({
        status: 402,
        body: { error: { details: { reason: 'invalid_exact_evm_nonce_already_used' } } },
      });
    expect(agent.calls.length).toBe(calls);
    expect(await h.usdcOf(wallet.address)).toBe(50_000n);
    // Its wallet cost the node gas for nothing: it has to wait, and another does not.
    const fresh = await payV2(h, wallet, await invoke(key));
    expect(await invoke(key, fresh)).toMatchObject({
      status: 429,
      body: { error: { code: 'RATE_LIMITED', details: { type: 'failed_payments' } } },
    });
    const other = await payV2(h, await h.newWallet(50_000n), await invoke(key));
    expect((await invoke(key, other)).body.data).toMatchObject({ status: 'completed', cost: '0.05' });
  });

  it('by emptying the wallet: 402, nothing runs; if the payment lands later after all, the money goes back', async () => {
    const { key, wallet, headers, calls } = await payer();
    disturbFirst(SEND, 1, async ({ forward }) => {
      await emptyWallet(h.chain.rpcUrl, h, wallet, 50_000n);
      return forward();
    });
    expect(await invoke(key, headers)).toMatchObject({ status: 402, body: { error: { code: 'PAYMENT_REQUIRED' } } });
    expect(agent.calls.length).toBe(calls);
    await refillWallet(h.chain.rpcUrl, h, wallet, 50_000n);
    await submitPayment(h.chain.rpcUrl, h, headers);
    expect(await h.usdcOf(wallet.address)).toBe(0n);
    expect(await untilUsdc(h, wallet.address, 50_000n)).toBe(50_000n);
    expect(agent.calls.length).toBe(calls);
  });

  it('does not keep payers of the same moment from theirs', async () => {
    const bad = await payer();
    const good = await Promise.all(Array.from({ length: 5 }, () => payer()));
    disturbFirst(SEND, 1, async ({ forward }) => {
      await emptyWallet(h.chain.rpcUrl, h, bad.wallet, 50_000n);
      return forward();
    });
    const calls = agent.calls.length;
    const answers = await Promise.all([bad, ...good].map(({ key, headers }) => invoke(key, headers)));
    expect(answers.map(({ status }) => status)).toEqual([402, 200, 200, 200, 200, 200]);
    expect(agent.calls.length - calls).toBe(5);
  });
});
