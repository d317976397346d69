import { api } from '@agent-network/contracts/api';
import { describe, expect, it } from 'vitest';
import { failure, startFakeNode, success } from '../test/support/fake-node.ts';
import { isApiError, NoAnswerError } from './api-error.ts';
import { createClient } from './client.ts';

const id = 'agt_0123456789abcdef';
const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

describe('the client', () => {
  it('has a method for every row of the endpoint table', () => {
    expect(Object.keys(createClient({ baseUrl: 'http://127.0.0.1' }))).toEqual(Object.keys(api));
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

  it('refuses a call without its path parameter before sending anything', async () => {
    await using node = await startFakeNode(() => success({}));
    await expect(createClient(node).getAgent({ params: { id: '' } })).rejects.toThrow('params.id is missing');
    expect(node.seen).toHaveLength(0);
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

  it('never repeats a POST that carries no payment', async () => {
    await using node = await startFakeNode(() => 'hang up');
    const call = createClient(node).invokeAgent({ params: { agentId: id }, body: { task: 'x' } });
    await expect(call).rejects.toBeInstanceOf(NoAnswerError);
    expect(node.seen).toHaveLength(1);
  });

  it('gives up after maxRetries repeats', async () => {
    await using node = await startFakeNode(() => failure(503, 'UNAVAILABLE'));
    await expect(createClient({ ...node, maxRetries: 2 }).getAgent({ params: { id } })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(node.seen).toHaveLength(3);
  });

  it('stops waiting when the caller aborts', async () => {
    const abort = new AbortController();
    await using node = await startFakeNode(() => {
      abort.abort(new Error('enough'));
      return failure(503, 'UNAVAILABLE', {}, { 'retry-after': '20' });
    });
    await expect(createClient(node).getAgent({ params: { id } }, { signal: abort.signal })).rejects.toThrow('enough');
  });

  it('names the time that ran out', async () => {
    const never: typeof fetch = (_url, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    const client = createClient({ baseUrl: 'http://127.0.0.1', fetch: never, timeoutMs: 20, maxRetries: 0 });
    await expect(client.getAgent({ params: { id } })).rejects.toThrow('did not answer within 20 ms');
  });
});
