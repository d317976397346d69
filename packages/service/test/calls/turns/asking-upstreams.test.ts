import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findMoneyContradictions } from '../../../src/calls/finish/audit-money.ts';
import { recoverInvocations } from '../../../src/calls/run/recover-invocations.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { startA2aUpstream } from '../protocols/support/a2a-upstream.ts';
import { startA2a03Upstream } from '../protocols/support/a2a-upstream-03.ts';
import { startMcpUpstream } from '../protocols/support/mcp-upstream.ts';
import { startMipUpstream } from '../protocols/support/mip-upstream.ts';
import {
  type AskedOfCaller,
  type Listed,
  listUpstream,
  type Seen,
  type TestUpstream,
} from '../protocols/support/upstream.ts';

// Agents behind other protocols than the node's own that ask their callers back.

let h: Harness;
let client: Client;
beforeAll(async () => {
  h = await borrowHarness();
  client = await newClient(h, '5.00');
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await findMoneyContradictions(h.ctx)).toEqual([]);
});
afterAll(() => h.stop());

interface Row {
  readonly name: string;
  start(): Promise<TestUpstream>;
  /** True for a request that brings an answer. */
  isAnswer(seen: Seen): boolean;
  /** True if the agent is told that a question has no answer. */
  readonly cancels: boolean;
  /** True if what an earlier process sent is found at the agent. */
  readonly resumes: boolean;
  /** True if a question may consist of several. */
  readonly asksSeveral?: boolean;
  /** A question in the fields of the protocol, which has no schemas and no links then. */
  inFields?(question: AskedOfCaller): object;
}

const rows: readonly Row[] = [
  {
    name: 'A2A 1.0',
    start: startA2aUpstream,
    isAnswer: ({ body }) => body?.method?.startsWith('Send') && body.params.message.taskId !== undefined,
    cancels: true,
    resumes: true,
  },
  {
    name: 'A2A 0.3',
    start: startA2a03Upstream,
    isAnswer: ({ body }) => body?.method?.startsWith('message/') && body.params.message.taskId !== undefined,
    cancels: true,
    resumes: true,
  },
  {
    name: 'MCP',
    start: () => startMcpUpstream(),
    isAnswer: ({ body }) => body?.method === 'tools/call' && body.params.inputResponses !== undefined,
    cancels: false,
    resumes: false,
    asksSeveral: true,
  },
  {
    name: 'MCP with tasks',
    start: () => startMcpUpstream({ hasTasks: true }),
    isAnswer: ({ body }) => body?.method === 'tasks/update',
    cancels: true,
    resumes: true,
    asksSeveral: true,
  },
  {
    name: 'MIP-003',
    start: startMipUpstream,
    isAnswer: ({ path }) => path === '/masumi/provide_input',
    cancels: false,
    resumes: true,
    inFields: (question) => ({
      message: question.message,
      input_schema: {
        input_data: question === day ? [{ id: 'day', type: 'radio', data: { values: ['Monday', 'Friday'] } }] : [],
      },
    }),
  },
];

const schema = {
  type: 'object',
  properties: { day: { type: 'string', enum: ['Monday', 'Friday'] } },
  required: ['day'],
};
const day: AskedOfCaller = { message: 'Which day?', schema };
const monday = { input: { day: 'Monday' } };

const hostile: readonly (readonly [string, AskedOfCaller])[] = [
  ['a link that is not https', { message: 'Approve.', url: 'http://bank.example/' }],
  ['a link into a private network', { message: 'Approve.', url: 'https://192.168.0.1/' }],
  ['more than 4 KiB', { message: 'x'.repeat(4097) }],
  ['hidden characters', { message: 'a\u202eb' }],
  ['a schema for a password', { message: 'x', schema: { type: 'object', properties: { p: { format: 'password' } } } }],
  ['a schema that is none', { message: 'x', schema: { type: 'object', properties: { a: { type: 'nothing' } } } }],
  ['a schema of more than 16 KiB', { message: 'x', schema: { type: 'object', title: 'x'.repeat(16_384) } }],
];

