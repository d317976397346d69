import type { Payer } from '@agent-network/sdk';
import { describe, expect, it } from 'vitest';
import { type Reply, type Seen, startFakeNode } from '../../../sdk/test/support/fake-node.ts';
import { createMcpRelay } from './mcp-relay.ts';

const terms = { x402Version: 2, accepts: [{ amount: '50000' }] };
const answer = (structuredContent: object, isError = false): Reply => ({
  status: 200,
  body: { jsonrpc: '2.0', id: 1, result: { isError, structuredContent } },
});
const askPayment = answer(terms, true);
const completed = answer({ requestId: 'req_1', status: 'completed' });
const failed = answer({ requestId: 'req_1', status: 'failed' }, true);
const unavailable = answer({ error: { code: 'UNAVAILABLE' } }, true);

const endedEarly: Reply = {
  status: 200,
  body: 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n',
  headers: { 'content-type': 'text/event-stream' },
};

/** The number of the payment that a message shows; undefined: none. */
const shown = ({ body }: Seen): number | undefined => JSON.parse(body).params?._meta?.['x402/payment']?.number;

/** A relay whose payer numbers what it signs, before a node that answers unpaid calls with its terms. */
async function startPaying(
  paid: (seen: Seen) => Reply | 'hang up' | Promise<Reply>,
  maxPerCallMicro: bigint | null = null,
) {
  const node = await startFakeNode((seen) => (shown(seen) === undefined ? askPayment : paid(seen)));
  let signed = 0;
  const payer: Payer = {
    address: '0x0',
    pay: async () => ({ 'payment-signature': btoa(JSON.stringify({ number: ++signed })) }),
  };
  const written: unknown[] = [];
  const write = (message: object) => void written.push(message);
  const relay = createMcpRelay({ url: node.baseUrl, apiKey: null, maxPerCallMicro, payer, write });
  const send = (message: object) => relay(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return {
    call: (task: string, maxCost = '0.05', name = 'invoke_agent') =>
      send({ id: 1, method: 'tools/call', params: { name, arguments: { task, maxCost } } }),
    send,
    shown: () => node.seen.map(shown),
    written,
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  };
}

/** Makes calls of a tool through a relay that pays. */
async function callPaying(answers: readonly (Reply | 'hang up')[], tasks: readonly string[]) {
  const left = [...answers];
  await using paying = await startPaying(() => left.shift() ?? completed);
  for (const task of tasks) await paying.call(task);
  return { shown: paying.shown(), written: paying.written };
}

describe('a call that the relay paid for', () => {
  it.each([
    ['the connection broke', 'hang up' as const],
    ['the node answered with an error that names no request', unavailable],
    ['a proxy answered with nothing', { status: 503, body: '' }],
    ['the stream of its answer ended too early', endedEarly],
    ['the node answered with an error of the protocol', { status: 200, body: { jsonrpc: '2.0', id: 1, error: {} } }],
  ])('shows the same payment when it is repeated, after %s', async (_what, first) => {
    const { shown: payments, written } = await callPaying([first], ['a', 'a']);
    expect(payments).toEqual([undefined, 1, 1]);
    expect(written.at(-1)).toEqual(completed.body);
  });

  it.each([
    ['completed', completed],
    ['failed', failed],
  ])('is a new purchase when it is repeated after its request has %s', async (_what, first) => {
    const { shown: payments } = await callPaying([first], ['a', 'a']);
    expect(payments).toEqual([undefined, 1, undefined, 2]);
  });

  it('shows the same payment with the answer to a question of its agent', async () => {
    const question = { resultType: 'input_required', inputRequests: {}, requestState: 'state' };
    const asks = { status: 200, body: { jsonrpc: '2.0', id: 1, result: question } };
    const { shown: payments, written } = await callPaying([asks], ['a', 'a', 'a']);
    expect(payments).toEqual([undefined, 1, 1, undefined, 2]);
    expect(written).toEqual([asks.body, completed.body, completed.body]);
  });

  it('is paid anew when the node asks for another payment', async () => {
    const { shown: payments, written } = await callPaying(['hang up', askPayment], ['a', 'a']);
    expect(payments).toEqual([undefined, 1, 1, 2]);
    expect(written.at(-1)).toEqual(completed.body);
  });

  it('shows the same payment when it is repeated after its client cancelled it, and is given up on at the node', async () => {
    const paid = Promise.withResolvers<Seen>();
    const never = new Promise<Reply>(() => undefined);
    let calls = 0;
    await using paying = await startPaying((seen) => {
      paid.resolve(seen);
      return ++calls === 1 ? never : completed;
    });
    const given = paying.call('a');
    const { ended } = await paid.promise;
    await paying.send({ method: 'notifications/cancelled', params: { requestId: 1, reason: 'timeout' } });
    await Promise.all([given, ended]);
    expect(paying.written).toEqual([]);
    await paying.call('a');
    expect([paying.shown(), paying.written]).toEqual([[undefined, 1, 1], [completed.body]]);
  });

  it('shows the same payment when its client cancels and repeats it at once', async () => {
    const paid = Promise.withResolvers<void>();
    const never = new Promise<Reply>(() => undefined);
    let calls = 0;
    await using paying = await startPaying(() => {
      paid.resolve();
      return ++calls === 1 ? never : completed;
    });
    const given = paying.call('a');
    await paid.promise;
    const cancelled = paying.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await Promise.all([given, cancelled, paying.call('a')]);
    expect([paying.shown(), paying.written]).toEqual([[undefined, 1, 1], [completed.body]]);
  });

  it('shows its payment for no other call', async () => {
    const { shown: payments } = await callPaying(['hang up'], ['a', 'b', 'a']);
    expect(payments).toEqual([undefined, 1, undefined, 2, 1]);
  });
});

describe('the wallet of a relay', () => {
  it.each([
    ['the list of tools', { method: 'tools/list' }],
    ['a ping', { method: 'ping' }],
    ['a search', { method: 'tools/call', params: { name: 'search_agents', arguments: { maxCost: '1.00' } } }],
    ['a match', { method: 'tools/call', params: { name: 'match_agents', arguments: { maxCost: '1.00' } } }],
    ['a call of no stated cost', { method: 'tools/call', params: { name: 'invoke_agent', arguments: { task: 'a' } } }],
  ])('does not pay for %s, whatever the node asks for it', async (_what, message) => {
    await using paying = await startPaying(() => completed);
    await paying.send({ id: 1, ...message });
    expect([paying.shown(), paying.written]).toEqual([[undefined], [askPayment.body]]);
  });

  it('pays nothing above the maxCost of the call', async () => {
    await using paying = await startPaying(() => completed);
    await paying.call('a', '0.049999');
    expect(paying.shown()).toEqual([undefined]);
    expect(paying.written).toMatchObject([
      { id: 1, result: { structuredContent: { error: { code: 'PAYMENT_REFUSED' } } } },
    ]);
  });

  it.each(['invoke_agent', 'invoke_best', 'invoke'])(
    'is opened by %s up to the limit of a call, and not beyond',
    async (tool) => {
      await using paying = await startPaying(() => completed, 50_000n);
      await paying.call('a', '0.06', tool);
      await paying.call('a', '0.05', tool);
      expect(paying.shown()).toEqual([undefined, 1]);
      expect(paying.written).toMatchObject([
        { result: { structuredContent: { error: { code: 'OVER_MAX_PER_CALL' } }, resultType: 'complete' } },
        completed.body,
      ]);
    },
  );
});

/** What a relay writes for one message that the node answers like this. */
async function writtenFor(message: object, reply: Reply) {
  await using node = await startFakeNode(() => reply);
  const written: object[] = [];
  const write = (each: object) => void written.push(each);
  const relay = createMcpRelay({ url: node.baseUrl, apiKey: null, maxPerCallMicro: null, payer: null, write });
  await relay(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return written;
}

describe('a request is answered with an error', () => {
  it.each([
    ['a redirect without a body', { status: 301, body: '' }, 'answered 301'],
    ['a refusal without a body', { status: 401, body: '' }, 'answered 401'],
    ['a gateway error without a body', { status: 503, body: '' }, 'answered 503'],
    ['nothing', { status: 200, body: '' }, 'without an answer'],
    ['a stream that ends before its answer', endedEarly, 'without an answer'],
  ])('after %s', async (_what, reply, text) => {
    const written = await writtenFor({ id: 1, method: 'tools/list' }, reply);
    expect(written.at(-1)).toMatchObject({ id: 1, error: { code: -32000, message: expect.stringContaining(text) } });
  });
});

it.each([
  ['a notification', { method: 'notifications/initialized' }],
  ['a response', { id: 1, result: {} }],
])('%s gets no answer', async (_what, message) => {
  expect(await writtenFor(message, { status: 202, body: '' })).toEqual([]);
  expect(await writtenFor(message, { status: 503, body: '' })).toEqual([]);
});

it.each(['12345678901234567890', '1e400'])(
  'a call with a number that would reach the agent as another one is refused, as the node does: %s',
  async (number) => {
    await using node = await startFakeNode(() => completed);
    const written: object[] = [];
    const write = (each: object) => void written.push(each);
    const relay = createMcpRelay({ url: node.baseUrl, apiKey: null, maxPerCallMicro: null, payer: null, write });
    const params = `{"name":"invoke_agent","arguments":{"input":{"id":${number}}}}`;
    await relay(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);
    expect(node.seen).toEqual([]);
    const message = expect.stringContaining(`params.arguments.input.id is ${number}`);
    expect(written).toMatchObject([{ id: 1, error: { code: -32602, message } }]);
  },
);
