import { randomUUID } from 'node:crypto';
import type { SettleResponse } from '@agent-network/contracts/payments/x402';
import { verifyReceiptSignatureEIP712 } from '@x402/extensions/offer-receipt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../../support/books.ts';
import { type Answer, type Harness, startHarness } from '../../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { newVoucherPayer, requiredBy, type VoucherPayer } from '../../support/voucher-payer.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { modern } from './mcp/raw-client.ts';

const PRICE = 50_000n;
const COST = 20_000n;
let h: Harness;
let account: { key: string };
let agent: TestAgent;
let failing: TestAgent;
beforeAll(async () => {
  h = await startHarness({ env: { CHANNELS: 'true' } });
  account = await h.newAccount();
  [agent, failing] = await Promise.all([
    startTestAgent(h, { perRequest: '0.05', behaviour: answerWith(200, { result: { text: 'done' }, cost: '0.02' }) }),
    startTestAgent(h, { perRequest: '0.05', behaviour: answerWith(500, { error: 'no' }) }),
  ]);
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await Promise.all([agent.die(), failing.die()]);
  await h.stop();
});

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
// biome-ignore lint/suspicious/noExplicitAny: what a header of the node holds
const decode = (text: string | null | undefined): any => JSON.parse(Buffer.from(text ?? '', 'base64').toString());

interface Told {
  readonly requestId: string;
  readonly isDone: boolean;
  readonly settlement: SettleResponse;
}

/** One call through a gateway: its terms as HTTP carries them, and what a paid one is told. */
interface Way {
  readonly resourceOf: (agentId: string, key: string | undefined) => string;
  /** With a payment that is refused: the terms that it is told. */
  readonly ask: (agentId: string, key: string | undefined, task: string, refused?: string) => Promise<Answer>;
  readonly pay: (agentId: string, key: string | undefined, task: string, payment: string) => Promise<Told>;
}

const openAi = (agentId: string, key: string | undefined, task: string, headers: Record<string, string> = {}) => {
  const body = { model: agentId, messages: [{ role: 'user', content: task }] };
  return h.request('POST', '/v1/chat/completions', { key: key ?? 'x402', body, headers });
};

// biome-ignore lint/suspicious/noExplicitAny: a task of A2A, as it is
type Task = any;

const a2aHeaders = { 'a2a-version': '1.0', 'content-type': 'application/json' };
const a2a = (method: string, agentId: string, key: string | undefined, message: object) => {
  const params = { message: { messageId: randomUUID(), role: 'ROLE_USER', ...message } };
  return h.request('POST', `/a2a/${agentId}`, {
    key,
    headers: a2aHeaders,
    body: { jsonrpc: '2.0', id: 1, method, params },
  });
};

const paymentMessage = (payment: string) => {
  const payload = decode(payment);
  const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payload };
  return { taskId: payload.accepted.extra.memo, metadata };
};

/** What the last status of a task tells, for a message that pays the task which waits for it. */
const a2aWay = (method: string, lastStatus: (body: Task) => Task): Way => ({
  resourceOf: (agentId, key) => `${h.baseUrl}/${key === undefined ? 'x402' : 'invoke'}/${agentId}`,
  async ask(agentId, key, task, refused) {
    const paying = refused === undefined ? {} : paymentMessage(refused);
    const { result } = (await a2a('SendMessage', agentId, key, { parts: [{ text: task }], ...paying })).body;
    const required = result.task.status.message.metadata['x402.payment.required'];
    const headers = new Headers({ 'payment-required': encode(required) });
    return { status: 402, headers, body: required } as Answer;
  },
  async pay(agentId, key, _task, payment) {
    const { body } = await a2a(method, agentId, key, { ...paymentMessage(payment), parts: [{ text: 'Payment' }] });
    const { state, message } = lastStatus(body);
    const [settlement] = message.metadata['x402.payment.receipts'];
    return { requestId: message.taskId, isDone: state === 'TASK_STATE_COMPLETED', settlement };
  },
});