describe.each(rows)(
  'an agent behind $name that asks back',
  ({ start, isAnswer, cancels, resumes, asksSeveral = false, inFields }) => {
    let site: TestUpstream;
    let agent: Listed;
    beforeAll(async () => {
      site = await start();
      agent = await listUpstream(h, site);
    });
    afterAll(() => site.stop());

    const ask = async (
      more: object = {},
      questions: readonly AskedOfCaller[] = [day],
      headers: object = { 'x-sync': 'true' },
    ) => {
      site.work.length = 0;
      site.seen.length = 0;
      const asked = questions.map((question) => ({ ...question, mip: inFields?.(question) ?? {} }));
      site.mode = { kind: 'asks', questions: asked };
      const body = { task: 'Hello', interactive: true, ...more };
      const answer = await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body, headers: { ...headers } });
      return answer.body.data as RequestRecord;
    };
    const read = async (requestId: string): Promise<RequestRecord> =>
      (await h.request('GET', `/invoke/${requestId}`, { key: client.key })).body.data;
    const answer = (record: RequestRecord, given: object) =>
      h.request('POST', `/invoke/${record.requestId}/input`, {
        ...{ key: client.key, body: { inputId: record.inputRequest?.inputId, action: 'accept', ...given } },
      });
    const untilAsked = (requestId: string, turn: number) =>
      until(async () => {
        const record = await read(requestId);
        return record.status === 'input_required' && record.turn === turn ? record : null;
      });
    /** A task of MCP is answered beside the call. */
    const sendsKeys = !(resumes && asksSeveral);
    const isToldToEnd = () => site.seen.some(({ body }) => /cancel/i.test(body?.method));
    const answersSent = () => site.seen.filter(isAnswer).length;
    const ended = (requestId: string) => untilEnded(h, client.key, requestId);

    it('has its question shown, gets the answer, and is paid its price once', async () => {
      const record = await ask();
      expect(record).toMatchObject({
        ...{ status: 'input_required', turn: 1, cost: null },
        inputRequest: { kind: 'input', message: 'Which day?', schema },
      });
      expect((await answer(record, { ...monday, message: 'At noon.' })).status).toBe(200);
      const done = await ended(record.requestId);
      expect(done).toMatchObject({ status: 'completed', cost: '0.05', turn: 2 });
      expect(JSON.stringify(done.result)).toMatch(/Hello!.*Monday/);
      expect(answersSent()).toBe(1);
      const keys = site.seen.filter(isAnswer).map(({ headers }) => headers['idempotency-key']);
      expect(keys).toEqual([sendsKeys ? `${record.requestId}:2` : undefined]);
    });

    it('may ask twice', async () => {
      const { requestId } = await ask({}, [day, { message: 'At what time?' }]);
      await answer(await untilAsked(requestId, 1), monday);
      const second = await untilAsked(requestId, 2);
      expect(second.inputRequest?.message).toBe('At what time?');
      await answer(second, { input: { time: 'noon' } });
      const done = await ended(requestId);
      expect(done).toMatchObject({ status: 'completed', cost: '0.05', turn: 3 });
      expect(JSON.stringify(done.result)).toMatch(/Monday.*noon/);
      expect(answersSent()).toBe(2);
    });

    it.runIf(asksSeveral)('may ask several questions at once, which are one with a property for each', async () => {
      const url = 'https://bank.example/';
      const others = [{ message: 'How many?', schema: { type: 'object', properties: { n: { type: 'integer' } } } }];
      const record = await ask({}, [{ ...day, others: [...others, { message: 'Sign here.', url }] }]);
      const q01 = { description: 'How many?', ...others[0]?.schema };
      expect(record.inputRequest).toMatchObject({
        ...{ kind: 'link', url, message: 'Which day?\n\nHow many?\n\nSign here.' },
        schema: {
          type: 'object',
          properties: { q00: { ...schema, description: 'Which day?' }, q01 },
          required: ['q00', 'q01'],
        },
      });
      expect((await answer(record, { input: { q00: monday.input } })).status).toBe(400);
      await answer(record, { input: { q00: monday.input, q01: { n: 2 } } });
      const done = await ended(record.requestId);
      const accepted = (content: object) => ({ action: 'accept', content });
      const responses = { q00: accepted(monday.input), q01: accepted({ n: 2 }), q02: { action: 'accept' } };
      expect(done).toMatchObject({
        status: 'completed',
        result: { text: `shout: Hello! ${JSON.stringify(responses)}` },
      });
    });

    it('is told that the answer is declined: its failure is a refund', async () => {
      const record = await ask();
      expect((await answer(record, { action: 'decline' })).status).toBe(200);
      expect(await ended(record.requestId)).toMatchObject({
        ...{ status: 'failed', error: { code: 'input_declined' }, cost: '0.00', refund: '0.05' },
      });
    });

    it.skipIf(inFields)('may ask for an act at a link, which nobody opens', async () => {
      const url = 'https://bank.example/approve?id=1';
      const record = await ask({}, [{ message: 'Approve the booking.', url }]);
      expect(record.inputRequest).toMatchObject({ kind: 'link', url, message: 'Approve the booking.' });
      expect((await answer(record, {})).status).toBe(200);
      expect(await ended(record.requestId)).toMatchObject({ status: 'completed', cost: '0.05' });
    });

    it.each(hostile.filter(([, question]) => !inFields || !(question.url || question.schema)))(
      'with %s has not answered: refunded, and its work is cancelled',
      async (_name, question) => {
        const before = (await balanceOf(h, client.key)).available;
        const record = await ask({}, [question]);
        expect(record).toMatchObject({ status: 'failed', error: { code: 'invalid_response' }, refund: '0.05' });
        expect((await balanceOf(h, client.key)).available).toBe(before);
        if (cancels) await expect.poll(isToldToEnd).toBe(true);
      },
    );

    it('fails a call that is not interactive', async () => {
      const record = await ask({ interactive: undefined });
      expect(record).toMatchObject({ status: 'failed', error: { code: 'agent_needs_input' }, refund: '0.05' });
      expect(Object.keys(record)).not.toContain('turn');
    });

    it('streams up to its question, and on behind it', async () => {
      site.mode = { kind: 'asks', questions: [{ ...day, mip: inFields?.(day) ?? {} }] };
      const body = { task: 'Hello', interactive: true, stream: true };
      const accept = { accept: 'text/event-stream' };
      const first = await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body, headers: accept });
      expect(first.body).toContain('event: invocation.input_required');
      expect(first.body).not.toContain('event: invocation.completed');
      const requestId = /"requestId":"(req_\w+)"/.exec(first.body)?.[1] ?? '';
      await answer(await untilAsked(requestId, 1), monday);
      expect(await ended(requestId)).toMatchObject({ status: 'completed', cost: '0.05' });
      const all = await h.request('GET', `/invoke/${requestId}/events`, { key: client.key, headers: accept });
      expect(all.body).toMatch(/event: invocation\.input_required[\s\S]*Monday/);
      expect(all.body).toContain('event: invocation.completed');
    });

    it.runIf(cancels)('hears that nobody waits for its question any more', async () => {
      const cancelled = await ask();
      await h.request('POST', `/invoke/${cancelled.requestId}/cancel`, { key: client.key });
      await expect.poll(isToldToEnd).toBe(true);
      const silent = await ask({ inputTimeout: 1 });
      expect(await ended(silent.requestId)).toMatchObject({ error: { code: 'input_timeout' }, refund: '0.05' });
      await expect.poll(isToldToEnd).toBe(true);
    });

    /** Answers, and has the writes of this process void from then on, as those of a dead one. */
    const loseAfter = async (record: RequestRecord, isReached: () => boolean) => {
      await answer(record, monday);
      await until(async () => isReached());
      const takeAway = 'update invocation set attempt = attempt + 1, worker = gen_random_uuid() where id = $1';
      await askDatabase(h.databaseUrl, takeAway, [record.requestId]);
      site.mode = { kind: 'works' };
      await until(async () => !h.ctx.runner.trackedIds().includes(record.requestId));
    };

    it.runIf(resumes)('gets an answer once that a process had sent when it died', async () => {
      const record = await ask();
      site.mode = { kind: 'pends' };
      await loseAfter(record, () => answersSent() === 1);
      await recoverInvocations(h.ctx);
      const done = await ended(record.requestId);
      expect([done.status, answersSent()]).toEqual(['completed', 1]);
      expect(JSON.stringify(done.result)).toContain('Monday');
    });

    it.runIf(resumes)('gets an answer that a process was about to send when it died', async () => {
      const record = await ask();
      await noteAsSent(record);
      await answer(record, monday);
      const done = await ended(record.requestId);
      expect([done.status, answersSent()]).toEqual(['completed', 1]);
    });

    it.skipIf(resumes)(
      'is not sent an answer that a process may have sent when it died: refunded at the deadline',
      async () => {
        const record = await ask();
        await noteAsSent(record);
        await answer(record, monday);
        const takeAway = `update invocation set attempt = attempt + 1, worker = gen_random_uuid(),
      deadline = now() + interval '1 second' where id = $1`;
        await askDatabase(h.databaseUrl, takeAway, [record.requestId]);
        h.ctx.runner.abort(record.requestId);
        await until(async () => !h.ctx.runner.trackedIds().includes(record.requestId));
        await recoverInvocations(h.ctx);
        const done = await ended(record.requestId);
        expect(done).toMatchObject({ status: 'failed', error: { code: 'deadline_exceeded' }, refund: '0.05' });
        expect(answersSent()).toBe(0);
      },
    );
  },
);

