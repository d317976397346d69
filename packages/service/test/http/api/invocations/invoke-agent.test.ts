import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../../../support/books.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { newClient, untilEnded } from '../../../support/treasury.ts';
import { databaseDigest } from '../support/database-digest.ts';
import { expectError } from '../support/expect-error.ts';

const clock = fixedClock(new Date());
let h: Harness;
let owner: TestAccount;
let client: TestAccount;
let free: TestAgent;
let priced: TestAgent;
beforeAll(async () => {
  h = await startHarness({ clock });
  owner = await h.newAccount();
  [free, priced, client] = await Promise.all([
    startTestAgent(h, { owner, perRequest: '0' }),
    startTestAgent(h, { owner, perRequest: '0.05' }),
    newClient(h, '100'),
  ]);
});
afterAll(async () => {
  await Promise.all([free.die(), priced.die()]);
  await h.stop();
});
afterEach(async () => {
  free.behave(echo);
  priced.behave(echo);
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});

interface Options {
  to?: TestAgent;
  query?: string;
  headers?: Record<string, string>;
  key?: string;
}
const invoke = (
  body: object = {},
  { to = free, query = '', headers = { 'x-sync': 'true' }, key = client.key }: Options = {},
) => h.request('POST', `/invoke/${to.id}${query}`, { key, body: { task: 'hello', ...body }, headers });
const inMinutes = (minutes: number) => new Date(clock.now().getTime() + minutes * 60_000).toISOString();

async function expectRefused(body: object, field: string, options?: Options): Promise<void> {
  const [digest, calls] = [await databaseDigest(h), free.calls.length + priced.calls.length];
  expectError(await invoke(body, options), 'VALIDATION_ERROR', field);
  expect(await databaseDigest(h)).toEqual(digest);
  expect(free.calls.length + priced.calls.length).toBe(calls);
}

it('a webhookUrl to which the node sends nothing is refused before the agent is called or paid', async () => {
  for (const webhookUrl of [
    'http://169.254.169.254/latest/',
    'http://me:secret@127.0.0.1:9/',
    'http://[fd00:ec2::254]/',
  ]) {
    await expectRefused({ webhookUrl }, 'webhookUrl', { to: priced });
    const digest = await databaseDigest(h);
    const body = { task: 'hello', agents: [priced.id], webhookUrl };
    expectError(await h.request('POST', '/invoke/bulk', { key: client.key, body }), 'VALIDATION_ERROR', 'webhookUrl');
    expect(await databaseDigest(h)).toEqual(digest);
  }
});

describe('the call that the agent receives', () => {
  it('is the call with everything that the caller said, under the id of the request', async () => {
    const deadline = inMinutes(5);
    const said = {
      input: { a: [1, { b: null }] },
      context: 'Some context.',
      priority: 'high',
      metadata: { client_id: 'c' },
    };
    const { data } = (await invoke({ ...said, deadline }, { to: priced })).body;
    const call = priced.calls.at(-1);
    expect(call?.body).toEqual({
      ...said,
      request_id: data.requestId,
      agent_id: priced.id,
      task: 'hello',
      deadline,
      max_spend: '0.05',
      stream: false,
    });
    expect(call?.headers).toMatchObject({
      'idempotency-key': data.requestId,
      'x-request-id': data.requestId,
      'x-deadline': deadline,
    });
    expect(call?.headers['webhook-signature']).toMatch(/^v1,/);
    expect(data).toMatchObject({
      status: 'completed',
      priority: 'high',
      metadata: { client_id: 'c' },
      deadline,
      agentId: priced.id,
    });
  });

  it('never includes the key of the caller', async () => {
    await invoke({}, { headers: { 'x-sync': 'true', cookie: 'a=b', 'x-forwarded-for': '1.2.3.4' } });
    const sent = JSON.stringify(free.calls.at(-1));
    expect(sent).not.toContain(client.key);
    expect(sent).not.toContain('1.2.3.4');
  });
});

describe('maxCost', () => {
  it.each(['maxCost', 'max_cost', 'max_spend'])(
    'as %s below the price is refused, at the price it is enough',
    async (name) => {
      await expectRefused({ [name]: '0.049999' }, 'maxCost', { to: priced });
      expect((await invoke({ [name]: '0.05' }, { to: priced })).body.data).toMatchObject({ cost: '0.05' });
    },
  );

  it('in several forms must be one value', async () => {
    await expectRefused({ maxCost: '1', max_cost: '2' }, 'maxCost');
    await expectRefused({ max_spend: '1', max_cost: '2' }, 'maxCost');
    expect((await invoke({ maxCost: '1', max_cost: '1', max_spend: '1' })).status).toBe(200);
  });

  it('is what an agent that asks for more gets at most, and less is what it says', async () => {
    priced.behave(answerWith(200, { result: 1, cost: '99' }));
    expect((await invoke({}, { to: priced })).body.data).toMatchObject({ cost: '0.05', refund: '0.00' });
    priced.behave(answerWith(200, { result: 1, cost: '0.020001' }));
    expect((await invoke({}, { to: priced })).body.data).toMatchObject({ cost: '0.020001', refund: '0.029999' });
    priced.behave(answerWith(200, { result: 1, cost: '0' }));
    expect((await invoke({}, { to: priced })).body.data).toMatchObject({ cost: '0.00', refund: '0.05' });
  });
});

