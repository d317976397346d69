import { createSIWxPayload, encodeSIWxHeader, wrapFetchWithSIWx } from '@x402/extensions/sign-in-with-x';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Harness, newWallet, type TestWallet } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { newVoucherPayer, settledBy } from '../support/voucher-payer.ts';
import { payV1, payV2 } from '../support/x402-payer.ts';

type Headers = Record<string, string>;
type Changes = Partial<Parameters<typeof createSIWxPayload>[0]>;

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const path = () => `/x402/${agent.id}`;
const call = (task: string, headers: Headers = {}) => h.request('POST', path(), { body: { task }, headers });
const read = (at: string, headers: Headers) => h.request('GET', at, { headers });

/** A call without a key, paid; its request. */
async function buy(wallet: TestWallet, task: string, pay = payV2) {
  const payment = await pay(h, wallet, await call(task));
  const { body } = await call(task, payment);
  return { payment, requestId: body.data.requestId as string };
}

/** A wallet's sign-in for an address of the node, as the stock client signs it. */
async function signedIn(wallet: TestWallet, at: string, changes: Changes = {}): Promise<Headers> {
  const uri = h.baseUrl + at;
  const info = {
    ...{ domain: new URL(h.baseUrl).host, uri, version: '1', nonce: crypto.randomUUID().replaceAll('-', '') },
    ...{ issuedAt: new Date().toISOString(), chainId: h.ctx.chain.caip2, type: 'eip191' as const },
    ...changes,
  };
  const payload = await createSIWxPayload(info, wallet, info.uri);
  return { 'sign-in-with-x': encodeSIWxHeader(payload) };
}

const result = (answer: Answer) => answer.body.data?.result;

/** Sends a call as the stock client does, which signs in when it is asked to pay. */
function signingCall(wallet: TestWallet) {
  const signing = wrapFetchWithSIWx(fetch, wallet);
  return async (task: string): Promise<Answer> => {
    const response = await signing(h.baseUrl + path(), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ task }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
}

describe('a wallet that signs in with the stock client', () => {
  it('gets the call that it has paid for again, and pays nothing; another call it has to pay', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { requestId } = await buy(wallet, 'mine');
    const runs = agent.calls.length;
    const send = signingCall(wallet);
    const { data } = (await send('mine')).body;
    expect(data).toMatchObject({ requestId, result: { echo: 'mine' }, resultToken: expect.any(String) });
    expect((await send('other')).status).toBe(402);
    expect(agent.calls.length).toBe(runs);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('gets the call that a voucher of its channel paid for, and of two like it the later one, whatever paid', async () => {
    const byChannel = { 'x-payment-scheme': 'batch-settlement' };
    const payer = newVoucherPayer(h);
    const wallet = await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, payer.key);
    const deposit = await payer.deposit(500_000n);
    const paid = await call('mine', payer.pay(await call('mine', byChannel), 50_000n, { payload: deposit }));
    expect(paid.body.data).toMatchObject({ status: 'completed', result: { echo: 'mine' } });
    const runs = agent.calls.length;
    const send = signingCall(wallet);
    const again = await send('mine');
    const { requestId, result } = paid.body.data;
    expect(again.body.data).toMatchObject({ requestId, result, resultToken: expect.any(String) });
    expect(settledBy(again).extra).toEqual(settledBy(paid).extra);
    expect(agent.calls.length).toBe(runs);
    const { requestId: byTransfer } = await buy(wallet, 'mine');
    expect((await send('mine')).body.data.requestId).toBe(byTransfer);
    const third = await call('mine', payer.pay(await call('mine', byChannel), 100_000n));
    expect((await send('mine')).body.data.requestId).toBe(third.body.data.requestId);
    expect(await h.usdcOf(wallet.address)).toBe(450_000n);
  });

  it('is asked to pay anew for a call that failed and was given back', async () => {
    const wallet = await h.newWallet(1_000_000n);
    agent.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
    const { requestId } = await buy(wallet, 'retried');
    const failed = await read(`/invoke/${requestId}`, await signedIn(wallet, `/invoke/${requestId}`));
    expect(failed.body.data).toMatchObject({ status: 'failed', refund: '0.05' });
    agent.behave(echo);
    expect((await call('retried', await signedIn(wallet, path()))).status).toBe(402);
    const again = await buy(wallet, 'retried');
    expect(again.requestId).not.toBe(requestId);
    const kept = await call('retried', await signedIn(wallet, path()));
    expect(kept.body.data).toMatchObject({ requestId: again.requestId, result: { echo: 'retried' } });
  });

  it('and has bought nothing is asked to pay', async () => {
    const wallet = await h.newWallet(0n);
    await buy(await h.newWallet(1_000_000n), 'of another');
    expect((await call('of another', await signedIn(wallet, path()))).status).toBe(402);
  });

  it('reads a request, its events and its receipt, once with each sign-in', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { requestId } = await buy(wallet, 'mine');
    const at = `/invoke/${requestId}`;
    const header = await signedIn(wallet, at);
    expect(result(await read(at, header))).toEqual({ echo: 'mine', input: {} });
    const again = await read(at, header);
    expect([again.status, again.body.error.message]).toEqual([401, expect.stringContaining('was used')]);
    const events = await fetch(`${h.baseUrl}${at}/events`, { headers: await signedIn(wallet, `${at}/events`) });
    expect(await events.text()).toContain('event: invocation.completed');
    expect((await read(`${at}/receipt`, await signedIn(wallet, `${at}/receipt`))).status).toBe(200);
  });

  it('has the result of its payment when it is shown again as v1', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { payment, requestId } = await buy(wallet, 'mine', payV1);
    expect(result(await call('mine', payment))).toBeUndefined();
    const shown = await call('mine', { ...payment, ...(await signedIn(wallet, path())) });
    expect(shown.body.data).toMatchObject({ requestId, result: { echo: 'mine' } });
    const thief = await h.newWallet(0n);
    expect(result(await call('mine', { ...payment, ...(await signedIn(thief, path())) }))).toBeUndefined();
  });

  it('reads nothing of another wallet, and of an account that it is linked to only what it paid', async () => {
    const [wallet, stranger] = await Promise.all([h.newWallet(1_000_000n), h.newWallet(0n)]);
    const { key } = await h.newAccount();
    const claim = (body: object) => h.request('POST', '/payments/claims', { key, body });
    const { challengeId, message } = (await claim({ address: wallet.address })).body.data;
    expect((await claim({ challengeId, signature: await wallet.signMessage({ message }) })).status).toBe(200);
    const { requestId } = await buy(wallet, 'mine');
    expect((await h.request('GET', `/invoke/${requestId}`, { key })).status).toBe(200);
    const byKey = (headers: Headers = {}) =>
      h.request('POST', `/invoke/${agent.id}`, {
        key,
        body: { task: 'own' },
        headers: { 'x-payment-method': 'x402', ...headers },
      });
    const paid = await byKey(await payV2(h, await h.newWallet(1_000_000n), await byKey()));
    const ownAt = `/invoke/${paid.body.data.requestId}`;
    const at = `/invoke/${requestId}`;
    expect((await read(at, await signedIn(wallet, at))).status).toBe(200);
    expect((await read(ownAt, await signedIn(wallet, ownAt))).status).toBe(404);
    expect((await read(at, await signedIn(stranger, at))).status).toBe(404);
  });
});

