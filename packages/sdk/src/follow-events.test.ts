import { expect, it } from 'vitest';
import { beginStream, frame, startStreamNode } from '../test/support/fake-stream.ts';
import { NoAnswerError } from './api-error.ts';
import { createClient } from './client.ts';

const client = (node: { baseUrl: string }, maxRetries = 3) =>
  createClient({ baseUrl: node.baseUrl, apiKey: 'ank_test_x', maxRetries });
const open = (after: number) => frame(after, 'stream.open', { after });
const event = (sequence: number) => frame(sequence, 'agent.online', { sequence, type: 'agent.online' });

it('the events of the account come each once, over lost connections, until the key is no longer good', async () => {
  await using node = await startStreamNode((_asked, response, count) => {
    if (count === 1) beginStream(response, open(40), event(41));
    if (count === 2) beginStream(response, open(41), event(41), event(43));
    if (count <= 2) return void response.write('', () => response.socket?.destroy());
    if (count === 3) {
      beginStream(response, open(43));
      return void response.end();
    }
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ status: 'error', error: { code: 'UNAUTHORIZED', message: 'no', requestId: 'r' } }));
  });
  const seen: number[] = [];
  const follow = async () => {
    for await (const { sequence } of client(node).followEvents({ type: 'agent.online' })) seen.push(sequence);
  };
  await expect(follow()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  expect(seen).toEqual([41, 43]);
  expect(node.asked.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '41', '43', '43']);
  expect(node.asked[0]).toMatchObject({ method: 'GET', path: '/events?type=agent.online' });
  expect(node.asked[0]?.headers.accept).toBe('text/event-stream');
});

it('they go on after the node was away for longer than a call is repeated, as while it restarts', async () => {
  await using node = await startStreamNode((_asked, response, count) => {
    if (count === 1) beginStream(response, open(40), event(41));
    if (count === 1) return void response.write('', () => response.socket?.destroy());
    if (count < 6) return void response.socket?.destroy();
    beginStream(response, open(41), event(42));
  });
  const seen: number[] = [];
  for await (const { sequence } of client(node, 1).followEvents()) {
    seen.push(sequence);
    if (sequence === 42) break;
  }
  expect(seen).toEqual([41, 42]);
});

it('each open connection is told of, and without retries the first that brings nothing is the last', async () => {
  await using node = await startStreamNode((_asked, response, count) => {
    if (count === 1) beginStream(response, open(40), event(41));
    if (count === 2) beginStream(response, open(41));
    response.end();
  });
  const opened: number[] = [];
  const follow = async () => {
    for await (const _event of client(node, 0).followEvents({ after: 40, onOpen: (after) => void opened.push(after) }));
  };
  await expect(follow()).rejects.toThrow(NoAnswerError);
  expect(opened).toEqual([40, 41]);
  expect(node.asked).toHaveLength(3);
});
