import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contradictions } from '../../support/books.ts';
import { type Harness, type RequestOptions, send } from '../../support/harness.ts';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { joinNode, startJoinableHarness, startMortalNode } from '../stream/support/second-node.ts';
import { openSse } from '../stream/support/sse-client.ts';

let h: Harness;
let agent: TestAgent;
let client: Client;
/** What came to the agent beside its endpoint. */
const aside: string[] = [];
beforeAll(async () => {
  h = await startJoinableHarness();
  agent = await startTestAgent(h, {
    perRequest: '0.05',
    aside(request, response) {
      request.resume();
      aside.push(`${request.method} ${request.url}`);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ status: 'input_required', input: { message: 'Which?' } }));
    },
  });
});
beforeEach(async () => {
  agent.calls.length = 0;
  aside.length = 0;
  client = await newClient(h, '1.00');
});
afterEach(async () => expect(await contradictions(h.databaseUrl)).toEqual([]));
afterAll(async () => {
  await agent.die();
  await h.stop();
});

type Host = Pick<Harness, 'request'>;
const asksOnce: Behaviour = (request, response) =>
  (request.body.answers
    ? answerWith(200, { result: request.body.answers[0].message })
    : answerWith(200, { status: 'input_required', input: { message: 'Which?' } }))(request, response);
const start = async (host: Host = h, more: object = {}, options: RequestOptions = {}) =>
  (
    await host.request('POST', `/invoke/${agent.id}`, {
      ...{ key: client.key, body: { task: 'x', interactive: true, ...more } },
      ...options,
    })
  ).body.data as RequestRecord;
const read = async (requestId: string, host: Host = h): Promise<RequestRecord> =>
  (await host.request('GET', `/invoke/${requestId}`, { key: client.key })).body.data;
const untilAsked = (requestId: string) =>
  until(async () => {
    const record = await read(requestId);
    return record.status === 'input_required' ? record : null;
  });
const answer = ({ requestId, inputRequest }: RequestRecord, message: string, host: Host = h) =>
  host.request('POST', `/invoke/${requestId}/input`, {
    ...{ key: client.key, body: { inputId: inputRequest?.inputId, action: 'accept', message } },
  });

describe('a stream', () => {
  const events = (said: readonly (readonly [string, object])[]) =>
    said.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join('');
  const streams: Behaviour = (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      request.body.answers
        ? events([
            ['chunk', { chunk: 'one' }],
            ['chunk', { chunk: 'three' }],
            ['result', { result: 'done' }],
          ])
        : events([
            ['chunk', { chunk: 'one' }],
            ['input_required', { input: { message: 'Which?' }, state: { at: 1 } }],
          ]),
    );
  };

  it('ends with the question, answers 204 while it waits, and goes on after the answer, each event once', async () => {
    agent.behave(streams);
    const body = { task: 'x', stream: true, interactive: true };
    const stream = await openSse(h, 'POST', `/invoke/${agent.id}`, { key: client.key, body });
    const first = await stream.rest();
    expect(first.map(({ id, type }) => [id, type])).toEqual([
      [1, 'invocation.created'],
      [2, 'invocation.status'],
      [3, 'invocation.chunk'],
      [4, 'invocation.input_required'],
    ]);
    const { requestId, inputRequest } = first[3]?.data ?? {};
    expect(inputRequest).toMatchObject({ message: 'Which?', turn: 1 });
    const events = (after: number) => `/invoke/${requestId}/events?after=${after}`;
    const waiting = await fetch(h.baseUrl + events(4), { headers: { authorization: `Bearer ${client.key}` } });
    expect(waiting.status).toBe(204);
    const late = await openSse(h, 'GET', events(0), { key: client.key });
    expect((await late.rest()).map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    await answer({ requestId, inputRequest } as RequestRecord, 'This.');
    const rest = await openSse(h, 'GET', events(4), { key: client.key });
    expect((await rest.rest()).map(({ id, type, data }) => [id, type, data.chunk])).toEqual([
      [5, 'invocation.chunk', 'one'],
      [6, 'invocation.chunk', 'three'],
      [7, 'invocation.completed', undefined],
    ]);
    expect(agent.calls[1]?.body.state).toEqual({ at: 1 });
    const whole = await openSse(h, 'GET', events(0), { key: client.key });
    expect((await whole.rest()).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('declined after output was shown, is paid for what was shown', async () => {
    agent.behave((request, response) =>
      (request.body.answers ? answerWith(422, { error: { message: 'No.' } }) : streams)(request, response),
    );
    const body = { task: 'x', stream: true, interactive: true };
    const stream = await openSse(h, 'POST', `/invoke/${agent.id}`, { key: client.key, body });
    const { requestId, inputRequest } = (await stream.rest()).at(-1)?.data ?? {};
    await h.request('POST', `/invoke/${requestId}/input`, {
      ...{ key: client.key, body: { inputId: inputRequest.inputId, action: 'decline' } },
    });
    const ended = await untilEnded(h, client.key, requestId);
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'input_declined' }, cost: '0.05', refund: '0.00' });
  });

  it('of a reader at another process ends with the question as well', async () => {
    const other = await joinNode(h);
    let ask = () => {};
    agent.behave(async (request, response) => {
      if (!request.body.answers) await new Promise<void>((resolve) => (ask = resolve));
      await asksOnce(request, response);
    });
    const { requestId } = await start();
    const stream = await openSse(other, 'GET', `/invoke/${requestId}/events`, { key: client.key });
    await stream.take(2);
    ask();
    expect((await stream.rest()).map(({ type }) => type)).toEqual(['invocation.input_required']);
    await answer(await untilAsked(requestId), 'This.', other);
    expect(await untilEnded(h, client.key, requestId)).toMatchObject({ status: 'completed', result: 'This.' });
  });
});

