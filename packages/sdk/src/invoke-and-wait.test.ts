import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { failure, startFakeNode, success } from '../test/support/fake-node.ts';
import { ApiError, NoAnswerError } from './api-error.ts';
import { createClient } from './client.ts';
import {
  InvocationFailedError,
  InvocationTimeoutError,
  InvocationUnknownError,
  invokeAndWait,
  mayHaveHappened,
} from './invoke-and-wait.ts';

const requestId = 'inv_0123456789abcdef';
const agentId = 'agt_0123456789abcdef';
const created = success({ requestId, status: 'processing' });
const record = (status: string, more: object = {}) =>
  success({ requestId, status, paymentMethod: 'free', error: null, ...more });
const run = (node: { baseUrl: string }, timeoutMs = 5_000) =>
  invokeAndWait(createClient(node), agentId, { task: 'x' }, { pollMs: 1, timeoutMs });

describe('invokeAndWait', () => {
  it('polls until the request is completed', async () => {
    const replies = [created, record('processing'), record('processing'), record('completed', { result: { a: 1 } })];
    await using node = await startFakeNode((_seen, count) => replies[count - 1] ?? 'hang up');
    expect((await run(node)).result).toEqual({ a: 1 });
    expect(node.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /invoke/agt_0123456789abcdef',
      ...Array(3).fill(`GET /invoke/${requestId}`),
    ]);
  });

  it('does not poll for a result that came at once', async () => {
    await using node = await startFakeNode(() => record('completed'));
    expect((await run(node)).status).toBe('completed');
    expect(node.seen).toHaveLength(1);
  });

  it.each(['failed', 'cancelled'])('throws with the record when the request %s', async (status) => {
    const error = { code: 'agent_error', message: 'no such city' };
    await using node = await startFakeNode((_seen, count) => (count === 1 ? created : record(status, { error })));
    const thrown = await run(node).catch((caught: unknown) => caught);
    expect(thrown).toBeInstanceOf(InvocationFailedError);
    expect(thrown).toMatchObject({ message: 'no such city', record: { requestId, status } });
  });

  it('waits on while the node restarts: the request is paid, and nobody else knows its id', async () => {
    const away = Array<'hang up'>(6).fill('hang up');
    const replies = [created, ...away, failure(500, 'INTERNAL_ERROR'), record('completed', { result: { a: 1 } })];
    await using node = await startFakeNode((_seen, count) => replies[count - 1] ?? 'hang up');
    const client = createClient({ ...node, maxRetries: 0 });
    expect((await invokeAndWait(client, agentId, { task: 'x' }, { pollMs: 1 })).result).toEqual({ a: 1 });
    await using gone = await startFakeNode((_seen, count) => (count === 1 ? created : 'hang up'));
    const asking = createClient({ ...gone, maxRetries: 0 });
    const given = invokeAndWait(asking, agentId, { task: 'x' }, { pollMs: 1, timeoutMs: 300 });
    const thrown = await given.catch((caught: unknown) => caught);
    expect(thrown).toMatchObject({ name: 'InvocationTimeoutError', requestId, cause: { name: 'NoAnswerError' } });
  });

  it('is the same call under a key of the caller, and names its request when the node refuses to tell its end', async () => {
    await using node = await startFakeNode((_seen, count) => (count === 1 ? created : failure(401, 'UNAUTHORIZED')));
    const waiting = invokeAndWait(createClient(node), agentId, { task: 'x' }, { pollMs: 1, idempotencyKey: 'mine' });
    const name = 'InvocationUnknownError';
    await expect(waiting).rejects.toMatchObject({ name, requestId, cause: { code: 'UNAUTHORIZED' } });
    expect(node.seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['mine', undefined]);
  });

  it.each(['before', 'after'])('names the open request when its caller aborts %s a look is answered', async (when) => {
    const abort = new AbortController();
    const reason = new Error('enough');
    await using node = await startFakeNode(({ ended }, count) => {
      if (count === 1) return created;
      if (when === 'before') abort.abort(reason);
      else void ended.then(() => abort.abort(reason));
      return record('processing');
    });
    const waiting = invokeAndWait(createClient(node), agentId, { task: 'x' }, { pollMs: 1, signal: abort.signal });
    await expect(waiting).rejects.toMatchObject({ name: 'InvocationUnknownError', requestId, cause: reason });
  });

  it.each([
    ['', record('processing')],
    [', at a node that never answers', new Promise<never>(() => undefined)],
  ])('names the open request when the time is up%s', async (_what, look) => {
    await using node = await startFakeNode((_seen, count) => (count === 1 ? created : look));
    const thrown = await run(node, 50).catch((caught: unknown) => caught);
    expect(thrown).toBeInstanceOf(InvocationTimeoutError);
    expect(thrown).toMatchObject({ requestId });
  });

  it('gives a look what is left after the pause before it', async () => {
    const limits = vi.spyOn(AbortSignal, 'timeout');
    onTestFinished(() => limits.mockRestore());
    const never = new Promise<never>(() => undefined);
    await using node = await startFakeNode((_seen, count) => (count === 1 ? created : never));
    const client = createClient({ ...node, timeoutMs: 60_000 });
    const given = invokeAndWait(client, agentId, { task: 'x' }, { pollMs: 400, timeoutMs: 500 });
    await expect(given).rejects.toMatchObject({ name: 'InvocationTimeoutError', requestId });
    expect(limits.mock.calls.flat().filter((limitMs) => limitMs !== 60_000)).toEqual([250]);
  });
});

