import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findMoneyContradictions } from '../../../src/calls/finish/audit-money.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';

let h: Harness;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  h = await startHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
beforeEach(async () => {
  agent.calls.length = 0;
  client = await newClient(h, '1.00');
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await findMoneyContradictions(h.ctx)).toEqual([]);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const schema = { type: 'object', properties: { day: { enum: ['Monday', 'Friday'] } }, required: ['day'] };
const question = { id: 'day', message: 'Which day?', schema };
const asked = (input: object, state?: unknown) =>
  answerWith(200, { status: 'input_required', input, ...(state === undefined ? {} : { state }) });

/** Asks for the day, and does the work with the answer. */
const asksForDay: Behaviour = (request, response) => {
  const [given] = request.body.answers ?? [];
  if (!given) return asked(question, { step: 1 })(request, response);
  if (given.action === 'decline')
    return answerWith(422, { error: { code: 'no_day', message: 'It needs a day.' } })(request, response);
  return answerWith(200, { result: { booked: given.input.day } })(request, response);
};

const invoke = async (more: Record<string, unknown> = {}, behaviour: Behaviour = asksForDay) => {
  agent.behave(behaviour);
  const body = { task: 'Book a table', interactive: true, ...more };
  const { status, body: answer } = await h.request('POST', `/invoke/${agent.id}`, {
    ...{ key: client.key, body, headers: { 'x-sync': 'true' } },
  });
  expect(status).toBe(200);
  return answer.data as RequestRecord;
};
const answer = (record: RequestRecord, given: object, key: string | undefined = client.key) =>
  h.request('POST', `/invoke/${record.requestId}/input`, {
    ...(key === undefined ? {} : { key }),
    body: { inputId: record.inputRequest?.inputId, action: 'accept', ...given },
  });
const monday = { input: { day: 'Monday' } };

describe('a question', () => {
  it('is shown with its request, which keeps its hold, and its answer leads to one result at the price', async () => {
    const record = await invoke();
    expect(record).toMatchObject({
      status: 'input_required',
      turn: 1,
      inputRequest: { turn: 1, kind: 'input', message: 'Which day?', schema },
      turns: [{ turn: 1, message: 'Which day?', answeredAt: null, action: null }],
      ...{ completedAt: null, cost: null, refund: null },
    });
    expect(record.deadline).toBe(record.inputRequest?.expiresAt);
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.05' });
    const { status, body } = await answer(record, { ...monday, message: 'At noon.' });
    expect([status, body.data.turn, body.data.inputRequest]).toEqual([200, 2, undefined]);
    const ended = await untilEnded(h, client.key, record.requestId);
    expect(ended).toMatchObject({ status: 'completed', result: { booked: 'Monday' }, cost: '0.05', turn: 2 });
    expect(ended.turns).toMatchObject([{ turn: 1, action: 'accept', answeredAt: expect.any(String) }]);
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.95', held: '0.00' });
    const [first, second] = agent.calls.map(({ headers, body: sent }) => ({
      ...{ key: headers['idempotency-key'], turn: sent.turn, answers: sent.answers, state: sent.state },
      interactive: sent.interactive,
    }));
    expect(first).toEqual({ key: record.requestId, interactive: true });
    expect(second).toEqual({
      ...{ key: `${record.requestId}:2`, turn: 2, state: { step: 1 }, interactive: true },
      answers: [{ id: 'day', action: 'accept', input: { day: 'Monday' }, message: 'At noon.' }],
    });
    expect(agent.calls).toHaveLength(2);
  });

  it('is answered once: the same answer again changes nothing, another one is refused', async () => {
    const record = await invoke();
    const answers = await Promise.all([answer(record, monday), answer(record, monday)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await untilEnded(h, client.key, record.requestId);
    expect((await answer(record, monday)).body.data.status).toBe('completed');
    const other = await answer(record, { input: { day: 'Friday' } });
    expect([other.status, other.body.error.code]).toEqual([409, 'INPUT_ALREADY_ANSWERED']);
    expect(agent.calls).toHaveLength(2);
  });

  it('waits on for an answer that fits, and counts as declined after twenty that do not', async () => {
    const record = await invoke();
    const wrong = { input: { day: 'Sunday' } };
    const first = await answer(record, wrong);
    expect([first.status, first.body.error.code, first.body.error.details.fields[0].path]).toEqual([
      ...[400, 'VALIDATION_ERROR', 'input.day'],
    ]);
    for (let nth = 2; nth < 20; nth++) expect((await answer(record, wrong)).status).toBe(400);
    expect((await h.request('GET', `/invoke/${record.requestId}`, { key: client.key })).body.data.status).toBe(
      'input_required',
    );
    expect((await answer(record, wrong)).body.error.message).toContain('declined');
    expect(await untilEnded(h, client.key, record.requestId)).toMatchObject({
      ...{ status: 'failed', error: { code: 'input_declined' }, refund: '0.05' },
    });
  });

  it('is declined: the agent is told, and its failure is a refund that does not count against it', async () => {
    const record = await invoke();
    expect((await answer(record, { action: 'decline' })).status).toBe(200);
    const ended = await untilEnded(h, client.key, record.requestId);
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'input_declined' }, cost: '0.00', refund: '0.05' });
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
    const outcomes = await askDatabase(h.databaseUrl, 'select from outcome where request_id = $1', [record.requestId]);
    expect(outcomes).toEqual([]);
  });

  it('that nobody answers ends the request: refunded, and a late answer is told so', async () => {
    const record = await invoke({ inputTimeout: 1 });
    const ended = await untilEnded(h, client.key, record.requestId);
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'input_timeout' }, cost: '0.00', refund: '0.05' });
    const late = await answer(record, monday);
    expect([late.status, late.body.error.code]).toEqual([409, 'INPUT_EXPIRED']);
    expect(await balanceOf(h, client.key)).toEqual({ available: '1.00', held: '0.00' });
    expect(agent.calls).toHaveLength(1);
  });

  it('ends with the request that its caller cancels', async () => {
    const record = await invoke();
    const cancelled = await h.request('POST', `/invoke/${record.requestId}/cancel`, { key: client.key });
    expect(cancelled.body.data).toMatchObject({ cancelled: true, refund: '0.05' });
    const late = await answer(record, monday);
    expect([late.status, late.body.error]).toMatchObject([
      409,
      { code: 'INPUT_NOT_REQUIRED', details: { status: 'cancelled' } },
    ]);
  });

  it('is for its caller: not for another account, nobody without a key, nor the agent', async () => {
    const record = await invoke();
    const stranger = await h.newAccount();
    const reader = (
      await h.request('POST', '/account/keys', { key: client.key, body: { name: 'reads', scopes: ['payments:read'] } })
    ).body.data.apiKey;
    const statuses = await Promise.all(
      [stranger.key, agent.identityToken, reader].map(async (key) => (await answer(record, monday, key)).status),
    );
    expect(statuses).toEqual([404, 404, 403]);
    expect(
      (await h.request('POST', `/invoke/${record.requestId}/input`, { body: { inputId: 'x', action: 'accept' } }))
        .status,
    ).toBe(401);
    expect(
      (await answer({ ...record, inputRequest: undefined }, { ...monday, inputId: 'inp_other' })).body.error.code,
    ).toBe('INPUT_NOT_REQUIRED');
    expect(agent.calls).toHaveLength(1);
  });

  it('of a call that is not interactive fails it as before: agent_needs_input, refunded', async () => {
    const record = await invoke({ interactive: undefined });
    expect(record).toMatchObject({
      ...{ status: 'failed', error: { code: 'agent_needs_input' }, refund: '0.05' },
    });
    expect(record.error?.message).toContain('Which day?');
    expect(Object.keys(record)).not.toContain('turn');
    expect(agent.calls[0]?.body).not.toHaveProperty('interactive');
  });

  it('after the eighth answered one ends the call', async () => {
    let record = await invoke({}, (request, response) =>
      asked({ message: `Question ${(request.body.answers?.length ?? 0) + 1}?` })(request, response),
    );
    for (let turn = 1; turn <= 8; turn++) {
      expect(record.inputRequest?.message).toBe(`Question ${turn}?`);
      const { requestId } = record;
      expect((await answer(record, { message: 'Yes.' })).status).toBe(200);
      record = await until(async () => {
        const now: RequestRecord = (await h.request('GET', `/invoke/${requestId}`, { key: client.key })).body.data;
        return now.status === 'processing' ? null : now;
      });
    }
    expect(record).toMatchObject({ status: 'failed', error: { code: 'agent_needs_input' }, refund: '0.05', turn: 9 });
  });

  it.each([
    ['without a message', { id: 'x' }],
    ['of more than 4 KiB', { message: 'x'.repeat(4097) }],
    [
      'for a password',
      { message: 'x', schema: { type: 'object', properties: { p: { type: 'string', format: 'password' } } } },
    ],
    ['with a schema of no object', { message: 'x', schema: { type: 'string' } }],
    [
      'with a schema that is none',
      { message: 'x', schema: { type: 'object', properties: { a: { type: 'nothing' } } } },
    ],
    ['with a schema of more than 16 KiB', { message: 'x', schema: { type: 'object', title: 'x'.repeat(16_384) } }],
    ['with a link into a private network', { message: 'x', url: 'https://10.0.0.1/' }],
    ['with a link that is not https', { message: 'x', url: 'http://example.com/' }],
    ['with hidden characters', { message: 'a\u202eb' }],
    ['with a timeout that is no number', { message: 'x', timeout: 'soon' }],
  ])('%s is no valid answer of the agent: refunded', async (_, input) => {
    const record = await invoke({}, asked(input));
    expect(record).toMatchObject({ status: 'failed', error: { code: 'invalid_response' }, refund: '0.05' });
  });

  it('with a state of more than 16 KiB is no valid answer of the agent', async () => {
    const record = await invoke({}, asked({ message: 'x' }, 'x'.repeat(16_384)));
    expect(record.error?.code).toBe('invalid_response');
  });

  it('may be a link, which is shown and never opened', async () => {
    const url = 'https://bank.example/approve?id=1';
    const record = await invoke({}, (request, response) =>
      (request.body.answers ? answerWith(200, { result: 'paid' }) : asked({ message: 'Approve.', url }))(
        request,
        response,
      ),
    );
    expect(record.inputRequest).toMatchObject({ kind: 'link', url });
    expect((await answer(record, {})).status).toBe(200);
    expect(await untilEnded(h, client.key, record.requestId)).toMatchObject({ status: 'completed', result: 'paid' });
  });
});