/** A process has noted that it sends the answer, and has died before it did. */
async function noteAsSent({ requestId }: RequestRecord): Promise<void> {
  const noted = `insert into upstream_call (request_id, turn, sent_at, handle)
    select request_id, 2, now(), handle from invocation_turn where request_id = $1 and turn = 1`;
  await askDatabase(h.databaseUrl, noted, [requestId]);
}

it('a server of MCP that only wants its state back gets it, in calls of their own', async () => {
  const site = await startMcpUpstream();
  const agent = await listUpstream(h, site);
  const results = [
    { resultType: 'input_required', requestState: 'one' },
    { resultType: 'input_required', requestState: 'two' },
    { content: [{ type: 'text', text: 'done' }] },
  ];
  site.mode = {
    kind: 'says',
    status: 200,
    get text() {
      const { id } = site.work.at(-1)?.body ?? {};
      return JSON.stringify({ jsonrpc: '2.0', id, result: results[site.work.length - 1] });
    },
  };
  const called = await h.request('POST', `/invoke/${agent.id}`, {
    ...{ key: client.key, body: { task: 'Hello' }, headers: { 'x-sync': 'true' } },
  });
  expect(called.body.data).toMatchObject({ status: 'completed', result: { text: 'done' }, cost: '0.05' });
  expect(site.work.map(({ body }) => body.params.requestState)).toEqual([undefined, 'one', 'two']);
  expect(new Set(site.work.map(({ body }) => body.id)).size).toBe(3);
  await site.stop();
});