const answer = (code: 'CONFLICT', status: number, message: string, extra: object) =>
  new ApiError({ code, status, message, extra, requestId: undefined, retryAfterS: undefined });
const codes = (code: string, status: number, message = 'x', extra = {}) =>
  answer(code as 'CONFLICT', status, message, extra);
const because = (reason: string) => codes('CONFLICT', 409, 'x', { details: { reason } });
const stillRunning = 'A request with this Idempotency-Key is still running; repeat it later.';
const answerLost =
  'The call under this Idempotency-Key was done, and is not done again. Its answer was sealed with an earlier SECRET_KEY of this node and cannot be read: read what the call made.';

it.each([
  ['no answer came', new NoAnswerError('gone'), true],
  ['its caller stopped waiting', AbortSignal.abort().reason, true],
  ['the time of its caller ran out', new DOMException('late', 'TimeoutError'), true],
  ['its end is not known yet', new InvocationTimeoutError('req_1', 1), true],
  ['the node does not tell its end', new InvocationUnknownError('req_1', 'x', codes('UNAUTHORIZED', 401)), true],
  ['the node failed', codes('INTERNAL_ERROR', 500), true],
  ['the payment is on its way', codes('PAYMENT_PENDING', 503), true],
  ['the node counts no more calls', codes('RATE_LIMITED', 429), true],
  ['the first attempt still runs', because('still_running'), true],
  ['it was done, and its answer is lost', because('answer_lost'), true],
  ['an older node says that the first attempt still runs', codes('CONFLICT', 409, stillRunning), true],
  ['an older node says that it was done, and its answer is lost', codes('CONFLICT', 409, answerLost), true],
  ['another took it', codes('CONFLICT', 409), false],
  ['the payment was refused', codes('PAYMENT_REQUIRED', 402), false],
  ['there is not enough', codes('INSUFFICIENT_FUNDS', 402), false],
  ['the proof is none', codes('VALIDATION_ERROR', 400), false],
  ['the wallet declined', new Error('The request was declined in the wallet. Nothing was signed.'), false],
])('reports if a call may have happened when %s', (_what, error, expected) =>
  expect(mayHaveHappened(error)).toBe(expected),
);

it('a call of an agent that is offline was not made, unless it showed a payment', () => {
  const error = codes('AGENT_UNAVAILABLE', 503);
  expect(mayHaveHappened(error)).toBe(false);
  error.paymentHeaders = { 'payment-signature': 'p1' };
  expect(mayHaveHappened(error)).toBe(true);
});