describe('time', () => {
  it('of a question does not count: the time to run goes on where it stopped, with at least 30 s', async () => {
    const record = await invoke({ deadline: new Date(Date.now() + 5_000).toISOString(), inputTimeout: 600 });
    expect(Date.parse(record.deadline) - Date.now()).toBeGreaterThan(500_000);
    const { body } = await answer(record, monday);
    const leftMs = Date.parse(body.data.deadline) - Date.now();
    expect(leftMs).toBeGreaterThan(25_000);
    expect(leftMs).toBeLessThanOrEqual(30_000);
    await untilEnded(h, client.key, record.requestId);
  });

  it('to answer is the shorter of what the caller and the agent give', async () => {
    const waitS = async (inputTimeout: number | undefined, timeout: number | undefined) => {
      const { inputRequest, requestId } = await invoke(
        inputTimeout === undefined ? {} : { inputTimeout },
        asked({ message: 'x', ...(timeout === undefined ? {} : { timeout }) }),
      );
      await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
      const { createdAt = '', expiresAt = '' } = inputRequest ?? {};
      return Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000);
    };
    expect(await waitS(undefined, undefined)).toBe(3600);
    expect(await waitS(60, 120)).toBe(60);
    expect(await waitS(600, 30)).toBe(30);
    // At most a day from the call on, less the time to run after an answer.
    expect(await waitS(86_400, undefined)).toBeLessThanOrEqual(86_370);
  });

  it('to answer needs an interactive call', async () => {
    const { status, body } = await h.request('POST', `/invoke/${agent.id}`, {
      ...{ key: client.key, body: { task: 'x', inputTimeout: 60 } },
    });
    expect([status, body.error.details.fields[0]]).toEqual([
      400,
      { path: 'inputTimeout', message: 'needs interactive: true' },
    ]);
  });
});

