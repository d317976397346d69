import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../../support/books.ts';
import { beforeDeadline } from '../../support/deadline.ts';
import type { Harness, TestAccount } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, newClient, untilEnded, untilUsdc } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { openSse } from './support/sse-client.ts';
import { type Conversation, chunk, progress, result, type Said, spokenBy } from './support/streaming-agent.ts';

let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
let spoken: ReturnType<typeof spokenBy>;
beforeAll(async () => {
  h = await borrowHarness();
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0.05' });
  spoken = spokenBy();
  agent.behave(spoken.behaviour);
});
afterAll(async () => {
  await agent.die();
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

const change = async (body: object) =>
  expect((await h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body })).status).toBe(200);
const cancel = (key: string, id: string) => h.request('POST', `/invoke/${id}/cancel`, { key });

/** The text of the stream's events, from its first to where it stands, or to the end. */
async function readChunks(key: string, id: string, count: number): Promise<unknown[]> {
  const stream = await openSse(h, 'GET', `/invoke/${id}/events`, { key });
  const found: unknown[] = [];
  while (found.length < count) {
    const next = await stream.next();
    if (!next || /completed|failed|cancelled/.test(next.type)) break;
    if (next.type === 'invocation.chunk' || next.data.message) found.push(next.data);
  }
  await stream.hangUp();
  return found;
}

interface Course {
  readonly said: readonly Said[];
  readonly end: (call: Conversation, key: string, id: string) => unknown;
  /** True: with a deadline that comes soon. */
  readonly isBrief?: boolean;
}

/** Starts a call, has its agent say something that its caller reads, and ends it; null: its deadline came before that was read. */
async function goOnce({ said, end }: Course, body: object) {
  const { key } = await newClient(h, '1.00');
  const sent = { task: 'x', stream: true, ...body };
  const { data } = (await h.request('POST', `/invoke/${agent.id}`, { key, body: sent })).body;
  if (!data) return null;
  const { requestId } = data;
  const call = await spoken.next();
  for (const each of said) call.say(each);
  const shown = said.filter(({ event }) => event === 'chunk').length;
  if (shown > 0 && (await readChunks(key, requestId, shown)).length < shown) return null;
  await end(call, key, requestId);
  const record = await untilEnded(h, key, requestId);
  call.end();
  const { available, held } = await balanceOf(h, key);
  return { key, requestId, record, left: [available, held] };
}

async function goThrough(course: Course) {
  if (course.isBrief) return beforeDeadline(4000, (deadline) => goOnce(course, { deadline }));
  const gone = await goOnce(course, {});
  if (!gone) throw new Error('the call ended before its output was read');
  return gone;
}

const cancels: Course['end'] = async (_call, key, id) => expect((await cancel(key, id)).status).toBe(200);
const waits = () => undefined;
const fails: Course['end'] = (call) => call.say({ event: 'error', data: { error: { code: 'E', message: 'no luck' } } });
const breaks: Course['end'] = (call) => call.end();
const some = [chunk('first'), chunk('second')];

