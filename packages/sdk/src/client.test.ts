import { api } from '@agent-network/contracts/api';
import { describe, expect, it } from 'vitest';
import { failure, startFakeNode, success } from '../test/support/fake-node.ts';
import { isApiError } from './api-error.ts';
import { createClient } from './client.ts';
import { mayHaveHappened } from './invoke-and-wait.ts';

const id = 'agt_0123456789abcdef';
const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

describe('the client', () => {
  it('has a method for every row of the endpoint table, and three that stream', () => {
    const methods = [...Object.keys(api), 'stream', 'followEvents', 'invokeStreaming'];
    expect(Object.keys(createClient({ baseUrl: 'http://127.0.0.1' }))).toEqual(methods);
  });

  it('asks in its types for what a call needs, and for nothing else', () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1' });
    type First<Method extends (...args: never[]) => unknown> = Parameters<Method>[0];
    const limit: First<typeof client.listAgents> = { query: { limit: 5 } };
    // @ts-expect-error the agent to invoke is missing
    const noParams: First<typeof client.invokeAgent> = { body: { task: 'x' } };
    // @ts-expect-error the task is missing
    const noTask: First<typeof client.invokeAgent> = { params: { agentId: id }, body: {} };
    // @ts-expect-error a filter that the table does not have
    const unknown: First<typeof client.listAgents> = { query: { colour: 'red' } };
    expect([limit, noParams, noTask, unknown]).toHaveLength(4);
  });

  it('resolves to the data, and sends key, query numbers and filled path', async () => {
    await using node = await startFakeNode(() => success({ agents: [], total: 0, hasMore: false, nextCursor: null }));
    const client = createClient({ baseUrl: `${node.baseUrl}/`, apiKey: 'ank_test_x' });
    expect((await client.listAgents({ query: { limit: 5, capability: 'a' } })).total).toBe(0);
    await client.getAgent({ params: { id: 'agt_a/b' } });
    expect(node.seen.map((seen) => seen.path)).toEqual(['/agents?limit=5&capability=a', '/agents/agt_a%2Fb']);
    expect(node.seen[0]?.headers.authorization).toBe('Bearer ank_test_x');
  });

  it.each(['', '127.0.0.1:4020'])('says that "%s" is no address of a node', async (baseUrl) => {
    await expect(createClient({ baseUrl }).listAgents()).rejects.toThrow(
      `baseUrl must be the address of a node, such as http://127.0.0.1:4020; it is "${baseUrl}"`,
    );
  });

  it('refuses a call without its path parameter before sending anything', async () => {
    await using node = await startFakeNode(() => success({}));
    await expect(createClient(node).getAgent({ params: { id: '' } })).rejects.toThrow('params.id is missing');
    expect(node.seen).toHaveLength(0);
  });

  it.each<[string, string, object, object]>([
    ['an API key', 'authorization', { apiKey: 'ank_test_…' }, {}],
    ['an Idempotency-Key', 'idempotency-key', {}, { idempotencyKey: 'order–17' }],
  ])('names the header of %s that cannot be sent, and sends nothing', async (_what, name, options, callOptions) => {
    await using node = await startFakeNode(() => success({}));
    const call = { params: { agentId: id }, body: { task: 'x' } };
    const error = await caught(createClient({ ...node, ...options }).invokeAgent(call, callOptions));
    expect(error).toEqual(new TypeError(`the header ${name} has characters that cannot be sent`));
    expect([mayHaveHappened(error), node.seen.length]).toEqual([false, 0]);
  });

  it('throws the error of the node with its code, extra fields and request id', async () => {
    const extra = { details: { required: '2.00', available: '1.00' } };
    await using node = await startFakeNode(() => failure(422, 'INSUFFICIENT_FUNDS', extra));
    const error = await caught(createClient(node).invokeAgent({ params: { agentId: id }, body: { task: 'x' } }));
    if (!isApiError(error, 'INSUFFICIENT_FUNDS')) throw error;
    expect(error).toMatchObject({ status: 422, requestId: 'req-1', extra });
    expect(error.extra.details.available).toBe('1.00');
  });

  it.each([
    ['a lost connection', 'hang up' as const],
    ['UNAVAILABLE', failure(503, 'UNAVAILABLE')],
    ['a rate limit that ends soon', failure(429, 'RATE_LIMITED', {}, { 'retry-after': '0' })],
    ['a gateway error', { status: 502, body: '<html>' }],
  ])('repeats a GET after %s', async (_name, first) => {
    await using node = await startFakeNode((_seen, count) => (count === 1 ? first : success({ id })));
    expect(await createClient(node).getAgent({ params: { id } })).toEqual({ id });
    expect(node.seen).toHaveLength(2);
  });

  it.each([
    ['AGENT_UNAVAILABLE', failure(503, 'AGENT_UNAVAILABLE')],
    ['NOT_FOUND', failure(404, 'NOT_FOUND')],
    ['a rate limit that ends in an hour', failure(429, 'RATE_LIMITED', {}, { 'retry-after': '3600' })],
  ])('does not repeat a GET after %s', async (_name, reply) => {
    await using node = await startFakeNode(() => reply);
    await expect(createClient(node).getAgent({ params: { id } })).rejects.toMatchObject({ name: 'ApiError' });
    expect(node.seen).toHaveLength(1);
  });

  const running = failure(409, 'CONFLICT');
  const stillRunning = failure(409, 'CONFLICT', { details: { reason: 'still_running' } });
  const stillRunningAtAnOlderNode = failure(409, 'CONFLICT', {
    message: 'A request with this Idempotency-Key is still running; repeat it later.',
  });

  it.each([
    ['a lost connection', 'hang up' as const],
    ['UNAVAILABLE', failure(503, 'UNAVAILABLE')],
    ['a gateway error', { status: 502, body: '<html>' }],
    ['PAYMENT_PENDING', failure(503, 'PAYMENT_PENDING', {}, { 'retry-after': '0' })],
    ['a rate limit that ends soon', failure(429, 'RATE_LIMITED', {}, { 'retry-after': '0' })],
    ['the news that the first attempt is still running', stillRunning],
    ['the same news of an older node, in words', stillRunningAtAnOlderNode],
  ])('repeats a POST after %s, under the Idempotency-Key of the first attempt', async (_name, first) => {
    await using node = await startFakeNode((_seen, count) => (count === 1 ? first : success({ requestId: 'req_1' })));
    const client = createClient(node);
    const call = { params: { agentId: id }, body: { task: 'x' } };
    await client.invokeAgent(call);
    await client.invokeAgent(call, { idempotencyKey: 'mine' });
    const keys = node.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0], 'mine']);
  });

  it('waits for a first attempt that is still running beyond maxRetries, but not beyond the time of an attempt', async () => {
    await using node = await startFakeNode((_seen, count) => (count < 4 ? stillRunning : success({ requestId: 'r' })));
    const call = { params: { agentId: id }, body: { task: 'x' } };
    expect(await createClient({ ...node, maxRetries: 1 }).invokeAgent(call)).toEqual({ requestId: 'r' });
    await using busy = await startFakeNode(() => stillRunning);
    const inTime = createClient({ ...busy, maxRetries: 1, timeoutMs: 300 }).invokeAgent(call);
    await expect(inTime).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  it('waits for a first attempt that ran out of time and still runs: the time counts from when that is told', async () => {
    const never = new Promise<never>(() => undefined);
    await using node = await startFakeNode((_seen, count) => {
      if (count === 1) return never;
      return count < 4 ? stillRunning : success({ requestId: 'r' });
    });
    const client = createClient({ ...node, timeoutMs: 1_500 });
    expect(await client.invokeAgent({ params: { agentId: id }, body: { task: 'x' } })).toEqual({ requestId: 'r' });
    expect(new Set(node.seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  it.each([
    ['another conflict', running],
    ['a key that was used for something else', failure(422, 'IDEMPOTENCY_KEY_REUSED')],
    ['AGENT_UNAVAILABLE', failure(503, 'AGENT_UNAVAILABLE')],
  ])('does not repeat a POST after %s', async (_name, reply) => {
    await using node = await startFakeNode(() => reply);
    const call = createClient(node).invokeAgent({ params: { agentId: id }, body: { task: 'x' } });
    await expect(call).rejects.toMatchObject({ name: 'ApiError' });
    expect(node.seen).toHaveLength(1);
  });

  it('makes a new key for each call, and none for GET or for a POST that needs no key of the node', async () => {
    await using node = await startFakeNode(() => success({}));
    const client = createClient(node);
    await client.createTreasury();
    await client.createTreasury();
    await client.searchAgents({ body: {} });
    await client.getBalance();
    const keys = node.seen.map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(3);
    expect(keys.slice(2)).toEqual([undefined, undefined]);
  });

  it('repeats a call for callers without an API key under one Idempotency-Key too: with a key, a treasury pays it', async () => {
    await using node = await startFakeNode((_seen, count) => (count === 1 ? 'hang up' : success({ requestId: 'r' })));
    const client = createClient({ ...node, apiKey: 'ank_test_x' });
    await client.invokeKeyless({ params: { agentId: id }, body: { task: 'x' } });
    const keys = node.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
  });

  it('sends a header of the caller once, in whatever case it is spelt', async () => {
    await using node = await startFakeNode(() => success({ requestId: 'r' }));
    const headers = { 'Idempotency-Key': 'order-17', 'X-Sync': 'true' } as object;
    await createClient(node).invokeAgent({ params: { agentId: id }, body: { task: 'x' }, headers });
    expect(node.seen[0]?.headers).toMatchObject({ 'idempotency-key': 'order-17', 'x-sync': 'true' });
  });

  it('names in the error the key under which the call can be repeated', async () => {
    await using node = await startFakeNode(() => 'hang up');
    const call = createClient({ ...node, maxRetries: 0 }).createTreasury();
    const error = await caught(call);
    expect(error).toMatchObject({ name: 'NoAnswerError', idempotencyKey: node.seen[0]?.headers['idempotency-key'] });
    await using full = await startFakeNode(() => failure(500, 'INTERNAL_ERROR'));
    const failed = createClient(full).createTreasury({}, { idempotencyKey: 'mine' });
    expect(await caught(failed)).toMatchObject({ code: 'INTERNAL_ERROR', idempotencyKey: 'mine' });
  });

  it('gives up after maxRetries repeats', async () => {
    await using node = await startFakeNode(() => failure(503, 'UNAVAILABLE'));
    await expect(createClient({ ...node, maxRetries: 2 }).getAgent({ params: { id } })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(node.seen).toHaveLength(3);
  });

  it.each([301, 302, 307, 308])(
    'does not follow a redirect (%i): key, payment and task are for this node alone',
    async (status) => {
      await using elsewhere = await startFakeNode(() => success({ name: 'stolen' }));
      await using node = await startFakeNode(() => ({ status, body: '', headers: { location: elsewhere.baseUrl } }));
      const client = createClient({ ...node, apiKey: 'ank_test_x' });
      const headers = { 'payment-signature': 'signed' } as object;
      await expect(client.invokeAgent({ params: { agentId: id }, body: { task: 'x' }, headers })).rejects.toThrow(
        `answered ${status}`,
      );
      await expect(client.getAgent({ params: { id } })).rejects.toThrow(`answered ${status}`);
      await expect(client.stream('req_1').next()).rejects.toThrow(`answered ${status}`);
      expect([node.seen.length, elsewhere.seen.length]).toEqual([3, 0]);
    },
  );

  it('reads no answer without an end', async () => {
    let pulls = 0;
    const piece = new Uint8Array(1024 * 1024).fill(32);
    const body = () =>
      new ReadableStream({
        pull(sink) {
          pulls += 1;
          sink.enqueue(piece);
        },
      });
    const endless: typeof fetch = async () => new Response(body());
    const client = createClient({ baseUrl: 'http://127.0.0.1', fetch: endless });
    await expect(client.getAgent({ params: { id } })).rejects.toThrow('more than 64 MiB');
    expect(pulls).toBeLessThan(80);
  });

  it('stops waiting when the caller aborts', async () => {
    const abort = new AbortController();
    await using node = await startFakeNode(() => {
      abort.abort(new Error('enough'));
      return failure(503, 'UNAVAILABLE', {}, { 'retry-after': '20' });
    });
    await expect(createClient(node).getAgent({ params: { id } }, { signal: abort.signal })).rejects.toThrow('enough');
  });

  it('names the key of a call that its caller gave up: it may be done', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    await using node = await startFakeNode(() => {
      abort.abort(reason);
      return success({});
    });
    const client = createClient(node);
    const options = { signal: abort.signal, idempotencyKey: 'mine' };
    const error = await caught(client.createTreasury({}, options));
    expect(error).toMatchObject({ name: 'NoAnswerError', idempotencyKey: 'mine', cause: reason });
    expect(mayHaveHappened(error)).toBe(true);
    expect(await caught(client.createTreasury({}, options))).toBe(reason);
    expect(node.seen).toHaveLength(1);
  });

  it('names the time that ran out', async () => {
    const never: typeof fetch = (_url, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    const client = createClient({ baseUrl: 'http://127.0.0.1', fetch: never, timeoutMs: 20, maxRetries: 0 });
    await expect(client.getAgent({ params: { id } })).rejects.toThrow('did not answer within 20 ms');
  });
});
