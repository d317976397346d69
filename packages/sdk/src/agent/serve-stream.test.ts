import { randomBytes } from 'node:crypto';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { afterEach, describe, expect, it } from 'vitest';
import { signAsNode } from '../../test/support/sign-as-node.ts';
import { AgentError, progress, type ServeAgentOptions, type ServedAgent, serveAgent } from './serve-agent.ts';

const identityToken = `0x${randomBytes(32).toString('hex')}`;
const served: ServedAgent[] = [];
afterEach(async () => {
  await Promise.all(served.splice(0).map((agent) => agent.close()));
});

async function serve(handle: ServeAgentOptions['handle'], more: Partial<ServeAgentOptions> = {}): Promise<ServedAgent> {
  const agent = await serveAgent({ handle, identityToken, closeTimeoutMs: 500, ...more });
  served.push(agent);
  return agent;
}

let count = 0;
function call(url: string, { stream = true, requestId = `req_${count++}` } = {}, signal?: AbortSignal) {
  const body = JSON.stringify({ request_id: requestId, agent_id: 'agt_1', task: 'x', stream });
  const accept = stream ? 'text/event-stream, application/json' : 'application/json';
  const headers = { ...signAsNode(body, identityToken), accept, 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body, ...(signal ? { signal } : {}) });
}

async function eventsOf(answer: Response): Promise<{ event: string | undefined; data: unknown }[]> {
  const messages: EventSourceMessage[] = [];
  createParser({ onEvent: (message) => messages.push(message) }).feed(await answer.text());
  return messages.map(({ event, data }) => ({ event, data: JSON.parse(data) }));
}

async function* poem() {
  yield progress({ percent: 10 });
  yield 'roses ';
  yield 'are red';
}