describe('output shown to a caller is paid, no matter who ends the call', () => {
  it.each<[string, Course, string]>([
    ['cancels after it read chunks', { said: some, end: cancels }, '0.05'],
    ['cancels before there was any', { said: [], end: cancels }, '0.00'],
    ['lets a short deadline pass after it read chunks', { said: some, end: waits, isBrief: true }, '0.05'],
    ['lets a short deadline pass before there was any', { said: [], end: waits, isBrief: true }, '0.00'],
    ['cancels after it was told how far the work is', { said: [progress({ percent: 9 })], end: cancels }, '0.00'],
    ['is told an error after it read chunks', { said: some, end: fails }, '0.00'],
    ['is told no result after it read chunks', { said: some, end: breaks }, '0.00'],
  ])('a caller that %s', async (_name, course, cost) => {
    const { record, left } = await goThrough(course);
    const [refund, available] = cost === '0.05' ? ['0.00', '0.95'] : ['0.05', '1.00'];
    expect([record.cost, record.refund, left]).toEqual([cost, refund, [available, '0.00']]);
  });

  it('progress that carries the work is output', async () => {
    const said = [progress({ message: 'w'.repeat(300) })];
    const end: Course['end'] = async (call, key, id) => {
      expect(await readChunks(key, id, 1)).toHaveLength(1);
      await cancels(call, key, id);
    };
    expect((await goThrough({ said, end })).record).toMatchObject({ status: 'cancelled', cost: '0.05' });
  });

  it('at the share that its owner states, which quote and offer tell, and a quote locks', async () => {
    await change({ metadata: { shownShare: 41 } });
    const { key } = await newClient(h, '1.00');
    const body = { task: 'x', stream: true };
    const quote = (await h.request('POST', `/invoke/${agent.id}/quote`, { key, body: { task: 'x' } })).body.data;
    const unpaid = await h.request('POST', `/x402/${agent.id}`, { body: { task: 'x' } });
    expect([quote.endedEarly, JSON.stringify(unpaid.body)]).toEqual(['0.0205', expect.stringContaining('0.0205 USDC')]);
    expect((await goThrough({ said: some, end: cancels })).record).toMatchObject({ cost: '0.0205', refund: '0.0295' });
    await change({ metadata: { shownShare: null } });
    const { requestId } = (await h.request('POST', quote.acceptUrl, { key, body })).body.data;
    const call = await spoken.next();
    call.say(chunk('first'));
    await readChunks(key, requestId, 1);
    expect((await cancel(key, requestId)).body.data).toMatchObject({ refund: '0.0295' });
    call.end();
  });

  it('by x402 as well: the wallet gets back what was not shown', async () => {
    const { key } = await h.newAccount();
    await change({ metadata: { shownShare: 40 } });
    const wallet = await h.newWallet(1_000_000n);
    const body = { task: 'x', stream: true, webhookUrl: 'http://127.0.0.1:1/never' };
    const headers = await payV2(h, wallet, await h.request('POST', `/invoke/${agent.id}`, { key, body }));
    const { requestId } = (await h.request('POST', `/invoke/${agent.id}`, { key, body, headers })).body.data;
    const call = await spoken.next();
    call.say(chunk('first'));
    await readChunks(key, requestId, 1);
    expect((await cancel(key, requestId)).body.data).toMatchObject({ refund: '0.03' });
    expect(await untilUsdc(h, wallet.address, 980_000n)).toBe(980_000n);
    call.end();
    await change({ metadata: { shownShare: null } });
  });

  it('a cancellation and a chunk race once: what is readable is what was charged', async () => {
    const { key } = await newClient(h, '2.00');
    const outcomes = new Set<string>();
    for (let race = 0; race < 16; race++) {
      const body = { task: 'x', stream: true };
      const { requestId } = (await h.request('POST', `/invoke/${agent.id}`, { key, body })).body.data;
      const call = await spoken.next();
      const saying = (async () => call.say(chunk('work')))();
      await Promise.all([saying, cancel(key, requestId)]);
      const record = await untilEnded(h, key, requestId);
      const chunks = await readChunks(key, requestId, 1);
      expect(record.cost).toBe(chunks.length === 0 ? '0.00' : '0.05');
      outcomes.add(record.cost ?? '');
      call.end();
    }
    expect(outcomes.size).toBeGreaterThan(0);
  });

  it('its owner sees which calls ended so, and how often the same caller did', async () => {
    const { key } = await newClient(h, '1.00');
    for (let time = 0; time < 2; time++) {
      const body = { task: 'x', stream: true };
      const { requestId } = (await h.request('POST', `/invoke/${agent.id}`, { key, body })).body.data;
      const call = await spoken.next();
      call.say(chunk('work'));
      await readChunks(key, requestId, 1);
      await cancel(key, requestId);
      call.end();
    }
    const { calls } = (await h.request('GET', `/agents/${agent.id}/calls?limit=5`, { key: owner.key })).body.data;
    expect(calls.slice(0, 2)).toMatchObject([
      { status: 'cancelled', endedEarly: true, callerEndedEarly: 2 },
      { status: 'cancelled', endedEarly: true, callerEndedEarly: 2 },
    ]);
    expect(JSON.stringify(calls)).not.toContain(key);
  });
});

describe('chunks of an agent that promises a schema', () => {
  const types = { outputSchema: { type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] } };
  beforeAll(() => change({ types }));
  const ended = async (key: string, id: string) => readChunks(key, id, 9);

  it('are shown once its result was found to fit, and not before', async () => {
    const { key, requestId, record } = await goThrough({
      said: [],
      end: async (call, key, id) => {
        for (const each of [...some, progress({ message: 'nearly' })]) call.say(each);
        const written = async () => {
          const [row] = await h.ctx.db.query<{ n: bigint }>(
            'count-said',
            'select count(*) as n from invocation_chunk where invocation_id = $1',
            [id],
          );
          return row?.n === 3n ? row : null;
        };
        await until(written);
        const stream = await openSse(h, 'GET', `/invoke/${id}/events`, { key });
        const first = [await stream.next(), await stream.next()];
        expect(first.map((each) => each?.type)).toEqual(['invocation.created', 'invocation.status']);
        call.say(result({ words: 2 }));
        expect((await stream.next())?.type).toBe('invocation.chunk');
        await stream.hangUp();
      },
    });
    expect(record).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(await ended(key, requestId)).toHaveLength(3);
  });

  it.each<[string, Course['end'], string]>([
    ['ends with what does not fit', (call) => call.say(result('x')), 'failed'],
    ['is cancelled', cancels, 'cancelled'],
  ])('are never shown of a call that %s, which costs nothing', async (_name, end, status) => {
    const { key, requestId, record, left } = await goThrough({
      said: [],
      end: async (call, key, id) => {
        for (const each of some) call.say(each);
        await end(call, key, id);
      },
    });
    expect([record.status, record.cost, left]).toEqual([status, '0.00', ['1.00', '0.00']]);
    expect(await ended(key, requestId)).toEqual([]);
  });

  it('are shown as they come where its owner says so, and are paid', async () => {
    await change({ metadata: { showsUnjudged: true } });
    expect((await goThrough({ said: some, end: cancels })).record).toMatchObject({ cost: '0.05' });
    const invalid = await goThrough({ said: some, end: (call) => call.say(result('x')) });
    expect(invalid.record).toMatchObject({ error: { code: 'result_invalid' }, cost: '0.00', refund: '0.05' });
  });
});
