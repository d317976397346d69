import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { expect } from 'vitest';
import { startA2aUpstream } from '../../calls/protocols/support/a2a-upstream.ts';
import { listUpstream } from '../../calls/protocols/support/upstream.ts';
import { answerWith, type Behaviour } from '../../support/test-agent.ts';
import { balanceOf, newClient } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { type CrashSite, PRICE } from './crash-site.ts';
import type { Insisted } from './insist.ts';

const asks: Behaviour = (request, response) =>
  (request.body.answers
    ? answerWith(200, { result: request.body.answers[0].input })
    : answerWith(200, { status: 'input_required', input: { id: 'day', message: 'Which day?' } }))(request, response);

type RecordOf = (key: string, insisted: Insisted) => Promise<RequestRecord>;

/** A call of an agent that asks back, to its end. The process dies between its question and the result. */
async function answeredCall(site: CrashSite, agentId: string, arm: () => Promise<void>, recordOf: RecordOf) {
  const { key } = await newClient(site, '0.12');
  const body = { task: 'survive', interactive: true, deadline: new Date(Date.now() + 120_000).toISOString() };
  const call = { key, body, headers: { 'idempotency-key': 'once', 'x-sync': 'true' } };
  await arm();
  const { requestId } = (await site.insist('POST', `/invoke/${agentId}`, call)).answer.body.data;
  const asked = await until(async () => {
    const record: RequestRecord = (await site.insist('GET', `/invoke/${requestId}`, { key })).answer.body.data;
    return record.status === 'input_required' ? record : null;
  });
  const given = { inputId: asked.inputRequest?.inputId, action: 'accept', input: { day: 'Monday' } };
  const insisted = await site.insist('POST', `/invoke/${requestId}/input`, { key, body: given });
  const record = await recordOf(key, insisted);
  expect(record).toMatchObject({ status: 'completed', cost: PRICE, turn: 2 });
  expect(record.turns).toMatchObject([{ turn: 1, action: 'accept' }]);
  expect(await balanceOf(site, key)).toEqual({ available: '0.07', held: '0.00' });
  return record;
}

/** The question is asked once, its answer counts once, and the agent is called under one key in each turn. */
export async function askingCall(site: CrashSite, arm: () => Promise<void>, recordOf: RecordOf) {
  const [agent] = site.agents;
  agent.behave(asks);
  const { requestId, result } = await answeredCall(site, agent.id, arm, recordOf);
  expect(result).toEqual({ day: 'Monday' });
  const keys = new Set(agent.calls.map(({ headers }) => headers['idempotency-key']));
  expect(keys).toEqual(new Set([requestId, `${requestId}:2`]));
}

/** An agent of A2A, which would take a message that comes twice as two, gets each once. */
export async function askingTaskCall(site: CrashSite, arm: () => Promise<void>, recordOf: RecordOf) {
  const upstream = await startA2aUpstream();
  try {
    upstream.mode = { kind: 'asks', questions: [{ message: 'Which day?' }] };
    const { id } = await listUpstream(site, upstream, { owner: site.owner, perRequest: PRICE });
    const { requestId, result } = await answeredCall(site, id, arm, recordOf);
    expect(JSON.stringify(result)).toContain('Monday');
    const keys = upstream.work.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([requestId, `${requestId}:2`]);
  } finally {
    await upstream.stop();
  }
}
