import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { forgetUnpaid, MAX_EACH } from '../../../../src/calls/keep-unpaid.ts';
import { holdUnpaid, trimUnpaid } from '../../../../src/calls/unpaid-store.ts';
import { contradictions } from '../../../support/books.ts';
import { emptyWallet, refillWallet } from '../../../support/chain-actions.ts';
import { type Harness, startHarness, type TestWallet } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, deposit } from '../../../support/treasury.ts';
import { paymentOf, payV1 } from '../../../support/x402-payer.ts';
import { type Any, envelope, message, paying, rawClient, STATUS, send, termsOf, v1 } from './raw-client.ts';

/** What the node's clock is ahead by. */
let aheadMs = 0;
let h: Harness;
let echo: TestAgent;

beforeAll(async () => {
  h = await startHarness({ clock: { now: () => new Date(Date.now() + aheadMs) } });
  echo = await startTestAgent(h, { name: 'Echo' });
});
afterAll(async () => {
  await echo?.die();
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h?.stop();
});

const { rpc, waiting } = rawClient(() => ({ h, agent: echo }));

const firstExtension = { ...v1, 'x-a2a-extensions': 'https://github.com/google-a2a/a2a-x402/v0.1' };
/** The payment of x402 version 1 for terms that came without a header. */
async function paymentV1(wallet: TestWallet, required: unknown): Promise<Any> {
  const header = (await payV1(h, wallet, { body: required, headers: new Headers() }))['x-payment'] ?? '';
  return JSON.parse(Buffer.from(header, 'base64').toString());
}
/** What a task tells to those only who made it. */
const toldBy = ({ artifacts, metadata }: Any) => ({
  artifacts,
  token: metadata['urn:agent-network:invoke'].resultToken,
});
const nothing = { artifacts: undefined, token: undefined };