describe('an agent that answered 202', () => {
  it('asks at its status URL, and is told there when nobody answers', async () => {
    agent.behave(answerWith(202, { status_url: '/status/7' }));
    const { requestId } = await start(h, { inputTimeout: 60 });
    const record = await untilAsked(requestId);
    expect(record.inputRequest?.message).toBe('Which?');
    await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    const isTold = async () => aside.includes('DELETE /status/7');
    await until(isTold);
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
  });
});

describe('two processes', () => {
  it('with one answer each: one counts, and the agent is called once with it', async () => {
    const other = await joinNode(h);
    agent.behave(asksOnce);
    const record = await untilAsked((await start()).requestId);
    const answers = await Promise.all([answer(record, 'A'), answer(record, 'B', other)]);
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, 409]);
    const ended = await untilEnded(h, client.key, record.requestId);
    expect(ended.result).toBe(answers[0]?.status === 200 ? 'A' : 'B');
    expect(agent.calls).toHaveLength(2);
  });

  it('of which one dies after the answer: the other calls the agent under the same key, for one charge', async () => {
    const mortal = await startMortalNode(h);
    const host = { request: mortal.request };
    agent.behave((request, response) => {
      if (!request.body.answers) return asksOnce(request, response);
    });
    const record = await untilAsked((await start(host)).requestId);
    expect((await answer(record, 'A', host)).status).toBe(200);
    const isCalled = async () => agent.calls.length === 2;
    await until(isCalled);
    agent.behave(asksOnce);
    await mortal.kill();
    expect(await untilEnded(h, client.key, record.requestId)).toMatchObject({ status: 'completed', result: 'A' });
    expect(agent.calls.map(({ headers }) => headers['idempotency-key'])).toEqual([
      ...[record.requestId, `${record.requestId}:2`, `${record.requestId}:2`],
    ]);
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
  });

  it('of which one dies while nobody has answered: nothing runs, and the other takes the answer', async () => {
    const mortal = await startMortalNode(h);
    agent.behave(asksOnce);
    const record = await untilAsked((await start({ request: mortal.request })).requestId);
    await mortal.kill();
    expect((await answer(record, 'A')).status).toBe(200);
    expect(await untilEnded(h, client.key, record.requestId)).toMatchObject({ status: 'completed', result: 'A' });
    expect(agent.calls).toHaveLength(2);
  });

  it('of which one is older: it takes no interactive call, neither queued nor of a dead process', async () => {
    const { db } = h.ctx;
    const old = '11111111-1111-4111-8111-111111111111';
    await db.query('add-old', `insert into process (id, label, schema_version) values ($1, 'old', 154)`, [old]);
    agent.behave(asksOnce);
    const { requestId } = await untilAsked((await start()).requestId);
    const take = `update invocation set worker = $2 where id = $1 returning id`;
    expect(await db.query('take-as-old', take, [requestId, old])).toEqual([]);
    const { requestId: plain } = await start(h, { interactive: undefined });
    expect(await db.query('take-as-old', take, [plain, old])).toHaveLength(1);
    await db.query('drop-old', 'update invocation set worker = null where worker = $1', [old]);
    await db.query('drop-old-process', 'delete from process where id = $1', [old]);
    await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
  });
});

describe('a caller without a key', () => {
  it('answers and cancels by the answerToken, in a header alone; the resultToken only reads', async () => {
    agent.behave(asksOnce);
    const buy = async () => {
      const path = `/x402/${agent.id}`;
      const body = { task: 'x', interactive: true };
      const wallet = await h.newWallet(1_000_000n);
      const unpaid = await send(h.baseUrl, 'POST', path, { body });
      const paid = await send(h.baseUrl, 'POST', path, { body, headers: await payV2(h, wallet, unpaid) });
      return paid.body.data as RequestRecord & { resultToken: string; answerToken: string };
    };
    const record = await buy();
    expect(record).toMatchObject({ status: 'input_required', inputRequest: { message: 'Which?' } });
    const path = `/invoke/${record.requestId}/input`;
    const body = { inputId: record.inputRequest?.inputId, action: 'accept', message: 'A' };
    const tries = [
      await send(h.baseUrl, 'POST', path, { body }),
      await send(h.baseUrl, 'POST', path, { body, headers: { 'x-result-token': record.resultToken } }),
      await send(h.baseUrl, 'POST', path, { body, headers: { 'x-answer-token': `ana_${'x'.repeat(43)}` } }),
      await send(h.baseUrl, 'POST', `${path}?answerToken=${record.answerToken}`, { body }),
    ];
    expect(tries.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    const answered = await send(h.baseUrl, 'POST', path, { body, headers: { 'x-answer-token': record.answerToken } });
    expect(answered.status).toBe(200);
    const reading = { headers: { 'x-result-token': record.resultToken } };
    const ended = await until(async () => {
      const { data } = (await send(h.baseUrl, 'GET', `/invoke/${record.requestId}`, reading)).body;
      return data.completedAt === null ? null : data;
    });
    expect([ended.status, ended.result, ended.answerToken]).toEqual(['completed', 'A', undefined]);

    const other = await buy();
    const cancel = `/invoke/${other.requestId}/cancel`;
    expect((await send(h.baseUrl, 'POST', cancel, { headers: { 'x-answer-token': record.answerToken } })).status).toBe(
      401,
    );
    const cancelled = await send(h.baseUrl, 'POST', cancel, { headers: { 'x-answer-token': other.answerToken } });
    expect(cancelled.body.data).toMatchObject({ cancelled: true, refund: '0.05' });
  });
});
