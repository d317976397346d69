import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contradictions } from '../../../support/books.ts';
import type { Harness } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../../support/treasury.ts';
import { until } from '../../../support/until.ts';
import { paymentOf } from '../../../support/x402-payer.ts';
import { type Any, envelope, message, rawClient, STATUS, v1 } from './raw-client.ts';
import { stockClients } from './stock-clients.ts';

let h: Harness;
let agent: TestAgent;
let buyer: Client;

const asksForDay: Behaviour = (request, response) => {
  const given = request.body.answers ?? [];
  if (given.at(-1)?.action === 'decline')
    return answerWith(422, { error: { message: 'It needs a day.' } })(request, response);
  const asked = [{ message: 'Which day?', schema }, { message: 'At what time?' }][given.length];
  if (asked) return answerWith(200, { status: 'input_required', input: asked })(request, response);
  return answerWith(200, { result: { day: given[0].input.day, time: given[1].message } })(request, response);
};
const schema = { type: 'object', properties: { day: { enum: ['Monday', 'Friday'] } }, required: ['day'] };

beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
beforeEach(async () => {
  agent.behave(asksForDay);
  agent.calls.length = 0;
  buyer = await newClient(h, '1.00');
});
afterAll(async () => {
  await agent?.die();
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h?.stop();
});

const url = () => `${h.baseUrl}/a2a/${agent.id}`;
const bearer = () => ({ authorization: `Bearer ${buyer.key}` });
const INPUT = 'urn:agent-network:input';
const failure = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.fail('it was answered'),
    (error) => error as Error,
  );
const all = async <T>(events: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
};
const { rpc } = rawClient(() => ({ h, agent }));