describe('payment on the task', () => {
  it('shown twice at once pays once, and one that names other terms is not collected', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const [first, another] = [await waiting(), await waiting()];
    const payload = await paymentOf(h, wallet, termsOf(first));
    expect((await rpc(paying(another.id, payload))).error.code).toBe(-32_602);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
    const calls = echo.calls.length;
    const answers = await Promise.all([1, 2, 3].map(() => rpc(paying(first.id, payload))));
    for (const { result } of answers) expect(result.task).toMatchObject({ id: first.id, contextId: first.contextId });
    expect([echo.calls.length - calls, await h.usdcOf(wallet.address)]).toEqual([1, 950_000n]);
    // A second wallet that pays the same terms is refused, and not collected.
    const late = await h.newWallet(1_000_000n);
    const refused = await rpc(paying(first.id, await paymentOf(h, late, termsOf(first))));
    expect(refused.error?.code ?? refused.result.task.status.state).not.toBe('TASK_STATE_COMPLETED');
    expect(await h.usdcOf(late.address)).toBe(1_000_000n);
  });

  it.each([
    ['cancelled', 'with a key', 'for the task'],
    ['cancelled', 'without a key', 'for the task'],
    ['declined', 'with a key', 'for the task'],
    ['declined', 'without a key', 'for the task'],
    ['cancelled', 'with a key', 'in a message of its own'],
    ['cancelled', 'without a key', 'in a message of its own'],
  ])('of a task that is %s while the payment is checked is not collected (%s, %s)', async (how, who, where) => {
    const wallet = await h.newWallet(50_000n);
    const sending = who === 'with a key' ? { key: (await h.newAccount()).key } : {};
    const task = await waiting(sending);
    const [calls, checked, goesOn] = [echo.calls.length, Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { accept } = h.ctx.acceptor;
    const held = vi.spyOn(h.ctx.acceptor, 'accept').mockImplementationOnce(async (item) => {
      checked.resolve();
      await goesOn.promise;
      return accept(item);
    });
    const payload = await paymentOf(h, wallet, termsOf(task));
    const metadata = { [STATUS]: 'payment-submitted', 'x402.payment.payload': payload };
    const paid = rpc(where === 'for the task' ? paying(task.id, payload) : send({ metadata }), sending);
    await checked.promise;
    const end =
      how === 'cancelled'
        ? envelope('CancelTask', { id: task.id })
        : send({ taskId: task.id, metadata: { [STATUS]: 'payment-rejected' } });
    const { result } = await rpc(end, sending);
    const { state, message: said } = (result.task ?? result).status;
    expect(state).toBe(how === 'cancelled' ? 'TASK_STATE_CANCELED' : 'TASK_STATE_FAILED');
    expect(said.parts[0].text).toContain('Nothing was charged');
    goesOn.resolve();
    expect((await paid).error.data[0].reason).toBe('CONFLICT');
    held.mockRestore();
    expect([echo.calls.length - calls, await h.usdcOf(wallet.address)]).toEqual([0, 50_000n]);
  });

  it('with the terms and a payment of x402 version 1, for clients of the first extension', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const headers = firstExtension;
    const task = await waiting({ headers });
    const required = termsOf(task);
    expect(required).toMatchObject({
      ...{ x402Version: 1, error: 'Payment required' },
      accepts: [{ maxAmountRequired: '50000' }],
    });
    const payload = await paymentV1(wallet, required);
    const wrong = (await rpc(paying(task.id, { ...payload, network: 'base' }), { headers })).result.task;
    expect(wrong.status.message.metadata).toMatchObject({
      [STATUS]: 'payment-failed',
      'x402.payment.error': 'NETWORK_MISMATCH',
    });
    expect(termsOf(wrong).error).toBe('invalid_network');
    const answer = await h.request('POST', `/a2a/${echo.id}`, { headers, body: paying(task.id, payload) });
    const paid = answer.body.result.task;
    expect(paid).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    // Its client reads the confirmation where it asked, and knows networks by their names.
    const asked = headers['x-a2a-extensions'];
    expect(['x-a2a-extensions', 'a2a-extensions'].map((name) => answer.headers.get(name))).toEqual([asked, null]);
    const { network } = required.accepts[0];
    const receiptsIn = ({ status }: Any) => status.message.metadata['x402.payment.receipts'];
    expect(receiptsIn(paid)).toMatchObject([{ success: true, network }]);
    const token = paid.metadata['urn:agent-network:invoke'].resultToken;
    const read = (more: Record<string, string>) =>
      rpc(envelope('GetTask', { id: task.id }), { headers: { ...more, 'x-result-token': token } });
    expect(receiptsIn((await read(headers)).result)).toMatchObject([{ success: true, network }]);
    expect(receiptsIn((await read(v1)).result)).toMatchObject([{ success: true, network: h.ctx.chain.caip2 }]);
  });

  it('of version 1 without a key, presented again, returns neither result nor token, as anyone can copy it from the chain', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const task = await waiting({ headers: firstExtension });
    const payload = await paymentV1(wallet, termsOf(task));
    const paid = (await rpc(paying(task.id, payload), { headers: firstExtension })).result.task;
    expect(toldBy(paid)).toEqual({ artifacts: [expect.anything()], token: expect.any(String) });
    const again = (await rpc(paying(task.id, payload))).result.task;
    expect([again.id, toldBy(again)]).toEqual([task.id, nothing]);
    const body = { ...paying(task.id, payload), method: 'SendStreamingMessage' };
    const streamed = String((await h.request('POST', `/a2a/${echo.id}`, { headers: v1, body })).body);
    expect(streamed).toContain(task.id);
    expect(streamed).not.toMatch(/artifact|resultToken/);
    // Another good payment is the wallet's alone, until it is collected.
    const fresh = (await rpc(paying(task.id, await paymentV1(wallet, termsOf(task))))).result.task;
    expect(toldBy(fresh)).toEqual(toldBy(paid));
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('of version 1 without a key, presented again during its acceptance, returns neither result nor token', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const task = await waiting({ headers: firstExtension });
    const payload = await paymentV1(wallet, termsOf(task));
    const [checked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { accept } = h.ctx.acceptor;
    const held = vi.spyOn(h.ctx.acceptor, 'accept').mockImplementationOnce(async (item) => {
      checked.resolve();
      await goesOn.promise;
      return accept(item);
    });
    const turns = vi.spyOn(h.ctx.paymentTurns, 'run');
    const first = rpc(paying(task.id, payload));
    await checked.promise;
    const second = rpc(paying(task.id, payload));
    await expect.poll(() => turns.mock.calls.length).toBe(2);
    goesOn.resolve();
    const [paid, again] = [(await first).result.task, (await second).result.task];
    for (const spy of [held, turns]) spy.mockRestore();
    expect(toldBy(paid).token).toEqual(expect.any(String));
    expect([again.id, toldBy(again)]).toEqual([task.id, nothing]);
  });

  it.each(['with a key', 'without a key'])(
    'that moves nothing ends the task: it asks for no other (%s)',
    async (who) => {
      const wallet = await h.newWallet(1_000_000n);
      const sending = who === 'with a key' ? { key: (await h.newAccount()).key } : {};
      const task = await waiting(sending);
      const calls = echo.calls.length;
      const { settle } = h.ctx.settler;
      const held = vi.spyOn(h.ctx.settler, 'settle').mockImplementationOnce(async (...args) => {
        await emptyWallet(h.rpcUrl, h, wallet, 1_000_000n);
        return settle(...args);
      });
      const failed = (await rpc(paying(task.id, await paymentOf(h, wallet, termsOf(task))), sending)).result.task;
      held.mockRestore();
      const { state, message: said } = failed.status;
      expect([failed.id, state]).toEqual([task.id, 'TASK_STATE_FAILED']);
      expect(said.parts[0].text).toContain('send a message without taskId');
      expect(said.metadata).toMatchObject({ [STATUS]: 'payment-failed', 'x402.payment.error': 'SETTLEMENT_FAILED' });
      expect(said.metadata).not.toHaveProperty(['x402.payment.required']);
      if (sending.key) expect((await rpc(envelope('GetTask', { id: task.id }), sending)).result).toEqual(failed);
      await refillWallet(h.rpcUrl, h, wallet, 1_000_000n);
      const again = (await rpc(paying(task.id, await paymentOf(h, wallet, termsOf(task))), sending)).result.task;
      expect(again).toEqual(failed);
      expect([echo.calls.length - calls, await h.usdcOf(wallet.address)]).toEqual([0, 1_000_000n]);
    },
  );

  it.each([
    ['beside the message', (task: Any, sent: Any) => ({ params: { ...sent, taskId: task.id } })],
    [
      'beside the message, and the payment too',
      (task: Any, { message: { metadata, ...rest } }: Any) => ({
        params: { message: rest, taskId: task.id, metadata },
      }),
    ],
    ['in the memo of the payment only', (_: Any, sent: Any) => ({ params: sent })],
    [
      'beside the message of 0.3',
      (task: Any, { message }: Any) => ({
        params: { taskId: task.id, message: { ...message, role: 'user', parts: [{ kind: 'text', text: 'Pay!' }] } },
        method: 'message/send',
        headers: { 'content-type': 'application/json' },
      }),
    ],
  ])('that names its task %s buys the task as it was asked', async (_, written) => {
    const wallet = await h.newWallet(1_000_000n);
    const task = await waiting();
    const payload = await paymentOf(h, wallet, termsOf(task));
    const metadata = { [STATUS]: 'payment-submitted', 'x402.payment.payload': payload };
    const sent = { message: message({ metadata, parts: [{ text: 'Here is the payment.' }] }) };
    const { params, method = 'SendMessage', headers = v1 } = written(task, sent) as Any;
    const { result } = await rpc(envelope(method, params), { headers });
    const paid = result.task ?? result;
    expect([paid.id, paid.status.state.toLowerCase()]).toEqual([task.id, expect.stringContaining('completed')]);
    expect(echo.calls.at(-1)?.body.task).toBe('hello');
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('that names a waiting task is not taken for another call, and one that names none buys nothing', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const calls = echo.calls.length;
    const task = await waiting();
    const terms = termsOf(task);
    const payload = await paymentOf(h, wallet, terms);
    const header = { 'payment-signature': Buffer.from(JSON.stringify(payload)).toString('base64') };
    const body = { task: 'Another task' };
    const elsewhere = await h.request('POST', `/x402/${echo.id}`, { headers: header, body });
    expect([elsewhere.status, elsewhere.body.error.code]).toEqual([409, 'CONFLICT']);
    expect(elsewhere.body.error.message).toContain(task.id);
    const pay = (given: Any, more: object = {}) =>
      rpc(send({ metadata: { [STATUS]: 'payment-submitted', 'x402.payment.payload': given }, ...more }));
    const free = await paymentV1(wallet, termsOf(await waiting({ headers: firstExtension })));
    const unnamed = await pay({ ...free, payload: (await paymentOf(h, wallet, terms)).payload });
    expect(unnamed.error).toMatchObject({ code: -32_602, message: expect.stringContaining('message.taskId') });
    const differing = envelope('SendMessage', { ...(send({ taskId: task.id }).params as object), taskId: 'req_other' });
    expect((await rpc(differing)).error).toMatchObject({ code: -32_602 });
    // A task that was removed takes its terms along.
    await h.ctx.db.query('test-remove', 'delete from unpaid_task where id = $1', [task.id]);
    expect((await pay(payload)).error.code).toBe(-32_001);
    expect([echo.calls.length - calls, await h.usdcOf(wallet.address)]).toEqual([0, 1_000_000n]);
  });

  it('in the message itself is a purchase at once', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const terms = termsOf(await waiting());
    const metadata = { [STATUS]: 'payment-submitted', 'x402.payment.payload': await paymentOf(h, wallet, terms) };
    const { task } = (await rpc(send({ metadata }))).result;
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_COMPLETED',
      message: { metadata: { [STATUS]: 'payment-completed' } },
    });
  });

  it('is not needed for a key with a treasury filled since', async () => {
    const poor = await h.newAccount();
    const { id } = await waiting({ key: poor.key });
    const { treasuryId } = (await h.request('POST', '/payments/treasury', { key: poor.key, body: {} })).body.data;
    await deposit(h, poor.key, treasuryId, '1');
    const { task } = (await rpc(send({ taskId: id }), { key: poor.key })).result;
    expect(task).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect((await balanceOf(h, poor.key)).available).toBe('0.95');
  });

  it('is waited for by so many tasks of a caller, the oldest make room; a large one is told its terms only', async () => {
    const poor = await h.newAccount();
    const key = poor.key;
    const first = await waiting({ key });
    for (let i = 0; i < 20; i++) await waiting({ key });
    expect((await rpc(envelope('GetTask', { id: first.id }), { key })).error.code).toBe(-32_001);
    const status = 'TASK_STATE_INPUT_REQUIRED';
    const all = (await rpc(envelope('ListTasks', { status }), { key })).result;
    expect([all.tasks.length, all.totalSize, all.nextPageToken]).toEqual([20, 20, '']);
    const pages: Any[] = [];
    for (let pageToken = ''; pages.length === 0 || pageToken !== ''; pageToken = pages.at(-1).nextPageToken) {
      const page = { status, pageSize: 6, ...(pageToken === '' ? {} : { pageToken }) };
      pages.push((await rpc(envelope('ListTasks', page), { key })).result);
    }
    expect(pages.map(({ pageSize, totalSize }) => [pageSize, totalSize])).toEqual(
      [6, 6, 6, 2].map((size) => [size, 20]),
    );
    expect(pages.flatMap(({ tasks }) => tasks)).toEqual(all.tasks);
    expect((await rpc(envelope('ListTasks', { status, pageToken: 'x' }), { key })).error.code).toBe(-32_602);
    const large = send({ parts: [{ text: 'hello' }, { data: { a: 'x'.repeat(70_000) } }] });
    expect((await rpc(send({ parts: [{ text: 'hello' }, { data: { a: 'x'.repeat(20_000) } }] }))).error.code).toBe(
      -30_402,
    );
    const { error } = await rpc(large, { key });
    expect(error.code).toBe(-30_402);
    const terms = error.data.find((each: Any) => each.x402Version === 2);
    expect(terms.accepts[0]).toMatchObject({ scheme: 'exact' });
  });

  it('shown again finds its task, whatever its network has opened since', async () => {
    const [task, accepting] = [await waiting(), await waiting()];
    const payload = await paymentOf(h, await h.newWallet(1_000_000n), termsOf(task));
    const paid = (await rpc(paying(task.id, payload))).result.task;
    expect(paid.status.state).toBe('TASK_STATE_COMPLETED');
    const isKept = async () => 'result' in (await rpc(envelope('GetTask', { id: accepting.id })));
    await h.ctx.db.transaction(async (tx) => {
      await holdUnpaid(tx, [accepting.id]);
      for (let i = 0; i < 20; i++) await waiting();
      expect(await isKept()).toBe(true);
    });
    await waiting();
    expect(await isKept()).toBe(false);
    const again = (await rpc(paying(task.id, payload))).result.task;
    expect([again.id, toldBy(again)]).toEqual([task.id, toldBy(paid)]);
    // Paid ones are bounded too.
    const sql = 'select holder from unpaid_task where id = $1';
    const [row] = await h.ctx.db.query<{ holder: string }>('test-holder', sql, [task.id]);
    await h.ctx.db.transaction((tx) => trimUnpaid(tx, row?.holder ?? '', { ...MAX_EACH, paid: 0 }));
    expect((await rpc(paying(task.id, payload))).error.code).toBe(-32_001);
  });

  it('is waited for until the terms end: then the task is gone, and so is what was kept of it', async () => {
    const task = await waiting();
    const payload = await paymentOf(h, await h.newWallet(1_000_000n), termsOf(task));
    const keptNow = async () =>
      (await h.ctx.db.query('test-unpaid', 'select id from unpaid_task where id = $1', [task.id])).length;
    await forgetUnpaid(h.ctx);
    expect(await keptNow()).toBe(1);
    aheadMs = 16 * 60_000;
    try {
      expect((await rpc(envelope('GetTask', { id: task.id }))).error.code).toBe(-32_001);
      expect((await rpc(paying(task.id, payload))).error.code).toBe(-32_001);
      await forgetUnpaid(h.ctx);
      expect(await keptNow()).toBe(0);
    } finally {
      aheadMs = 0;
    }
  });
});
