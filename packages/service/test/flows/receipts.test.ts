import { createHash } from 'node:crypto';
import { canonicalJson } from '@agent-network/contracts/canonical-json';
import {
  type EIP712SignedReceipt,
  extractReceiptFromResponse,
  verifyReceiptSignatureEIP712,
} from '@x402/extensions/offer-receipt';
import { verifyTypedData } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { forgetContents } from '../../src/calls/storage.ts';
import { type Answer, type Harness, startHarness } from '../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { newClient, untilEnded } from '../support/treasury.ts';
import { newVoucherPayer } from '../support/voucher-payer.ts';
import { payV1, payV2 } from '../support/x402-payer.ts';

const DAY_MS = 86_400_000;
let h: Harness;
let agent: TestAgent;
let aheadMs = 0;
beforeAll(async () => {
  h = await startHarness({
    clock: { now: () => new Date(Date.now() + aheadMs) },
    env: { CHANNELS: 'true' },
  });
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
beforeEach(() => {
  agent.behave(echo);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const sha256 = (value: unknown) => `0x${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
const NONE = `0x${'0'.repeat(64)}`;
const path = () => `/invoke/${agent.id}`;
const receiptOf = (requestId: string, key: string) => h.request('GET', `/invoke/${requestId}/receipt`, { key });
// biome-ignore lint/suspicious/noExplicitAny: a receipt as it came
const isSigned = ({ signature, domain, types, primaryType, message }: any) =>
  verifyTypedData({ address: h.ctx.chain.wallet as `0x${string}`, signature, domain, types, primaryType, message });

async function payCall(body: object, pay = payV2) {
  const { key } = await h.newAccount();
  const wallet = await h.newWallet(1_000_000n);
  const headers = await pay(h, wallet, await h.request('POST', path(), { key, body }));
  return { key, wallet, answer: await h.request('POST', path(), { key, body, headers }), headers };
}

const stockReceipt = ({ headers }: Answer) =>
  extractReceiptFromResponse(new Response(null, { headers })) as EIP712SignedReceipt | undefined;

describe('the x402 receipt of a paid answer', () => {
  it.each([
    ['v2', payV2],
    ['v1', payV1],
  ])('%s: the stock verifier finds the wallet that was paid', async (_version, pay) => {
    const { answer, wallet, key, headers } = await payCall({ task: 'hello' }, pay);
    const receipt = stockReceipt(answer);
    if (!receipt) throw new Error('the answer has no receipt');
    const { signer, payload } = await verifyReceiptSignatureEIP712(receipt);
    expect(signer.toLowerCase()).toBe(h.ctx.chain.wallet);
    expect(payload).toEqual({
      version: 1,
      network: h.ctx.chain.caip2,
      resourceUrl: h.baseUrl + path(),
      payer: wallet.address.toLowerCase(),
      issuedAt: Math.floor(Date.parse(answer.body.data.completedAt) / 1000),
      transaction: answer.body.data.paymentHash,
    });
    const again = await h.request('POST', path(), { key, body: { task: 'hello' }, headers });
    expect(stockReceipt(again)).toEqual(receipt);
  });

  it('is not given for a call that failed: nothing was delivered', async () => {
    agent.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
    const { answer } = await payCall({ task: 'x' });
    expect([answer.status, answer.body.data.status]).toEqual([200, 'failed']);
    expect(answer.headers.get('payment-response')).not.toBeNull();
    expect(stockReceipt(answer)).toBeUndefined();
  });

  it('is given for a deposit', async () => {
    const { key } = await h.newAccount();
    const { treasuryId } = (await h.request('POST', '/payments/treasury', { key, body: {} })).body.data;
    const body = { amount: '1', treasuryId };
    const wallet = await h.newWallet(1_000_000n);
    const headers = await payV2(h, wallet, await h.request('POST', '/payments/treasury/deposit', { key, body }));
    const receipt = stockReceipt(await h.request('POST', '/payments/treasury/deposit', { key, body, headers }));
    const { signer, payload } = await verifyReceiptSignatureEIP712(receipt as EIP712SignedReceipt);
    expect(signer.toLowerCase()).toBe(h.ctx.chain.wallet);
    expect(payload.resourceUrl).toBe(`${h.baseUrl}/payments/treasury/deposit`);
  });
});

describe('the receipt of a request', () => {
  it('says who paid whom how much for which input and result, signed for stock viem to check', async () => {
    const input = { z: 1.5, a: ['ü', { nested: null }] };
    const { answer, wallet, key } = await payCall({ task: 'hello', input, context: 'before' });
    const { requestId, paymentHash, result, createdAt, completedAt } = answer.body.data;
    const { body } = await receiptOf(requestId, key);
    const { owner } = (await h.request('GET', `/agents/${agent.id}`)).body.data;
    expect(body.data.signer).toBe(h.ctx.chain.wallet);
    expect(body.data.message).toEqual({
      ...{ requestId, owner, node: h.baseUrl, agentId: agent.id, asset: h.ctx.chain.token },
      ...{ payer: wallet.address.toLowerCase(), paymentMethod: 'x402', transaction: paymentHash, channel: '' },
      ...{ price: '50000', cost: '50000', refund: '0', status: 'completed' },
      taskHash: sha256('hello'),
      inputHash: sha256(input),
      contextHash: sha256('before'),
      resultHash: sha256(result),
      createdAt: Math.floor(Date.parse(createdAt) / 1000),
      completedAt: Math.floor(Date.parse(completedAt) / 1000),
      issuedAt: expect.any(Number),
    });
    expect(await isSigned(body.data)).toBe(true);
    for (const [field, value] of Object.entries(body.data.message)) {
      const other =
        typeof value === 'number' ? value + 1 : `${String(value).slice(0, -1)}${String(value).endsWith('1') ? 2 : 1}`;
      const changed = { ...body.data, message: { ...body.data.message, [field]: other } };
      expect([field, await isSigned(changed).catch(() => false)]).toEqual([field, false]);
    }
  });

  it('of a call paid by a voucher names the channel and its payer; so does the x402 receipt of its answer', async () => {
    const payer = newVoucherPayer(h);
    await payer.fund(1_000_000n);
    const { key } = await h.newAccount();
    const call = { key, body: { task: 'by voucher' } };
    const headers = payer.pay(await h.request('POST', path(), call), 50_000n);
    const answer = await h.request('POST', path(), { ...call, headers });
    const { signer, payload } = await verifyReceiptSignatureEIP712(stockReceipt(answer) as EIP712SignedReceipt);
    expect(signer.toLowerCase()).toBe(h.ctx.chain.wallet);
    expect(payload).toMatchObject({ payer: payer.config.payer, resourceUrl: h.baseUrl + path(), transaction: '' });
    const { data } = (await receiptOf(answer.body.data.requestId, key)).body;
    expect(data.message).toMatchObject({
      ...{ payer: payer.config.payer, channel: payer.channelId, paymentMethod: 'x402', transaction: '' },
      ...{ price: '50000', cost: '50000', refund: '0', status: 'completed' },
    });
    expect(await isSigned(data)).toBe(true);
  });

  it('of a failed call says what goes back, and that there is no result', async () => {
    agent.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
    const { key, treasuryId } = await newClient(h, '1.00');
    const { requestId } = (await h.request('POST', path(), { key, body: { task: 'x' } })).body.data;
    await untilEnded(h, key, requestId);
    const { data } = (await receiptOf(requestId, key)).body;
    expect(data.message).toMatchObject({
      ...{ status: 'failed', payer: treasuryId, paymentMethod: 'treasury', transaction: '' },
      ...{ price: '50000', cost: '0', refund: '50000' },
      ...{ contextHash: sha256(null), resultHash: NONE },
    });
    expect(await isSigned(data)).toBe(true);
  });

  it('is available once the request has ended, to its caller only', async () => {
    const gate = Promise.withResolvers<void>();
    agent.behave(async (_request, response) => {
      await gate.promise;
      answerWith(200, { result: 1 })({ headers: {}, body: null }, response);
    });
    const { key } = await newClient(h, '1.00');
    const { requestId } = (await h.request('POST', path(), { key, body: { task: 'x' } })).body.data;
    const early = await receiptOf(requestId, key);
    expect([early.status, early.body.error.code]).toEqual([409, 'CONFLICT']);
    gate.resolve();
    await untilEnded(h, key, requestId);
    const stranger = await h.newAccount();
    expect((await receiptOf(requestId, stranger.key)).status).toBe(404);
    expect((await h.request('GET', `/invoke/${requestId}/receipt`)).status).toBe(401);
    const answers = await Promise.all(Array.from({ length: 8 }, () => receiptOf(requestId, key)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body.data))).size).toBe(1);
  });

  it('never changes once given, and can be had first when input and result are gone', async () => {
    const input = { secret: 'of the caller' };
    const given = await payCall({ task: 'early', input });
    const task = `${'long '.repeat(300)}"\\/\n\té😀`;
    const late = await payCall({ task, input });
    const first = (await receiptOf(given.answer.body.data.requestId, given.key)).body.data;
    aheadMs = 400 * DAY_MS;
    try {
      await forgetContents(h.ctx);
      await h.ctx.db.query('', `update agent set owner_address = '0x${'ab'.repeat(20)}' where id = '${agent.id}'`);
      expect((await receiptOf(given.answer.body.data.requestId, given.key)).body.data).toEqual(first);
      const { requestId, result } = late.answer.body.data;
      const record = (await h.request('GET', `/invoke/${requestId}`, { key: late.key })).body.data;
      expect([record.result, record.contentRemovedAt]).toEqual([null, expect.any(String)]);
      expect(record.task).toBe(task.slice(0, 1000));
      const { data } = (await receiptOf(requestId, late.key)).body;
      expect(data.message).toMatchObject({
        taskHash: sha256(task),
        inputHash: sha256(input),
        resultHash: sha256(result),
      });
      expect(await isSigned(data)).toBe(true);
    } finally {
      aheadMs = 0;
    }
  });

  it('of a request from before hashes were kept is made from what is there, and is gone with it', async () => {
    const { answer, key } = await payCall({ task: 'old', input: { a: 1 } });
    const { requestId, result } = answer.body.data;
    await h.ctx.db.query('', `update invocation set content_hashes = null where id = '${requestId}'`);
    const { data } = (await receiptOf(requestId, key)).body;
    expect(data.message).toMatchObject({ inputHash: sha256({ a: 1 }), resultHash: sha256(result) });
    await h.ctx.db.query('', `delete from invocation_receipt where request_id = '${requestId}'`);
    await h.ctx.db.query(
      '',
      `update invocation set result = null, content_removed_at = now() where id = '${requestId}'`,
    );
    const gone = await receiptOf(requestId, key);
    expect([gone.status, gone.body.error.code]).toEqual([410, 'GONE']);
  });
});