const invokeTool = (key: string | undefined, args: { agentId: string; task: string }, payment?: string) => {
  const call = modern('tools/call', {
    name: 'invoke_agent',
    arguments: { ...args, maxCost: '0.05', ...(key ? { idempotencyKey: args.task.replaceAll(' ', '-') } : {}) },
    ...(payment === undefined ? {} : { _meta: { 'x402/payment': decode(payment) } }),
  });
  return h.request('POST', '/mcp', { key, ...call });
};

const ways: Record<string, Way> = {
  A2A: a2aWay('SendMessage', (body) => body.result.task.status),
  'an A2A stream': a2aWay('SendStreamingMessage', (body) => {
    const events = String(body)
      .split('\n')
      .filter((line) => line.startsWith('data:'));
    const { result } = JSON.parse(events.at(-1)?.slice(5) ?? '');
    return (result.statusUpdate ?? result.task).status;
  }),
  MCP: {
    resourceOf: () => 'mcp://tool/invoke_agent',
    async ask(agentId, key, task, refused) {
      const { body } = await invokeTool(key, { agentId, task }, refused);
      const headers = new Headers({ 'payment-required': encode(body.result.structuredContent) });
      return { status: 402, headers, body } as Answer;
    },
    async pay(agentId, key, task, payment) {
      const { result } = (await invokeTool(key, { agentId, task }, payment)).body;
      const { requestId, status } = result.structuredContent;
      return { requestId, isDone: status === 'completed', settlement: result._meta['x402/payment-response'] };
    },
  },
  OpenAI: {
    resourceOf: (agentId, key) => `${h.baseUrl}/${key === undefined ? 'x402' : 'invoke'}/${agentId}`,
    ask: (agentId, key, task, refused) =>
      openAi(agentId, key, task, refused === undefined ? {} : { 'payment-signature': refused }),
    async pay(agentId, key, task, payment) {
      const { status, body, headers } = await openAi(agentId, key, task, { 'payment-signature': payment });
      const requestId = body.id ?? body.error.requestId;
      return { requestId, isDone: status === 200, settlement: decode(headers.get('payment-response')) };
    },
  },
};

const header = (headers: Record<string, string>) => headers['payment-signature'] ?? '';
const funded = async (): Promise<VoucherPayer> => {
  const payer = newVoucherPayer(h);
  await payer.fund(1_000_000n);
  return payer;
};
// biome-ignore lint/suspicious/noExplicitAny: extensions are open
const receiptIn = ({ extensions }: SettleResponse) => (extensions as any)?.['offer-receipt']?.info.receipt;

