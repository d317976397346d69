import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../../../support/books.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../../support/treasury.ts';
import { type Any, envelope, message, rawClient, type Sending, STATUS, send, v1 } from './raw-client.ts';

let h: Harness;
let buyer: Client;
let other: Client;
let echo: TestAgent;
let second: TestAgent;

beforeAll(async () => {
  h = await startHarness();
  [buyer, other] = [await newClient(h, '10'), await newClient(h, '1')];
  [echo, second] = [await startTestAgent(h, { name: 'Echo' }), await startTestAgent(h, { name: 'Second' })];
});
afterAll(async () => {
  await Promise.all([echo, second].map((each) => each?.die()));
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h?.stop();
});

const pathOf = (agent = echo) => `/a2a/${agent.id}`;
const { rpc, waiting } = rawClient(() => ({ h, agent: echo }));

describe('a bad request is answered with the error of the protocol, and spends nothing', () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  const cases: readonly (readonly [
    name: string,
    body: () => unknown,
    code: number,
    headers?: Record<string, string>,
  ])[] = [
    ['an unknown version', () => send(), -32_009, { ...v1, 'a2a-version': '2.0' }],
    ['a version that is none', () => send(), -32_009, { ...v1, 'a2a-version': 'x'.repeat(5000) }],
    ['a method of 1.0 without a version', () => send(), -32_601, { 'content-type': 'application/json' }],
    ['a method of 0.3 in 1.0', () => envelope('message/send', { message: message() }), -32_601],
    ['a method that objects inherit', () => envelope('constructor', {}), -32_601],
    ['the same in 0.3', () => envelope('toString', {}), -32_601, { 'content-type': 'application/json' }],
    ['a batch', () => [send(), send()], -32_600],
    ['an empty batch', () => [], -32_600],
    ['a string', () => '"x"', -32_600],
    ['null', () => 'null', -32_600],
    ['an empty body', () => '', -32_700],
    ['deep JSON', () => deep(1000), -32_700],
    ['a key that is no data', () => '{"jsonrpc":"2.0","__proto__":{},"method":"GetTask","id":1}', -32_700],
    ['an id that is a fraction', () => envelope('GetTask', { id: 'x' }, 1.5), -32_600],
    ['a task named by a null character', () => envelope('GetTask', { id: 'a\u0000' }), -32_001],
    ['a task to cancel, named by one', () => envelope('CancelTask', { id: '\u0000' }), -32_001],
    ['a task named by half a character', () => envelope('GetTask', { id: '\udc76' }), -32_001],
    ['params that are a list', () => envelope('GetTask', ['x']), -32_602],
    ['a body that is too large', () => `{"a":"${'x'.repeat(1_100_000)}"}`, -30_413],
    ['another content type', () => JSON.stringify(send()), -32_600, { ...v1, 'content-type': 'text/plain' }],
    ['no parts', () => send({ parts: [] }), -32_602],
    ['a part with two contents', () => send({ parts: [{ text: 'a', data: {} }] }), -32_602],
    ['a part with none', () => send({ parts: [{}] }), -32_602],
    ['bytes that are no base64', () => send({ parts: [{ raw: '§' }] }), -32_602],
    ['a message of an agent', () => send({ role: 'ROLE_AGENT' }), -32_602],
    ['a message id that is too long', () => send({ messageId: 'x'.repeat(300) }), -32_602],
    ['a message id with a null character', () => send({ messageId: 'a\u0000b' }), -32_602],
    ['metadata that are a list', () => send({ metadata: [] }), -32_602],
    ['terms that are no object', () => send({ metadata: { 'urn:agent-network:invoke': 'x' } }), -32_602],
    [
      'a maximum below the price',
      () => send({ metadata: { 'urn:agent-network:invoke': { maxCost: '0.001' } } }),
      -32_602,
    ],
    [
      'a deadline that is none',
      () => send({ metadata: { 'urn:agent-network:invoke': { deadline: 'soon' } } }),
      -32_602,
    ],
    [
      'a payment that is none',
      () => send({ metadata: { [STATUS]: 'payment-submitted', 'x402.payment.payload': 7 } }),
      -32_602,
    ],
    ['a payment that is missing', () => send({ metadata: { [STATUS]: 'payment-submitted' } }), -32_602],
    ['a payment declined for no task', () => send({ metadata: { [STATUS]: 'payment-rejected' } }), -32_602],
    ['a null character in the text', () => send({ parts: [{ text: 'a\u0000b' }] }), -32_602],
  ];
  const named = cases.map(([name, body, code, headers = v1]) => ({ name, body, code, headers }));
  it.each(named)('$name', async ({ body, code, headers }) => {
    const before = await balanceOf(h, buyer.key);
    const answer = await rpc(body(), { key: buyer.key, headers });
    expect(answer).toMatchObject({ jsonrpc: '2.0', error: { code, message: expect.any(String) } });
    expect(answer).not.toHaveProperty('result');
    expect(answer.error.message).not.toMatch(/Invalid input|Invalid option|Too (big|small)|expected/);
    expect(await balanceOf(h, buyer.key)).toEqual(before);
  });

  it('over HTTP+JSON too', async () => {
    const rest = (method: string, at: string, options: Any = {}) =>
      h.request(method, pathOf() + at, { key: buyer.key, headers: v1, ...options });
    const before = await balanceOf(h, buyer.key);
    const answers = [
      await rest('POST', '/message:send', {
        body: { message: message() },
        headers: { 'content-type': 'application/json' },
      }),
      await rest('POST', '/message:send', { body: [] }),
      await rest('POST', '/message:send', { text: '{' }),
      await rest('POST', '/message:send', { text: 'x', headers: { ...v1, 'content-type': 'text/plain' } }),
      await rest('GET', '/tasks/%ff%fe'),
      await rest('GET', '/tasks/%2e%2e%2f'),
      await rest('GET', '/tasks?pageSize=1e9'),
      await rest('GET', '//'),
      await rest('PUT', '/tasks/x'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 404, 404, 400, 404, 405]);
    for (const { body } of answers) {
      expect(body.error.message).toEqual(expect.any(String));
      expect(body.error.details[0].reason).toEqual(expect.any(String));
    }
    expect(await balanceOf(h, buyer.key)).toEqual(before);
  });

  it('an unknown agent, and another method than POST', async () => {
    const unknown = await h.request('POST', '/a2a/agt_none', { key: buyer.key, headers: v1, body: send() });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, -30_404]);
    const got = await h.request('GET', pathOf(), { key: buyer.key });
    expect([got.status, got.headers.get('allow'), got.body.error.code]).toEqual([405, 'POST', -32_600]);
  });
});