describe('a sign-in', () => {
  const minutes = (count: number) => new Date(Date.now() + count * 60_000).toISOString();

  it.each<[string, Changes]>([
    ['for another address of the node', {}],
    ['for another node', { domain: 'other.example', uri: 'http://other.example/' }],
    ['for another chain', { chainId: 'eip155:1' }],
    ['of six minutes ago', { issuedAt: minutes(-6) }],
    ['of later', { issuedAt: minutes(2) }],
    ['that has expired', { expirationTime: minutes(-1) }],
    ['that is not valid yet', { notBefore: minutes(2) }],
  ])('%s is refused', async (_, changes) => {
    const wallet = await h.newWallet(1_000_000n);
    const { requestId } = await buy(wallet, 'mine');
    const at = `/invoke/${requestId}`;
    const isElsewhere = Object.keys(changes).length === 0;
    const header = await signedIn(wallet, isElsewhere ? path() : at, changes);
    const refused = await read(at, header);
    expect([refused.status, refused.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  });

  it('that another key signed, or that is no sign-in, is refused and uses nothing up', async () => {
    const [wallet, thief] = await Promise.all([h.newWallet(1_000_000n), h.newWallet(0n)]);
    const { requestId } = await buy(wallet, 'mine');
    const at = `/invoke/${requestId}`;
    const header = await signedIn(wallet, at);
    const payload = JSON.parse(Buffer.from(header['sign-in-with-x'] ?? '', 'base64').toString());
    const encoded = (value: unknown) => ({ 'sign-in-with-x': Buffer.from(JSON.stringify(value)).toString('base64') });
    const theirs = await thief.signMessage({ message: 'x' });
    expect((await read(at, encoded({ ...payload, signature: theirs }))).status).toBe(401);
    expect((await read(at, encoded({ ...payload, statement: 'a\nURI: b' }))).status).toBe(400);
    expect((await read(at, encoded({ ...payload, type: 'ed25519' }))).status).toBe(400);
    expect((await read(at, { 'sign-in-with-x': 'e'.repeat(100) })).status).toBe(400);
    expect((await read(at, header)).status).toBe(200);
  });
});