describe.each(Object.entries(ways))('through %s', (_name, { ask, pay, resourceOf }) => {
  describe.each([
    ['with a key', (): string | undefined => account.key],
    ['without a key', (): string | undefined => undefined],
  ] as const)('%s', (_who, keyOf) => {
    it('a voucher pays for a call, is charged what it cost, and buys its result once', async () => {
      const payer = await funded();
      const [key, task] = [keyOf(), `voucher ${_name} ${_who}`];
      const payment = header(payer.pay(await ask(agent.id, key, task), PRICE));
      const calls = agent.calls.length;
      const paid = await pay(agent.id, key, task, payment);
      expect(paid.isDone).toBe(true);
      expect(paid.settlement).toMatchObject({
        ...{ success: true, payer: payer.config.payer },
        extra: { chargedAmount: String(COST), channelState: { chargedCumulativeAmount: String(COST) } },
      });
      const { signer, payload } = await verifyReceiptSignatureEIP712(receiptIn(paid.settlement));
      expect(signer.toLowerCase()).toBe(h.ctx.chain.wallet);
      expect(payload).toMatchObject({ resourceUrl: resourceOf(agent.id, key), payer: payer.config.payer });
      const again = await pay(agent.id, key, task, payment);
      expect(again.requestId).toBe(paid.requestId);
      expect(again.settlement).toEqual(paid.settlement);
      expect(agent.calls.length).toBe(calls + 1);
    });

    it('a voucher for another sum than the node counts is told the sum, and the corrected one buys the call', async () => {
      const payer = await funded();
      const [key, task] = [keyOf(), `corrected ${_name} ${_who}`];
      const first = await pay(
        agent.id,
        key,
        `first ${task}`,
        header(payer.pay(await ask(agent.id, key, `first ${task}`), PRICE)),
      );
      expect(first.isDone).toBe(true);
      const wrong = header(payer.pay(await ask(agent.id, key, task), PRICE));
      const told = await ask(agent.id, key, task, wrong);
      const { extra } = requiredBy(told).accepts.find(
        ({ scheme }: { scheme: string }) => scheme === 'batch-settlement',
      );
      const charged = BigInt(extra.channelState.chargedCumulativeAmount);
      expect([charged, extra.voucherState.signedMaxClaimable]).toEqual([COST, String(PRICE)]);
      const paid = await pay(agent.id, key, task, header(payer.pay(told, charged + PRICE)));
      expect(paid).toMatchObject({ isDone: true, settlement: { extra: { chargedAmount: String(COST) } } });
    });

    it('an agent that fails leaves a voucher uncharged, and gives no receipt', async () => {
      const payer = await funded();
      const [key, task] = [keyOf(), `failing ${_name} ${_who}`];
      const failed = await pay(failing.id, key, task, header(payer.pay(await ask(failing.id, key, task), PRICE)));
      expect(failed.isDone).toBe(false);
      expect(failed.settlement).toMatchObject({
        extra: { chargedAmount: '0', channelState: { chargedCumulativeAmount: '0' } },
      });
      expect(receiptIn(failed.settlement)).toBeUndefined();
    });

    it('a voucher that another key signed is refused, and nothing runs', async () => {
      const [payer, thief] = [await funded(), newVoucherPayer(h)];
      const [key, task] = [keyOf(), `forged ${_name} ${_who}`];
      const forged = header(payer.pay(await ask(agent.id, key, task), PRICE, { key: thief.key }));
      const calls = agent.calls.length;
      await pay(agent.id, key, task, forged).then(
        ({ isDone }) => expect(isDone).toBe(false),
        () => undefined,
      );
      expect(agent.calls.length).toBe(calls);
    });

    it('an exact payment that delivered has the signed receipt', async () => {
      const [key, task] = [keyOf(), `exact ${_name} ${_who}`];
      const wallet = await h.newWallet(1_000_000n);
      const payment = header(await payV2(h, wallet, await ask(agent.id, key, task)));
      const paid = await pay(agent.id, key, task, payment);
      const { payload } = await verifyReceiptSignatureEIP712(receiptIn(paid.settlement));
      expect(payload).toMatchObject({
        ...{ resourceUrl: resourceOf(agent.id, key), transaction: paid.settlement.transaction },
        payer: wallet.address.toLowerCase(),
      });
    });
  });
});

it.each(['for the task', 'in a message of its own'])(
  'the sum of a channel is shown to its payer, and not to a reader of the task (%s)',
  async (where) => {
    const [payer, { ask, pay }] = [await funded(), ways.A2A as Way];
    await pay(agent.id, undefined, 'x', header(payer.pay(await ask(agent.id, undefined, 'x'), PRICE)));
    const wrong = header(payer.pay(await ask(agent.id, undefined, 'y'), PRICE));
    const { taskId, metadata } = paymentMessage(wrong);
    const message = { parts: [{ text: 'y' }], metadata, ...(where === 'for the task' ? { taskId } : {}) };
    const refused = (await a2a('SendMessage', agent.id, undefined, message)).body.result.task;
    expect([refused.id, JSON.stringify(refused)]).toEqual([taskId, expect.stringContaining('signedMaxClaimable')]);
    const body = { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: taskId } };
    const read = (await h.request('POST', `/a2a/${agent.id}`, { headers: a2aHeaders, body })).body.result;
    expect(read.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(JSON.stringify(read)).not.toMatch(/channelState|voucherState/);
  },
);
