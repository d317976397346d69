import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Asked, beginStream, frame, startStreamNode } from '../test/support/fake-stream.ts';
import { NoAnswerError } from './api-error.ts';
import { createClient } from './client.ts';

const requestId = 'req_0123456789abcdef';
const agentId = 'agt_0123456789abcdef';
const created = frame(1, 'invocation.created', { requestId });
const chunk = (id: number) => frame(id, 'invocation.chunk', { requestId, chunk: `c${id}` });
const completed = (id: number) => frame(id, 'invocation.completed', { requestId, result: 'all' });
const stream = { 'content-type': 'text/event-stream' };
/** The request itself is asked for. */
const isRead = ({ path }: Asked) => path === `/invoke/${requestId}`;
const tellStatus = (response: ServerResponse, status: string) =>
  void response.end(JSON.stringify({ status: 'success', data: { requestId, status } }));
const client = (node: { baseUrl: string }) => createClient({ baseUrl: node.baseUrl, apiKey: 'ank_test_x' });

async function idsOf(events: AsyncIterable<{ id: number }>): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of events) ids.push(id);
  return ids;
}

const error = (status: number, code: string) => ({
  status,
  text: JSON.stringify({ status: 'error', error: { code, message: code, requestId: 'req-1' } }),
});

describe('a followed stream', () => {
  it('yields typed events until the terminal one and then ends, whatever comes after', async () => {
    await using node = await startStreamNode((_asked, response) => {
      beginStream(response, 'retry: 2000\n\n', created, ': alive\n\n', chunk(3), completed(4), chunk(5));
    });
    const seen: unknown[] = [];
    for await (const event of client(node).stream(requestId)) {
      if (event.type === 'invocation.chunk') seen.push(event.data.chunk);
      if (event.type === 'invocation.completed') seen.push(event.data.result);
    }
    expect(seen).toEqual(['c3', 'all']);
    expect(node.asked[0]).toMatchObject({ method: 'GET', path: `/invoke/${requestId}/events` });
    expect(node.asked[0]?.headers.accept).toBe('text/event-stream');
  });

  it('reconnects after each lost connection and yields every event once', async () => {
    await using node = await startStreamNode((asked, response, count) => {
      if (count === 2) return void response.socket?.destroy();
      if (count === 1) beginStream(response, created, chunk(3), `${chunk(4)}id: 5\nevent: invoc`);
      // A node may repeat what was seen already.
      if (count === 3) beginStream(response, chunk(4), chunk(5));
      if (count >= 4) return beginStream(response, chunk(6), completed(7));
      expect(asked.headers['last-event-id']).toBe(count === 1 ? undefined : '4');
      response.write('', () => response.socket?.destroy());
    });
    expect(await idsOf(client(node).stream(requestId))).toEqual([1, 3, 4, 5, 6, 7]);
    expect(node.asked.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '4', '4', '5']);
  });

  it('comes back when the node is away for longer than a call is repeated, as while it restarts', async () => {
    await using node = await startStreamNode((_asked, response, count) => {
      if (count === 1) beginStream(response, created, chunk(3));
      if (count === 1) return void response.write('', () => response.socket?.destroy());
      if (count < 6) return void response.socket?.destroy();
      beginStream(response, completed(4));
    });
    const patient = createClient({ baseUrl: node.baseUrl, maxRetries: 1 });
    expect(await idsOf(patient.stream(requestId))).toEqual([1, 3, 4]);
    expect(node.asked.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, ...Array(5).fill('3')]);
  });

  it('begins after the event that the caller names, and ends when there is nothing left', async () => {
    await using node = await startStreamNode((asked, response) => {
      if (isRead(asked)) return tellStatus(response, 'completed');
      beginStream(response, 'retry: 2000\n\n');
      response.end();
    });
    expect(await idsOf(client(node).stream(requestId, { after: 7 }))).toEqual([]);
    const once = createClient({ baseUrl: node.baseUrl, maxRetries: 0 });
    expect(await idsOf(once.stream(requestId, { after: 8 }))).toEqual([]);
    expect(node.asked.map(({ headers }) => headers['last-event-id'])).toEqual([
      '7',
      undefined,
      '7',
      '8',
      undefined,
      '8',
    ]);
  });

  it('ends at once when the node says that there is nothing after the event that the caller names', async () => {
    await using node = await startStreamNode((_asked, response) => void response.writeHead(204).end());
    expect(await idsOf(client(node).stream(requestId, { after: 7 }))).toEqual([]);
    expect(node.asked).toHaveLength(1);
  });

  it.each([
    ['goes on while the request has not ended, however often a proxy closes in order', ['processing', 'processing']],
    ['brings the last event of a request that ended after the connection', ['completed']],
  ])('%s', async (_what, states) => {
    const left = [...states];
    const opened = () => node.asked.filter((asked) => !isRead(asked)).length;
    await using node = await startStreamNode((asked, response) => {
      if (isRead(asked)) return tellStatus(response, left.shift() ?? 'completed');
      const isLast = opened() === states.length + 2;
      beginStream(response, ...(opened() === 1 ? [created, chunk(3)] : isLast ? [completed(4)] : [': alive\n\n']));
      response.end();
    });
    const keyless = { params: { requestId }, headers: { 'x-result-token': 'rt_1' } };
    expect(await idsOf(client(node).streamInvocation(keyless))).toEqual([1, 3, 4]);
    expect(left).toEqual([]);
    const reads = node.asked.filter(isRead);
    expect(reads.map(({ headers }) => [headers.accept, headers['x-result-token'], headers['last-event-id']])).toEqual(
      states.map(() => ['application/json', 'rt_1', undefined]),
    );
  });

  it('of a client without retries throws when it ends in order before the request has ended', async () => {
    await using node = await startStreamNode((asked, response) => {
      if (isRead(asked)) return tellStatus(response, 'processing');
      response.writeHead(200, stream).end();
    });
    const once = createClient({ baseUrl: node.baseUrl, maxRetries: 0 });
    await expect(idsOf(once.stream(requestId, { after: 8 }))).rejects.toThrow('after event 8');
  });

  it('gives up on a request that goes on behind a proxy which closes every connection at once', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    await using node = await startStreamNode((asked, response) => {
      if (isRead(asked)) return tellStatus(response, 'processing');
      response.writeHead(200, stream).end();
    });
    await expect(idsOf(client(node).stream(requestId, { after: 8 }))).rejects.toThrow(NoAnswerError);
  });

  it('goes on when a proxy closes in order what a dying node broke off', async () => {
    await using node = await startStreamNode((asked, response, count) => {
      if (isRead(asked)) return void response.socket?.destroy();
      if (count === 1) beginStream(response, created, chunk(3));
      if (count < 3) return void (count === 1 ? response.end() : response.writeHead(200, stream).end());
      beginStream(response, completed(4));
    });
    const once = createClient({ baseUrl: node.baseUrl, maxRetries: 1 });
    expect(await idsOf(once.stream(requestId))).toEqual([1, 3, 4]);
    expect(node.asked.filter(isRead)).toHaveLength(2);
  });

  it('throws the error of the node', async () => {
    await using node = await startStreamNode((_asked, response) => {
      const { status, text } = error(404, 'NOT_FOUND');
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    });
    await expect(idsOf(client(node).stream(requestId))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('says where it broke off when it may not come back', async () => {
    await using node = await startStreamNode((_asked, response) => {
      beginStream(response, created);
      response.write('', () => response.socket?.destroy());
    });
    const once = createClient({ baseUrl: node.baseUrl, maxRetries: 0 });
    const thrown = await idsOf(once.stream(requestId)).catch((caught: unknown) => caught);
    expect(thrown).toBeInstanceOf(NoAnswerError);
    expect(String(thrown)).toContain('after event 1');
  });

  it('hangs up when the caller leaves the loop', async () => {
    const closed = Promise.withResolvers<void>();
    await using node = await startStreamNode((_asked, response) => {
      response.once('close', () => closed.resolve());
      beginStream(response, created);
    });
    for await (const { id } of client(node).stream(requestId)) if (id === 1) break;
    await closed.promise;
    expect(node.asked).toHaveLength(1);
  });

  it('stops with the reason of the signal', async () => {
    const stop = new AbortController();
    await using node = await startStreamNode((_asked, response) => beginStream(response, created));
    const read = async () => {
      for await (const { id } of client(node).stream(requestId, { signal: stop.signal }))
        if (id === 1) stop.abort(new Error('enough'));
    };
    await expect(read()).rejects.toThrow('enough');
  });

  it('is what the method of the endpoint table gives as well', async () => {
    await using node = await startStreamNode((asked, response) => {
      if (isRead(asked)) return tellStatus(response, 'completed');
      if (asked.path.endsWith('=8')) return beginStream(response, completed(9));
      response.writeHead(200, stream).end();
    });
    expect(await idsOf(client(node).streamInvocation({ params: { requestId }, query: { after: 8 } }))).toEqual([9]);
    expect(node.asked[0]?.path).toBe(`/invoke/${requestId}/events?after=8`);
    expect(await idsOf(client(node).streamInvocation({ params: { requestId }, query: { after: 9 } }))).toEqual([]);
  });
});

describe('a streamed invocation', () => {
  const keys = (node: { asked: { headers: Record<string, unknown> }[] }) =>
    new Set(node.asked.map(({ headers }) => headers['idempotency-key']));

  it('asks for a stream in header and body, under an Idempotency-Key', async () => {
    await using node = await startStreamNode((_asked, response) => beginStream(response, created, completed(3)));
    expect(await idsOf(client(node).invokeStreaming(agentId, { task: 'x' }, { quote: 'qte_1' }))).toEqual([1, 3]);
    const [asked] = node.asked;
    expect(asked).toMatchObject({ method: 'POST', path: `/invoke/${agentId}?quote=qte_1` });
    expect(asked?.headers.accept).toBe('text/event-stream');
    expect(JSON.parse(asked?.body ?? '')).toEqual({ task: 'x', stream: true });
    expect(asked?.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
  });

  it('repeats the same POST while nothing was heard, and follows the request from then on', async () => {
    await using node = await startStreamNode(({ method }, response, count) => {
      if (count === 1) return void response.socket?.destroy();
      if (count === 2) beginStream(response, 'retry: 2000\n\n');
      if (count === 3) beginStream(response, created, chunk(3));
      if (count < 4) return void response.write('', () => response.socket?.destroy());
      expect(method).toBe('GET');
      beginStream(response, chunk(4), completed(5));
    });
    expect(await idsOf(client(node).invokeStreaming(agentId, { task: 'x' }))).toEqual([1, 3, 4, 5]);
    expect(node.asked.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'GET']);
    expect(node.asked[3]).toMatchObject({ path: `/invoke/${requestId}/events`, headers: { 'last-event-id': '3' } });
    expect(keys({ asked: node.asked.slice(0, 3) }).size).toBe(1);
  });

  it('pays once, with the key of the unpaid call, and shows the same payment when it has to repeat', async () => {
    const payer = { address: '0x0', signed: 0, pay: async () => ({ 'payment-signature': `p${++payer.signed}` }) };
    await using node = await startStreamNode((asked, response, count) => {
      const { status, text } = error(402, 'PAYMENT_REQUIRED');
      if (!asked.headers['payment-signature']) return void response.writeHead(status).end(text);
      if (count === 2) return void response.socket?.destroy();
      beginStream(response, created, completed(3));
    });
    const paying = createClient({ baseUrl: node.baseUrl, apiKey: 'ank_test_x', payer });
    expect(await idsOf(paying.invokeStreaming(agentId, { task: 'x' }))).toEqual([1, 3]);
    expect(node.asked.map(({ headers }) => headers['payment-signature'])).toEqual([undefined, 'p1', 'p1']);
    expect(keys(node).size).toBe(1);
  });

  it('that ends before its first event names the payment that was shown, so that none is signed anew', async () => {
    const payer = { address: '0x0', signed: 0, pay: async () => ({ 'payment-signature': `p${++payer.signed}` }) };
    await using node = await startStreamNode((asked, response, count) => {
      if (!asked.headers['payment-signature'])
        return void response.writeHead(402).end(error(402, 'PAYMENT_REQUIRED').text);
      if (count > 2) return void response.writeHead(503, { 'retry-after': '60' }).end(error(503, 'UNAVAILABLE').text);
      beginStream(response, 'retry: 2000\n\n');
      response.write('', () => response.socket?.destroy());
    });
    const ended = (maxRetries: number) =>
      idsOf(createClient({ baseUrl: node.baseUrl, payer, maxRetries }).invokeStreaming(agentId, { task: 'x' })).catch(
        (caught: unknown) => caught,
      );
    expect(await ended(0)).toMatchObject({ name: 'NoAnswerError', paymentHeaders: { 'payment-signature': 'p1' } });
    node.asked.splice(0);
    expect(await ended(1)).toMatchObject({ code: 'UNAVAILABLE', paymentHeaders: { 'payment-signature': 'p2' } });
  });

  it('that its caller gives up before its first event names its key and the payment that was shown', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const payer = { address: '0x0', pay: async () => ({ 'payment-signature': 'p1' }) };
    await using node = await startStreamNode((asked, response) => {
      if (!asked.headers['payment-signature'])
        return void response.writeHead(402).end(error(402, 'PAYMENT_REQUIRED').text);
      beginStream(response, 'retry: 2000\n\n');
      abort.abort(reason);
    });
    const paying = createClient({ baseUrl: node.baseUrl, payer });
    const options = { signal: abort.signal, idempotencyKey: 'mine' };
    await expect(idsOf(paying.invokeStreaming(agentId, { task: 'x' }, options))).rejects.toMatchObject({
      ...{ name: 'NoAnswerError', idempotencyKey: 'mine', cause: reason },
      paymentHeaders: { 'payment-signature': 'p1' },
    });
  });

  it('follows a request whose answer was no stream', async () => {
    await using node = await startStreamNode(({ method }, response) => {
      if (method === 'GET') return beginStream(response, created, completed(3));
      response.end(JSON.stringify({ status: 'success', data: { requestId, status: 'processing' } }));
    });
    expect(await idsOf(client(node).invokeStreaming(agentId, { task: 'x' }))).toEqual([1, 3]);
  });
});