describe.each(stockClients)('%s', (_name, connect) => {
  it('is asked twice, answers by text and by data, and has one result at one price', async () => {
    const client = await connect(url(), bearer());
    const messageId = randomUUID();
    const first = await client.send({ text: 'Book a table', messageId });
    expect(first).toMatchObject({ state: 'input-required', history: [['user', messageId]] });
    expect(first.asked).toEqual([
      ['text', 'Which day?'],
      ['data', { schema }],
    ]);
    expect(first.metadata).toEqual({
      [INPUT]: { inputId: expect.stringMatching(/^inp_/), turn: 1, expiresAt: expect.any(String) },
    });
    expect(await client.get(first.id)).toEqual(first);
    expect(await balanceOf(h, buyer.key)).toEqual({ available: '0.95', held: '0.05' });

    const other = { text: 'Monday', taskId: first.id, contextId: 'another' };
    expect((await failure(client.send(other))).message).toMatch(/context/);
    const wrong = { data: { day: 'Sunday' }, taskId: first.id };
    expect((await failure(client.send(wrong))).message).toMatch(/input\.day/);
    const said = { text: 'Monday', taskId: first.id, messageId: randomUUID() };
    const second = await client.send(said);
    expect(second).toMatchObject({ id: first.id, state: 'input-required', asked: [['text', 'At what time?']] });
    // The same message again is no answer to the next question.
    expect(await client.send(said)).toEqual(second);
    const named = { [INPUT]: second.metadata[INPUT] };
    const last = { data: {}, text: 'Noon', taskId: first.id, metadata: named, messageId: randomUUID() };
    const ended = await client.send(last);
    expect(ended).toMatchObject({ state: 'completed', data: { day: 'Monday', time: 'Noon' }, ours: { cost: '0.05' } });
    expect(ended.history).toEqual([
      ['user', messageId],
      ['agent', `${first.id}-question-1`],
      ['user', said.messageId],
      ['agent', `${first.id}-question-2`],
      ['user', last.messageId],
    ]);
    expect(await client.send(last)).toEqual(ended);
    expect((await failure(client.send({ text: 'Late', taskId: first.id }))).message).toMatch(
      /further messages|not supported/,
    );
    expect(agent.calls).toHaveLength(3);
    expect(await balanceOf(h, buyer.key)).toEqual({ available: '0.95', held: '0.00' });
  });

  it('declines, and gets its money back', async () => {
    const client = await connect(url(), bearer());
    const { id } = await client.send({ text: 'Book a table' });
    const declined = await client.send({ data: { action: 'decline' }, taskId: id });
    expect(declined).toMatchObject({ id, state: 'failed', metadata: { code: 'input_declined', refund: '0.05' } });
    expect(await balanceOf(h, buyer.key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('cancels a task that waits', async () => {
    const client = await connect(url(), bearer());
    const { id } = await client.send({ text: 'Book a table' });
    expect(await client.cancel(id)).toMatchObject({ id, state: 'canceled' });
    await failure(client.send({ text: 'Monday', taskId: id }));
    expect(await balanceOf(h, buyer.key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('streams to each question, and from each answer on', async () => {
    agent.behave((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: chunk\ndata: one\n\n');
      response.end(
        request.body.answers
          ? 'event: result\ndata: {"result":"done"}\n\n'
          : 'event: input_required\ndata: {"input":{"message":"Which?"}}\n\n',
      );
    });
    const client = await connect(url(), bearer());
    const first = await all(client.stream({ text: 'go' }));
    const id = first[0]?.[2] ?? '';
    expect(first.slice(-2)).toEqual([
      ['stream', 'one', id],
      ['status', 'input-required', id],
    ]);
    expect((await all(client.follow(id))).at(-1)?.[1]).toBe('input-required');
    const rest = await all(client.stream({ text: 'This.', taskId: id }));
    expect(rest.slice(1)).toEqual([
      ['stream-2', 'one', id],
      ['result', 'done', id],
      ['status', 'completed', id],
    ]);
  });

  it('is sent to a link, and says when it is done', async () => {
    const link = 'https://bank.example/approve?id=1';
    agent.behave((request, response) =>
      (request.body.answers
        ? answerWith(200, { result: 'paid' })
        : answerWith(200, { status: 'input_required', input: { message: 'Approve.', url: link } }))(request, response),
    );
    const client = await connect(url(), bearer());
    const asked = await client.send({ text: 'Pay' });
    expect(asked).toMatchObject({
      state: 'auth-required',
      asked: [
        ['text', 'Approve.'],
        ['url', link],
      ],
    });
    expect(await client.send({ text: 'Done.', taskId: asked.id })).toMatchObject({ state: 'completed', text: 'paid' });
  });

  it('without a key answers and cancels by the answer token alone', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const client = await connect(url());
    const buy = async () => {
      const unpaid = await client.send({ text: 'Book a table' });
      const payload = await paymentOf(h, wallet, unpaid.metadata['x402.payment.required']);
      const metadata = { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payload };
      return client.send({ text: 'Here.', taskId: unpaid.id, metadata });
    };
    const asked = await buy();
    expect(asked).toMatchObject({ state: 'input-required', answerToken: expect.stringMatching(/^ana_/) });
    expect(asked.metadata).not.toHaveProperty('x402.payment.status');
    const { id, answerToken } = asked;
    await failure(client.send({ text: 'Monday', taskId: id }));
    await failure(client.send({ text: 'Monday', taskId: id, metadata: withToken(`ana_${'x'.repeat(43)}`) }));
    const read = await client.get(id, { 'X-Result-Token': asked.ours.resultToken });
    expect([read.state, read.answerToken]).toEqual(['input-required', undefined]);
    const next = await client.send({ text: 'Friday', taskId: id, metadata: withToken(answerToken) });
    expect(next).toMatchObject({ state: 'input-required', asked: [['text', 'At what time?']] });
    const ended = await client.send({ text: 'Noon', taskId: id, metadata: withToken(answerToken) });
    expect(ended).toMatchObject({ state: 'completed', data: { day: 'Friday', time: 'Noon' } });

    const other = await buy();
    await failure(client.cancel(other.id, answerToken));
    expect(await client.cancel(other.id, other.answerToken)).toMatchObject({ state: 'canceled' });
    expect(await until(async () => ((await h.usdcOf(wallet.address)) === 950_000n ? true : null))).toBe(true);
  });
});

const withToken = (token: string | undefined) => ({ 'urn:agent-network:answer-token': token });
const call = (method: string, params: object, key = buyer.key, headers = {}): Promise<Any> =>
  rpc(envelope(method, params), { key, headers: { ...v1, ...headers } });
const send = (more: object = {}, key = buyer.key): Promise<Any> => call('SendMessage', { message: message(more) }, key);

it('a task whose question nobody answers fails, refunded, and takes no late answer', async () => {
  const metadata = { 'urn:agent-network:invoke': { inputTimeout: 1 } };
  const { task } = (await send({ metadata })).result;
  expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  const ended = await until(async () => {
    const { result } = await call('GetTask', { id: task.id });
    return result.status.state === 'TASK_STATE_FAILED' ? result : null;
  });
  expect(ended.status.message.metadata).toMatchObject({ code: 'input_timeout', refund: '0.05' });
  const late = await send({ taskId: task.id, parts: [{ data: { day: 'Monday' } }] });
  expect(late.error.code).toBe(-32_004);
  expect(agent.calls).toHaveLength(1);
  expect(await balanceOf(h, buyer.key)).toEqual({ available: '1.00', held: '0.00' });
});

it('two answers at once are one; a payment is none, and a stranger has none', async () => {
  const { task } = (await send()).result;
  const metadata = { [STATUS]: 'payment-submitted', 'x402.payment.payload': {} };
  expect((await send({ taskId: task.id, metadata })).error.code).toBe(-32_004);
  const stranger = await newClient(h, '1.00');
  expect((await send({ taskId: task.id }, stranger.key)).error.code).toBe(-32_001);
  const answers = await Promise.all(
    ['Monday', 'Friday'].map((day) => send({ taskId: task.id, parts: [{ data: { day } }] })),
  );
  expect(answers.map(({ error }) => error?.code ?? 0).sort()).toEqual([-32_004, 0]);
  expect(agent.calls).toHaveLength(2);
});

it('tasks that wait are listed by their state, those that wait for their payment among them', async () => {
  const link = answerWith(200, { status: 'input_required', input: { message: 'x', url: 'https://bank.example/' } });
  const ids: string[] = [];
  for (const behaviour of [asksForDay, link, asksForDay]) {
    agent.behave(behaviour);
    ids.push((await send()).result.task.id);
  }
  const unpaid = await call('SendMessage', { message: message() }, buyer.key, { 'x-payment-method': 'x402' });
  ids.push(unpaid.result.task.id);
  const list = async (state: string, more: object = {}) => {
    const { result } = await call('ListTasks', { status: `TASK_STATE_${state}`, ...more });
    return { ids: result.tasks.map(({ id }: Any) => id), token: result.nextPageToken };
  };
  const waiting = [ids[3], ids[2], ids[0]];
  expect(await list('INPUT_REQUIRED')).toEqual({ ids: waiting, token: '' });
  expect(await list('AUTH_REQUIRED')).toEqual({ ids: [ids[1]], token: '' });
  expect((await list('WORKING')).ids).toEqual([]);
  const seen: string[] = [];
  for (let pageToken: string | null = ''; pageToken !== null; ) {
    const page = await list('INPUT_REQUIRED', { pageSize: 1, ...(pageToken === '' ? {} : { pageToken }) });
    seen.push(...page.ids);
    pageToken = page.token === '' ? null : page.token;
  }
  expect(seen).toEqual(waiting);
});
