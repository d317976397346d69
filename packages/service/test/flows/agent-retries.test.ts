import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { beforeDeadline } from '../support/deadline.ts';
import type { Harness } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import {
  type AgentRequest,
  answerWith,
  type Behaviour,
  echo,
  startTestAgent,
  type TestAgent,
} from '../support/test-agent.ts';
import { balanceOf, newClient, untilEnded } from '../support/treasury.ts';
import { countStalls } from '../support/watch.ts';

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

/** Fails with these statuses, one call after the other, and works from then on. */
const failingFirst = (...statuses: number[]): Behaviour => {
  const left = [...statuses];
  return (request, response) => {
    const status = left.shift();
    return status === undefined
      ? echo(request, response)
      : answerWith(status, { error: { message: 'not now' } })(request, response);
  };
};
const keysOf = (calls: readonly AgentRequest[]) => new Set(calls.map(({ headers }) => headers['idempotency-key']));

async function invoke() {
  const client = await newClient(h, '0.05');
  const from = agent.calls.length;
  const { body } = await h.request('POST', `/invoke/${agent.id}`, {
    key: client.key,
    body: { task: 'x' },
    headers: { 'x-sync': 'true' },
  });
  return { client, record: body.data, calls: agent.calls.slice(from) };
}

describe('calling an agent again', () => {
  it.each([[[502]], [[503]], [[504]], [[503, 502]]])(
    'after %j it is called again under the same key and charged once',
    async (statuses) => {
      agent.behave(failingFirst(...statuses));
      const { client, record, calls } = await invoke();
      expect(record).toMatchObject({ status: 'completed', cost: '0.05' });
      expect(calls.length).toBe(statuses.length + 1);
      expect(keysOf(calls)).toEqual(new Set([record.requestId]));
      expect(new Set(calls.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(await balanceOf(h, client.key)).toEqual({ available: '0.00', held: '0.00' });
    },
  );

  it('stops after three tries', async () => {
    agent.behave(failingFirst(503, 503, 503));
    const { record, calls } = await invoke();
    expect(record).toMatchObject({
      status: 'failed',
      error: { code: 'agent_error', message: expect.stringContaining('503') },
    });
    expect(calls.length).toBe(3);
  });

  it.each([400, 401, 404, 429, 500, 501])('is not done after %i: the agent has decided', async (status) => {
    agent.behave(failingFirst(status));
    const { record, calls } = await invoke();
    expect(record).toMatchObject({ status: 'failed', error: { code: 'agent_error' } });
    expect(calls.length).toBe(1);
  });

  it('is not done after a call that the agent may have worked on', async () => {
    agent.behave((_request, response) => void response.socket?.destroy());
    const { record, calls } = await invoke();
    expect(record).toMatchObject({ status: 'failed', error: { code: 'agent_unreachable' } });
    expect(calls.length).toBe(1);
  });

  it('reaches an agent that was restarting', async () => {
    agent.behave(echo);
    const client = await newClient(h, '0.05');
    await agent.die();
    const { body } = await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x' } });
    await agent.revive();
    expect(await untilEnded(h, client.key, body.data.requestId)).toMatchObject({ status: 'completed', cost: '0.05' });
  });

  it('never goes on past the deadline', async () => {
    agent.behave(answerWith(503, ''));
    const client = await newClient(h, '0.05');
    const call = async (soon: string) => {
      const options = { key: client.key, body: { task: 'x', deadline: soon }, headers: { 'x-sync': 'true' } };
      const { status, body } = await h.request('POST', `/invoke/${agent.id}`, options);
      return [400, 503].includes(status) ? null : { deadline: soon, body };
    };
    const stalls = countStalls();
    const { deadline, body } = await beforeDeadline(150, call);
    expect(body.data.status).toBe('failed');
    expect(Date.parse(body.data.completedAt) - Date.parse(deadline) - stalls()).toBeLessThan(500);
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.05', held: '0.00' });
  });
});

describe('an answer of an agent', () => {
  it('is delivered as it was given, whatever characters it holds', async () => {
    const result = {
      text: 'a\u0000b\ud800c\u202e',
      nothing: null,
      list: [1.5, true, { '': [] }],
      big: 'é'.repeat(1000),
    };
    agent.behave(answerWith(200, { result }));
    const { client, record } = await invoke();
    expect(record).toMatchObject({ status: 'completed', result });
    expect((await h.request('GET', `/invoke/${record.requestId}`, { key: client.key })).body.data.result).toEqual(
      result,
    );
  });

  it('may be exactly 1 MiB long', async () => {
    const text = JSON.stringify({ result: 'x'.repeat(1024 * 1024 - 13) });
    expect(text.length).toBe(1024 * 1024);
    agent.behave(answerWith(200, text));
    expect((await invoke()).record.status).toBe('completed');
  });
});
