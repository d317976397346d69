import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beforeDeadline } from '../../support/deadline.ts';
import type { Harness } from '../../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { countStalls } from '../../support/watch.ts';
import { joinNode, startJoinableHarness } from './support/second-node.ts';
import { openSse, problemWithStream } from './support/sse-client.ts';

let h: Harness;
const agents: TestAgent[] = [];

beforeAll(async () => {
  h = await startJoinableHarness();
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  await h.stop();
});

const json = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
const finished = { result: { all: 'done' }, cost: '0.02' };

/** An agent that goes on with its work, and a client of it who can pay for one call. */
async function newWork() {
  /** What came to the status URL, and what it answers. */
  const asked: { method: string; url: string; atMs: number }[] = [];
  let answer = (response: ServerResponse): unknown => json(response, 200, { status: 'processing' });
  const [agent, client] = await Promise.all([
    startTestAgent(h, {
      perRequest: '0.05',
      behaviour: answerWith(202, { status_url: '/status/7' }),
      aside(request, response) {
        request.resume();
        asked.push({ method: request.method ?? '', url: request.url ?? '', atMs: performance.now() });
        if (request.method === 'DELETE') response.end();
        else answer(response);
      },
    }),
    newClient(h, '0.05'),
  ]);
  agents.push(agent);
  return {
    agent,
    client,
    asked,
    answer: (next: typeof answer) => {
      answer = next;
    },
    start: async (host: Pick<Harness, 'request'> = h, body: object = {}): Promise<string> =>
      (await host.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x', ...body } })).body.data
        ?.requestId,
    ended: (id: string) => untilEnded(h, client.key, id),
    cancel: (id: string) => h.request('POST', `/invoke/${id}/cancel`, { key: client.key }),
    balance: () => balanceOf(h, client.key),
    async untilAsked(count: number, method = 'GET') {
      const isAsked = async () => asked.filter((each) => each.method === method).length >= count;
      await until(isAsked);
    },
  };
}

/** Beside each other: each waits for the next question, at an agent of its own. */
describe.concurrent('an agent that answers 202', () => {
  it.for([
    ['a path', () => '/status/7', 3],
    ['a path relative to the endpoint', () => 'status/7?a=1', 1],
    ['a whole URL', (endpoint: string) => new URL('/status/7', endpoint).href, 1],
  ] as const)(
    'is asked at its status_url, given as %s, until it has the result',
    async ([, urlAt, times], { expect }) => {
      const { agent, asked, ...work } = await newWork();
      const statusUrl = urlAt(agent.endpoint);
      agent.behave(answerWith(202, { status_url: statusUrl }));
      const all: [number, unknown][] = [
        [202, { status_url: '/elsewhere' }],
        [200, { status: 'processing' }],
        [200, finished],
      ];
      const answers = all.slice(-times);
      work.answer((response) => json(response, ...(answers.shift() ?? ([500, {}] as [number, unknown]))));
      const record = await work.ended(await work.start());
      expect(record).toMatchObject({ status: 'completed', result: { all: 'done' }, cost: '0.02', refund: '0.03' });
      const url = new URL(statusUrl, agent.endpoint);
      expect(asked.map((each) => each.url)).toEqual(Array(times).fill(url.pathname + url.search));
      expect(await work.balance()).toEqual({ available: '0.03', held: '0.00' });
    },
  );

  it('is asked less and less often, or when it asks to be', async ({ expect }) => {
    const { agent, asked, start, untilAsked, cancel } = await newWork();
    agent.behave(answerWith(202, { status_url: '/status', retry_after: 0.6 }));
    const id = await start();
    await untilAsked(3);
    await cancel(id);
    expect((asked[1]?.atMs ?? 0) - (asked[0]?.atMs ?? 0)).toBeGreaterThan(480);
    expect((asked[2]?.atMs ?? 0) - (asked[1]?.atMs ?? 0)).toBeGreaterThan(900);
  });

  it('may do so although it was asked to stream', async ({ expect, onTestFinished: finish }) => {
    const { agent, client, answer } = await newWork();
    answer((response) => json(response, 200, finished));
    const options = { key: client.key, body: { task: 'x', stream: true }, finish };
    const events = await (await openSse(h, 'POST', `/invoke/${agent.id}`, options)).rest();
    expect(problemWithStream(events)).toBeNull();
    expect(events.at(-1)?.data.result).toEqual({ all: 'done' });
  });
});

it.concurrent('work that is done shortly before its deadline is asked for in time', async ({ expect }) => {
  const { agent, answer, start, ended } = await newWork();
  agent.behave(answerWith(202, { status_url: '/status', retry_after: 3600 }));
  answer((response) => json(response, 200, finished));
  const record = await beforeDeadline(4000, async (deadline) => {
    const id = await start(h, { deadline });
    const told = id && (await ended(id));
    return told && told.status === 'completed' ? told : null;
  });
  expect(record).toMatchObject({ status: 'completed', result: { all: 'done' }, cost: '0.02' });
});

describe.concurrent('cancelling work that an agent goes on with', () => {
  it('tells it with one DELETE at its status_url', async ({ expect }) => {
    const { asked, start, untilAsked, cancel, balance } = await newWork();
    const id = await start();
    await untilAsked(1);
    expect((await cancel(id)).body.data.refund).toBe('0.05');
    await untilAsked(1, 'DELETE');
    expect(asked.at(-1)).toMatchObject({ method: 'DELETE', url: '/status/7' });
    expect(await balance()).toEqual({ available: '0.05', held: '0.00' });
  });

  it('tells it also while it is being asked', async () => {
    const { answer, start, untilAsked, cancel } = await newWork();
    answer(() => undefined);
    const id = await start();
    await untilAsked(1);
    await cancel(id);
    await untilAsked(1, 'DELETE');
  });
});

it.concurrent('a process that stops while it asks does not call the work off: another asks on', async ({
  expect,
  onTestFinished,
}) => {
  const { agent, asked, start, untilAsked, answer, ended } = await newWork();
  const other = await joinNode(h, {}, { finish: onTestFinished });
  const id = await start(other);
  await untilAsked(1);
  const calls = agent.calls.length;
  await other.stop();
  answer((response) => json(response, 200, finished));
  expect((await ended(id)).status).toBe('completed');
  expect(asked.filter(({ method }) => method === 'DELETE')).toEqual([]);
  expect(agent.calls.slice(calls).map(({ headers }) => headers['idempotency-key'])).toEqual([id]);
});

describe.concurrent('work that an agent goes on with fails', () => {
  it.for([
    ['none', {}],
    ['an empty one', { status_url: '' }],
    ['no text', { status_url: 7 }],
    ['another origin', { status_url: 'http://127.0.0.1:1/status' }],
    ['another host', { status_url: '//example.com/status' }],
    ['another protocol', { status_url: 'file:///etc/passwd' }],
    ['junk', { status_url: 'http://' }],
  ] as const)('with a status_url that is %s: invalid_response', async ([, body], { expect }) => {
    const { agent, asked, start, ended } = await newWork();
    agent.behave(answerWith(202, body));
    const record = await ended(await start());
    expect(record).toMatchObject({ status: 'failed', error: { code: 'invalid_response' }, refund: '0.05' });
    expect(asked).toEqual([]);
  });

  it.for([
    ['says so', 200, { status: 'failed', error: { code: 'E', message: 'no luck' } }, 'agent_error', /E: no luck/],
    ['answers 404', 404, { error: { message: 'forgotten' } }, 'agent_error', /404: forgotten/],
    ['answers 500', 500, {}, 'agent_error', /500/],
    ['answers no result', 200, { status: 'completed' }, 'invalid_response', /^Expected \{"result"/],
    ['answers no JSON', 200, 'oops', 'invalid_response', /has no "result" field/],
    ['answers too much', 200, { result: 'x'.repeat(1024 * 1024) }, 'response_too_large', /1 MiB/],
    ['redirects', 302, {}, 'agent_redirected', /redirect/],
  ] as const)('when it %s', async ([, status, body, code, says], { expect }) => {
    const { asked, answer, start, ended } = await newWork();
    answer((response) => json(response, status, body));
    const record = await ended(await start());
    expect(record).toMatchObject({ status: 'failed', error: { code }, refund: '0.05' });
    expect(record.error?.message).toMatch(says);
    expect(asked.length).toBe(1);
  });

  it('not when it is away for a moment', async ({ expect }) => {
    const { answer, start, ended } = await newWork();
    let turn = 0;
    answer((response) => {
      turn += 1;
      if (turn === 1) response.socket?.destroy();
      else if (turn === 2) json(response, 503, {});
      else json(response, 200, finished);
    });
    expect((await ended(await start())).status).toBe('completed');
  });

  it('not when it answers 429, and is asked again after its Retry-After', async ({ expect }) => {
    const { asked, answer, start, ended } = await newWork();
    answer((response) => {
      if (asked.length > 1) return json(response, 200, finished);
      response.setHeader('retry-after', '2');
      return json(response, 429, {});
    });
    expect((await ended(await start())).status).toBe('completed');
    expect((asked[1]?.atMs ?? 0) - (asked[0]?.atMs ?? 0)).toBeGreaterThan(1900);
  });

  it('at the deadline when it answers nothing but 429', async ({ expect }) => {
    const { asked, answer, start, ended } = await newWork();
    answer((response) => {
      response.setHeader('retry-after', '3600');
      return json(response, 429, {});
    });
    const questions = () => asked.filter(({ method }) => method === 'GET').length;
    const record = await beforeDeadline(3000, async (deadline) => {
      asked.length = 0;
      const id = await start(h, { deadline });
      const told = id && (await ended(id));
      return told && questions() >= 2 ? told : null;
    });
    expect(record).toMatchObject({ status: 'failed', error: { code: 'deadline_exceeded' }, refund: '0.05' });
    expect(questions()).toBe(2);
  });

  it('not when it is away for as long as a restart takes', async ({ expect }) => {
    const { client, answer, start } = await newWork();
    let turn = 0;
    answer((response) => {
      turn += 1;
      if (turn <= 5) response.socket?.destroy();
      else json(response, 200, finished);
    });
    expect((await untilEnded(h, client.key, await start())).status).toBe('completed');
  });
});

/** Alone: it asks for the time of the end. */
it('work of a polled agent fails at the deadline, even if polls and the cancellation get no answer; the cancellation is sent once', async () => {
  const { answer, start, untilAsked, ended } = await newWork();
  answer(() => undefined);
  const stalls = countStalls();
  const { id, deadline } = await beforeDeadline(700, async (soon) => {
    const begun = await start(h, { deadline: soon });
    return begun ? { id: begun, deadline: soon } : null;
  });
  const record = await ended(id);
  expect(record).toMatchObject({ status: 'failed', error: { code: 'deadline_exceeded' }, refund: '0.05' });
  expect(Date.parse(record.completedAt ?? '') - Date.parse(deadline) - stalls()).toBeLessThan(400);
  await untilAsked(1, 'DELETE');
});
