import { afterAll, beforeAll, expect, it } from 'vitest';
import { findInvocation } from '../../../src/calls/invocation-store.ts';
import { type CallTarget, STOPPING } from '../../../src/calls/protocols/adapter.ts';
import { completed } from '../../../src/calls/protocols/agent-answer.ts';
import type { AnswerMedia } from '../../../src/calls/protocols/answer-media.ts';
import { callOnce } from '../../../src/calls/protocols/call-once.ts';
import { findUpstreamCall } from '../../../src/calls/protocols/upstream-call-store.ts';
import { GuardedFetchError } from '../../../src/lib/net/guarded-fetch-error.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0', behaviour: () => undefined });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

async function newInvocation() {
  const { key } = await h.newAccount();
  const { data } = (await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' } })).body;
  const invocation = await findInvocation(h.ctx.db, data.requestId);
  if (!invocation) throw new Error('the request is stored');
  return invocation;
}

const target = {} as CallTarget;
const media = {} as AnswerMedia;

it('a call that its process stopped before sending it is sent by the next process', async () => {
  const invocation = await newInvocation();
  let sent = 0;
  const adapter = {
    prepare: async () => async () => {
      sent += 1;
      return completed('done');
    },
  };
  const stopped = await callOnce(
    h.ctx,
    { target, answers: [], media, invocation, signal: AbortSignal.abort(STOPPING) },
    adapter,
  );
  expect(stopped.kind).toBe('failed');
  expect([sent, await findUpstreamCall(h.ctx.db, invocation)]).toEqual([0, null]);
  const { signal } = new AbortController();
  expect(await callOnce(h.ctx, { target, answers: [], media, invocation, signal }, adapter)).toMatchObject({
    kind: 'completed',
  });
  expect(sent).toBe(1);
});

it('what was opened for a call is closed once, however the call ends', async () => {
  const invocation = await newInvocation();
  let closed = 0;
  let sent = 0;
  const send = async () => {
    sent += 1;
    throw new GuardedFetchError('connect');
  };
  const close = () => {
    closed += 1;
  };
  const adapter = { prepare: async () => Object.assign(send, { close }) };
  const { signal } = new AbortController();
  const stopped = AbortSignal.abort(STOPPING);
  expect((await callOnce(h.ctx, { target, answers: [], media, invocation, signal: stopped }, adapter)).kind).toBe(
    'failed',
  );
  expect([sent, closed]).toEqual([0, 1]);
  const takenOver = { ...invocation, attempt: invocation.attempt + 1 };
  expect((await callOnce(h.ctx, { target, answers: [], media, invocation: takenOver, signal }, adapter)).kind).toBe(
    'failed',
  );
  expect([sent, closed]).toEqual([0, 2]);
  const outcome = await callOnce(h.ctx, { target, answers: [], media, invocation, signal }, adapter);
  expect(outcome).toMatchObject({ kind: 'failed', reason: 'agent_unreachable' });
  expect([sent, closed]).toEqual([3, 3]);
});
