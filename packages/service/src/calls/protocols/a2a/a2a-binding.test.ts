import { expect, it } from 'vitest';
import type { A2aAgent } from '../../../agents/health/a2a-card-client.ts';
import type { Invocation } from '../../invocation.ts';
import { followA2aStream } from './a2a-stream.ts';
import { endOf } from './a2a-task-client.ts';
import { type A2aMessage, bound } from './a2a-wire.ts';

const agent = (more: Partial<A2aAgent>): A2aAgent => ({
  ...{
    url: 'https://x.example/a2a',
    binding: 'JSONRPC',
    version: '1.0',
    tenant: 'a b',
    isStreaming: true,
    extensions: [],
  },
  ...more,
});
const message: A2aMessage = { id: 'm', text: 'go', data: null, task: null, metadata: null };
const all = (of: A2aAgent) => [
  ...[bound.message(of, 'req', message, false), bound.message(of, 'req', message, true)],
  ...[bound.get(of, 'task/1'), bound.cancel(of, 'task/1')],
];

it.each(['1.0', '0.3'] as const)('every method of JSON-RPC %s names the tenant', (version) => {
  for (const { url, method, body } of all(agent({ version }))) {
    expect([url, method]).toEqual(['https://x.example/a2a', 'POST']);
    expect(body).toMatchObject({ params: { tenant: 'a b' } });
  }
  for (const { body } of all(agent({ version, tenant: null }))) expect(body).not.toHaveProperty('params.tenant');
});

it('every path of HTTP+JSON begins with the tenant', () => {
  expect(all(agent({ binding: 'HTTP+JSON' })).map(({ method, url }) => `${method} ${url}`)).toEqual([
    'POST https://x.example/a2a/a%20b/message:send',
    'POST https://x.example/a2a/a%20b/message:stream',
    'GET https://x.example/a2a/a%20b/tasks/task%2F1',
    'POST https://x.example/a2a/a%20b/tasks/task%2F1:cancel',
  ]);
  expect(bound.get(agent({ binding: 'HTTP+JSON', tenant: null }), 't').url).toBe('https://x.example/a2a/tasks/t');
});

it('events of HTTP+JSON are read without an envelope', async () => {
  async function* stream() {
    for (const event of [
      { artifactUpdate: { taskId: 't', artifact: { artifactId: 'a', parts: [{ text: 'done' }] } } },
      { statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_COMPLETED' } } },
    ])
      yield Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
  }
  const recorder = { add: async () => true, isTooMuch: () => false };
  const { task } = await followA2aStream(stream(), recorder, async () => undefined, { resultIn: (event) => event });
  expect(task && endOf(task, { invocation: {} as Invocation, answers: [] })).toMatchObject({
    kind: 'completed',
    result: { text: 'done' },
  });
});
