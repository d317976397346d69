import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { openSse } from './support/sse-client.ts';
import { chunk, progress, result, spokenBy } from './support/streaming-agent.ts';

let h: Harness;
let client: Client;
const agents: TestAgent[] = [];
beforeAll(async () => {
  h = await borrowHarness();
  client = await newClient(h, '1.00');
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  await h.stop();
});

const read = async (requestId: string) =>
  (await h.request('GET', `/invoke/${requestId}`, { key: client.key })).body.data;

it('the progress of a streaming agent is in its record until it ends, as plain text', async () => {
  const talk = spokenBy();
  const agent = await startTestAgent(h, { perRequest: '0.05', behaviour: talk.behaviour });
  agents.push(agent);
  const body = { task: 'x', stream: true };
  const stream = await openSse(h, 'POST', `/invoke/${agent.id}`, { key: client.key, body });
  const [created] = await stream.take(2);
  const { requestId } = created?.data ?? {};
  expect(await read(requestId)).not.toHaveProperty('progress');
  const said = await talk.next();
  said.say(progress({ fraction: 4, message: 'almost\u202e\u001b[2J', step: 3 }));
  const shown = { fraction: 1, message: 'almost  [2J' };
  expect((await stream.next())?.data).toEqual({ requestId, step: 3, ...shown });
  said.say(chunk('one'));
  await stream.next();
  expect((await read(requestId)).progress).toEqual({ ...shown, at: expect.any(String) });
  said.say(result('done'));
  await stream.rest();
  const ended = await read(requestId);
  expect([ended.status, ended.progress]).toEqual(['completed', undefined]);
});

it('a task of our A2A gateway tells the progress as messages', async () => {
  const talk = spokenBy();
  const agent = await startTestAgent(h, { perRequest: '0.05', behaviour: talk.behaviour });
  agents.push(agent);
  const params = { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'x' }] } };
  const answering = h.request('POST', `/a2a/${agent.id}`, {
    ...{ key: client.key, headers: { 'a2a-version': '1.0' } },
    body: { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params },
  });
  const said = await talk.next();
  said.say(progress({ fraction: 0.5, message: 'half way' }));
  said.say(result('done'));
  const text = JSON.stringify((await answering).body);
  expect(text).toContain('half way');
  expect(text).toContain('urn:agent-network:progress');
});

it('the progress of a polled agent is in its record and its events, and is no output that a caller pays for', async () => {
  let told: unknown;
  const agent = await startTestAgent(h, {
    perRequest: '0.05',
    behaviour: answerWith(202, { status_url: '/status' }),
    aside(request, response) {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ status: 'processing', progress: told }));
    },
  });
  agents.push(agent);
  const { requestId } = (await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x' } })).body
    .data;
  told = { fraction: 0.25, message: 'é'.repeat(300), more: 'ignored' };
  const { progress: shown } = await until(async () => {
    const record = await read(requestId);
    return record.progress ? record : null;
  });
  expect(shown).toMatchObject({ fraction: 0.25, message: expect.stringMatching(/^é{50,100}$/) });
  const cancelled = await h.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
  expect(cancelled.body.data).toMatchObject({ refund: '0.05' });
  await untilEnded(h, client.key, requestId);
  const { body } = await h.request('GET', `/invoke/${requestId}/events`, { key: client.key });
  expect(body).toContain('"fraction":0.25');
  expect(body).not.toContain('ignored');
});
