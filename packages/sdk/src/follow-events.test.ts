import { expect, it } from 'vitest';
import { beginStream, frame, startStreamNode } from '../test/support/fake-stream.ts';
import { createClient } from './client.ts';

const client = (node: { baseUrl: string }) => createClient({ baseUrl: node.baseUrl, apiKey: 'ank_test_x' });
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