describe("another caller's task is not found", () => {
  const operations = (id: string) => [
    envelope('GetTask', { id }),
    envelope('CancelTask', { id }),
    envelope('SubscribeToTask', { id }),
    send({ taskId: id }),
    send({ taskId: id, metadata: { [STATUS]: 'payment-rejected' } }),
  ];
  const expectNone = async (id: string, sendings: readonly Sending[]) => {
    for (const sending of sendings)
      for (const operation of operations(id)) expect((await rpc(operation, sending)).error?.code).toBe(-32_001);
  };

  it('whether it ran or waits for its payment', async () => {
    const { task } = (await rpc(send(), { key: buyer.key })).result;
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    const strangers = [{ key: other.key }, { key: second.identityToken }, {}, { key: buyer.key, agent: second }];
    await expectNone(task.id, strangers);
    const listed = async (sending: Sending) => (await rpc(envelope('ListTasks', {}), sending)).result?.tasks;
    expect(await listed({ key: other.key })).toEqual([]);
    expect(await listed({ key: buyer.key, agent: second })).toEqual([]);

    const poor = await h.newAccount();
    const unpaid = await waiting({ key: poor.key });
    await expectNone(unpaid.id, [...strangers, { key: poor.key, agent: second }]);
    const status = 'TASK_STATE_INPUT_REQUIRED';
    const [mine] = (await rpc(envelope('ListTasks', { status }), { key: poor.key })).result.tasks;
    expect(mine.id).toBe(unpaid.id);
    expect((await rpc(envelope('ListTasks', { status }), { key: other.key })).result.tasks).toEqual([]);
    expect((await rpc(envelope('ListTasks', {}))).error.code).toBe(-30_401);
  });
});

it('a storm of one message is one purchase', async () => {
  const before = Number((await balanceOf(h, buyer.key)).available);
  const calls = echo.calls.length;
  const again = { ...send(), id: 'storm' };
  const answers = await Promise.all(Array.from({ length: 8 }, () => rpc(again, { key: buyer.key })));
  // Those that come while the first one is being started may be told so.
  const ids = answers.map(({ result, error }) => result?.task.id ?? error.code);
  const { task } = (await rpc(again, { key: buyer.key })).result;
  expect(new Set(ids.filter((id) => id !== -30_409))).toEqual(new Set([task.id]));
  expect(echo.calls.length - calls).toBe(1);
  expect(Number((before - Number((await balanceOf(h, buyer.key)).available)).toFixed(6))).toBe(0.05);
});
