import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { expect } from 'vitest';
import { answerWith, type Behaviour } from '../../support/test-agent.ts';
import { balanceOf, newClient } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { type CrashSite, PRICE } from './crash-site.ts';
import type { Insisted } from './insist.ts';

const asks: Behaviour = (request, response) =>
  (request.body.answers
    ? answerWith(200, { result: request.body.answers[0].input })
    : answerWith(200, { status: 'input_required', input: { id: 'day', message: 'Which day?' } }))(request, response);

/**
 * A call of an agent that asks back: the process dies between its question and the result. The question is asked once, its answer counts
 * once, and the agent is called under one key in each turn.
 */
export async function askingCall(
  site: CrashSite,
  arm: () => Promise<void>,
  recordOf: (key: string, insisted: Insisted) => Promise<RequestRecord>,
) {
  const [agent] = site.agents;
  agent.behave(asks);
  const { key } = await newClient(site, '0.12');
  const body = { task: 'survive', interactive: true, deadline: new Date(Date.now() + 120_000).toISOString() };
  const call = { key, body, headers: { 'idempotency-key': 'once', 'x-sync': 'true' } };
  await arm();
  const { requestId } = (await site.insist('POST', `/invoke/${agent.id}`, call)).answer.body.data;
  const asked = await until(async () => {
    const record: RequestRecord = (await site.insist('GET', `/invoke/${requestId}`, { key })).answer.body.data;
    return record.status === 'input_required' ? record : null;
  });
  const given = { inputId: asked.inputRequest?.inputId, action: 'accept', input: { day: 'Monday' } };
  const insisted = await site.insist('POST', `/invoke/${requestId}/input`, { key, body: given });
  const record = await recordOf(key, insisted);
  expect(record).toMatchObject({ status: 'completed', result: { day: 'Monday' }, cost: PRICE, turn: 2 });
  expect(record.turns).toMatchObject([{ turn: 1, action: 'accept' }]);
  const keys = new Set(agent.calls.map(({ headers }) => headers['idempotency-key']));
  expect(keys).toEqual(new Set([requestId, `${requestId}:2`]));
  expect(await balanceOf(site, key)).toEqual({ available: '0.07', held: '0.00' });
}