describe('a request that waits', () => {
  it('takes no place of the running ones, and is listed by its own status', async () => {
    const record = await invoke();
    expect(h.ctx.runner.trackedIds()).not.toContain(record.requestId);
    const list = async (status: string) =>
      (await h.request('GET', `/invoke/history?status=${status}`, { key: client.key })).body.data;
    expect(await list('input_required')).toMatchObject({ total: 1, requests: [{ requestId: record.requestId }] });
    expect((await list('processing')).total).toBe(0);
    expect((await list('cancelled')).total).toBe(0);
    await answer(record, monday);
    await untilEnded(h, client.key, record.requestId);
    expect((await list('input_required')).total).toBe(0);
  });

  it('is an event of the account, with its question as it was', async () => {
    const record = await invoke();
    await answer(record, monday);
    await untilEnded(h, client.key, record.requestId);
    const { events } = (await h.request('GET', '/events?limit=100', { key: client.key })).body.data;
    const told = events.filter(({ type }: { type: string }) => type === 'invocation.input_required');
    expect(told).toMatchObject([
      { data: { status: 'input_required', inputRequest: { inputId: record.inputRequest?.inputId } } },
    ]);
  });

  it('loses its questions and answers with its contents, and their bytes are given back', async () => {
    const record = await invoke();
    await answer(record, monday);
    await untilEnded(h, client.key, record.requestId);
    const past = "update invocation set completed_at = completed_at - interval '400 days' where id = $1";
    await askDatabase(h.databaseUrl, past, [record.requestId]);
    const { forgetContents } = await import('../../../src/calls/storage.ts');
    await forgetContents(h.ctx);
    const rows = await askDatabase(h.databaseUrl, 'select from invocation_turn where request_id = $1', [
      record.requestId,
    ]);
    expect(rows).toEqual([]);
    const after = (await h.request('GET', `/invoke/${record.requestId}`, { key: client.key })).body.data;
    expect([after.status, after.turns, after.turn]).toEqual(['completed', undefined, 2]);
  });
});