describe('an agent with a generator as its handle', () => {
  it('streams what it yields and ends with the result', async () => {
    const answer = await call((await serve(poem)).url);
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(await eventsOf(answer)).toEqual([
      { event: 'progress', data: { percent: 10 } },
      { event: 'chunk', data: 'roses ' },
      { event: 'chunk', data: 'are red' },
      { event: 'result', data: expect.objectContaining({ result: 'roses are red', agent_id: 'agt_1' }) },
    ]);
  });

  it('sends each piece before the next is made', async () => {
    const next = Promise.withResolvers<void>();
    const agent = await serve(async function* () {
      yield 'first';
      await next.promise;
      yield 'second';
    });
    const reader = (await call(agent.url)).body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toContain('first');
    next.resolve();
    while (!(await reader?.read())?.done);
  });

  it('answers a caller who does not follow with the pieces together, or with what it returns', async () => {
    const text = await call((await serve(poem)).url, { stream: false });
    expect(await text.json()).toMatchObject({ result: 'roses are red' });
    const list = await serve(function* () {
      yield { a: 1 };
      yield 'b';
    });
    expect(await (await call(list.url, { stream: false })).json()).toMatchObject({ result: [{ a: 1 }, 'b'] });
    const returned = await serve(function* ({ charge }) {
      yield 'thinking';
      charge('0.01');
      return { answer: 42 };
    });
    expect(await (await call(returned.url, { stream: false })).json()).toMatchObject({
      result: { answer: 42 },
      cost: '0.01',
    });
  });

  it('says to a caller who comes again what it had said before, without running again', async () => {
    let runs = 0;
    const agent = await serve(async function* () {
      runs += 1;
      yield* poem();
    });
    const first = await eventsOf(await call(agent.url, { requestId: 'req_same' }));
    expect(await eventsOf(await call(agent.url, { requestId: 'req_same' }))).toEqual(first);
    expect(runs).toBe(1);
  });

  it('ends a stream that has begun with an error event, and answers plainly before that', async () => {
    const fails = async function* (said: string[]) {
      yield* said;
      throw new AgentError('out_of_ink', 'There is no ink', 503);
    };
    const late = await call((await serve(() => fails(['a']))).url);
    expect((await eventsOf(late)).at(-1)).toEqual({
      event: 'error',
      data: { error: { code: 'out_of_ink', message: 'There is no ink' } },
    });
    const early = await call((await serve(() => fails([]))).url);
    expect(early.status).toBe(503);
    expect(await early.json()).toMatchObject({ error: { code: 'out_of_ink' } });
  });

  it('is ended where it stands when the last caller hangs up', async () => {
    const ended = Promise.withResolvers<void>();
    const agent = await serve(async function* () {
      try {
        for (;;) {
          yield 'more';
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        ended.resolve();
      }
    });
    const hangUp = new AbortController();
    const answer = await call(agent.url, {}, hangUp.signal);
    hangUp.abort();
    await answer.text().catch(() => undefined);
    await ended.promise;
  });

  it.each([
    ['a piece above 64 KiB', () => ['x'.repeat(65_537)]],
    ['more than 10,000 pieces', () => Array(10_001).fill('x')],
  ])('fails %s itself', async (_name, pieces) => {
    const agent = await serve(function* () {
      yield* pieces();
    });
    const answer = await call(agent.url, { stream: false });
    expect(await answer.json()).toMatchObject({ error: { code: 'result_too_large' } });
  });
});

describe('an agent that defers', () => {
  const accepted = async (url: string, requestId?: string) => {
    const answer = await call(url, { stream: false, ...(requestId ? { requestId } : {}) });
    expect(answer.status).toBe(202);
    const { status_url } = (await answer.json()) as { status_url: string };
    return new URL(status_url, url);
  };
  const ask = async (url: URL) => (await (await fetch(url)).json()) as { status?: string; result?: unknown };

  it('answers 202 at once, and with the result at the status URL when it is there', async () => {
    const goOn = Promise.withResolvers<string>();
    const agent = await serve(() => goOn.promise, { defer: true });
    const url = await accepted(`${agent.url}run?tenant=1`, 'req_slow');
    expect(url.pathname + url.search).toMatch(/^\/run\?tenant=1&request_id=req_slow&proof=[0-9a-f]{64}$/);
    expect(await ask(url)).toMatchObject({ status: 'processing' });
    expect((await accepted(agent.url, 'req_slow')).searchParams.get('request_id')).toBe('req_slow');
    goOn.resolve('done');
    await expect.poll(() => ask(url)).toMatchObject({ result: 'done' });
  });

  it('tells of a failure as a node reads it, also of one that would be worth a repeat', async () => {
    const agent = await serve(() => Promise.reject(new AgentError('no_ink', 'There is no ink', 503)), { defer: true });
    const url = await accepted(agent.url);
    const failed = { status: 'failed', error: { code: 'no_ink', message: 'There is no ink' } };
    await expect.poll(() => ask(url)).toEqual(failed);
  });

  it('aborts the work on DELETE', async () => {
    const started = Promise.withResolvers<AbortSignal>();
    const agent = await serve(
      ({ signal }) => {
        started.resolve(signal);
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
      { defer: true },
    );
    const url = await accepted(agent.url);
    const signal = await started.promise;
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(200);
    expect(signal.aborted).toBe(true);
  });

  it('shows nothing to a stranger who guesses', async () => {
    const agent = await serve(() => 'secret', { defer: true });
    const url = await accepted(agent.url, 'req_known');
    url.searchParams.set('proof', '0'.repeat(64));
    expect((await fetch(url)).status).toBe(404);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(404);
    expect((await fetch(agent.url, { method: 'DELETE' })).status).toBe(405);
  });

  it('stays until the node has read the end of what it accepted', async () => {
    const goOn = Promise.withResolvers<string>();
    const agent = await serve(() => goOn.promise, { defer: true, closeTimeoutMs: 10_000 });
    const url = await accepted(agent.url);
    const closed = agent.close();
    expect(await ask(url)).toMatchObject({ status: 'processing' });
    goOn.resolve('done');
    await expect.poll(() => ask(url)).toMatchObject({ result: 'done' });
    await closed;
  });

  it('still streams to a caller who follows', async () => {
    const agent = await serve(poem, { defer: true });
    expect((await eventsOf(await call(agent.url))).map(({ event }) => event)).toEqual([
      'progress',
      'chunk',
      'chunk',
      'result',
    ]);
  });
});