describe('a deadline', () => {
  it.each([
    ['that has passed', () => inMinutes(-1)],
    ['that is now', () => inMinutes(0)],
    ['beyond 24 hours', () => inMinutes(24 * 60 + 1)],
    ['in the year 9999', () => '9999-12-31T23:59:59Z'],
    ['in the year 0', () => '0000-01-01T00:00:00Z'],
    ['without a zone', () => inMinutes(5).slice(0, -1)],
    ['on a day that does not exist', () => '2027-02-30T00:00:00Z'],
  ])('%s is refused', async (_what, deadline) => expectRefused({ deadline: deadline() }, 'deadline'));

  it('may be written in any zone, is at most 24 hours away, and by default in five minutes for a caller that waits, else in ten', async () => {
    const local = new Date(clock.now().getTime() + 10 * 60_000 + 3 * 3_600_000).toISOString().replace('Z', '+03:00');
    expect((await invoke({ deadline: local })).body.data.deadline).toBe(inMinutes(10));
    expect((await invoke({ deadline: inMinutes(24 * 60) })).status).toBe(200);
    expect((await invoke({})).body.data.deadline).toBe(inMinutes(5));
    expect((await invoke({}, { headers: {} })).body.data.deadline).toBe(inMinutes(10));
  });
});

describe('the answer to the caller', () => {
  it('without X-Sync: the created shape, and the record when it is asked for', async () => {
    for (const headers of [{}, { 'x-sync': 'false' }]) {
      const { data } = (await invoke({}, { headers })).body;
      expect(data).toEqual({
        requestId: expect.stringMatching(/^req_/),
        status: 'processing',
        estimatedCost: '0.00',
        estimatedTime: expect.stringMatching(/^\d+-\d+s$/),
        deadline: inMinutes(10),
        agentId: free.id,
        requestedAgentId: null,
        createdAt: clock.now().toISOString(),
      });
      expect(await untilEnded(h, client.key, data.requestId)).toMatchObject({
        status: 'completed',
        result: { echo: 'hello' },
      });
    }
  });

  it.each([null, false, 0, '', [], {}, 'text', [1, [2, { a: null }]], 1e21])(
    'a result of %j is kept as it is',
    async (result) => {
      free.behave(answerWith(200, { result }));
      const { data } = (await invoke()).body;
      expect(data).toMatchObject({ status: 'completed', result });
      expect((await h.request('GET', `/invoke/${data.requestId}`, { key: client.key })).body.data).toEqual(data);
    },
  );

  it.each([
    ['no JSON', 'not json'],
    ['no result', { answer: 1 }],
    ['a list', [1]],
    ['a cost that is no amount', { result: 1, cost: 5 }],
    ['a negative cost', { result: 1, cost: '-1' }],
    ['a cost of seven decimals', { result: 1, cost: '0.0000001' }],
  ])('an agent that answers with %s has failed, and costs nothing', async (_what, answer) => {
    priced.behave(answerWith(200, answer));
    const { data } = (await invoke({}, { to: priced })).body;
    expect(data).toMatchObject({
      status: 'failed',
      cost: '0.00',
      refund: '0.05',
      result: null,
      error: { code: 'invalid_response' },
    });
  });

  it('is kept from everybody else', async () => {
    const { data } = (await invoke()).body;
    const stranger = await h.newAccount();
    expectError(await h.request('GET', `/invoke/${data.requestId}`, { key: stranger.key }), 'NOT_FOUND');
    expectError(await h.request('GET', `/invoke/${data.requestId}`, { key: owner.key }), 'NOT_FOUND');
    expectError(await h.request('GET', `/invoke/${data.requestId}`, { key: free.identityToken }), 'NOT_FOUND');
  });
});

describe('the usual mistakes are answered with what to do', () => {
  const post = (headers: Record<string, string>, body: string) =>
    fetch(`${h.baseUrl}/invoke/${priced.id}`, { method: 'POST', headers, body }).then(async (answer) => {
      const { error } = (await answer.json()) as { error: { message: string; help?: object } };
      return { status: answer.status, ...error };
    });
  const keyed = () => ({ authorization: `Bearer ${client.key}` });
  const json = { 'content-type': 'application/json' };

  it('without a key: where a wallet alone is enough', async () => {
    const { status, message, help } = await post(json, '{"task":"x"}');
    expect([status, message]).toEqual([
      401,
      `Send "Authorization: Bearer <API key>"; or call without a key, paid by a wallet: POST /x402/${priced.id}.`,
    ]);
    expect(help).toMatchObject({ docs: '/docs/paying#keyless' });
    expect((await post({ ...json, 'x-api-key': client.key }, '{"task":"x"}')).message).toBe(
      'Send "Authorization: Bearer <API key>", not X-API-Key.',
    );
  });

  it.each([
    ['', json, 'Invalid request: body is required (an object).'],
    ['{"task":', json, 'Invalid request: body is not valid JSON: it ends too early.'],
    [
      'task=x',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'Invalid request: body is not valid JSON: send application/json instead of application/x-www-form-urlencoded.',
    ],
    [
      '\u001f\u008b',
      { ...json, 'content-encoding': 'gzip' },
      'Invalid request: body is not valid JSON: send it without a Content-Encoding.',
    ],
    ['{}', json, 'Invalid request: task is required (a string).'],
    [
      '{"tsk":"x"}',
      json,
      'Invalid request: task is required (a string); tsk is not a field of this call: did you mean task?',
    ],
  ])('a body of %j', async (body, headers, message) => {
    expect(await post({ ...keyed(), ...headers }, body)).toMatchObject({ status: 400, message });
  });
});
