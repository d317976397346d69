import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../support/books.ts';
import type { Harness } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { type Client, newClient } from '../support/treasury.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
let other: TestAgent;
let client: Client;
beforeAll(async () => {
  h = await borrowHarness();
  [agent, other, client] = await Promise.all([
    startTestAgent(h, { perRequest: '0.05' }),
    startTestAgent(h, { perRequest: '0.20' }),
    newClient(h, '20'),
  ]);
});
afterAll(async () => {
  await Promise.all([agent.die(), other.die()]);
  await h.stop();
});
afterEach(async () => expect(await contradictions(h.databaseUrl)).toEqual([]));

async function keyWith(limits: object): Promise<{ apiKey: string; keyId: string }> {
  const body = { name: 'limited', scopes: ['invoke', 'payments:read'], limits };
  const answer = await h.request('POST', '/account/keys', { key: client.key, body });
  expect(answer.status).toBe(200);
  return answer.body.data;
}
const invoke = (key: string, to: TestAgent = agent, headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${to.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true', ...headers } });
const limitOf = ({ body }: { body: { error?: { details?: { limit?: string } } } }) =>
  body.error?.details?.limit ?? null;

describe('a limited key', () => {
  it('shows its limits in every list and refuses those that it could get around', async () => {
    const limits = { perCall: '0.05', perDay: '1.00', allowedAgents: [agent.id] };
    const { keyId } = await keyWith(limits);
    const { keys } = (await h.request('GET', '/account/keys', { key: client.key })).body.data;
    expect(keys.find((each: { keyId: string }) => each.keyId === keyId).limits).toEqual(limits);
    const body = { name: 'x', scopes: ['invoke', 'payments:withdraw'], limits: { perDay: '1' } };
    expect((await h.request('POST', '/account/keys', { key: client.key, body })).status).toBe(400);
  });

  it('does not pay more for a call than it may, and nothing is held or offered', async () => {
    const { apiKey } = await keyWith({ perCall: '0.05' });
    expect((await invoke(apiKey)).body.data.status).toBe('completed');
    const refused = await invoke(apiKey, other);
    expect([refused.status, limitOf(refused)]).toEqual([403, 'perCall']);
    const unpaid = await invoke(apiKey, other, { 'x-payment-method': 'x402' });
    expect([unpaid.status, unpaid.headers.get('payment-required')]).toEqual([403, null]);
  });

  it('invokes the agents that it may, and no other, alone or in bulk', async () => {
    const { apiKey } = await keyWith({ allowedAgents: [agent.id] });
    expect((await invoke(apiKey)).status).toBe(200);
    expect(limitOf(await invoke(apiKey, other))).toBe('allowedAgents');
    const body = { task: 'x', agents: [agent.id, other.id], strategy: 'all' };
    expect(limitOf(await h.request('POST', '/invoke/bulk', { key: apiKey, body }))).toBe('allowedAgents');
  });

  it('of forty calls at once, exactly those that the day allows are made', async () => {
    const { apiKey } = await keyWith({ perDay: '0.50' });
    const answers = await Promise.all(Array.from({ length: 40 }, () => invoke(apiKey)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(new Set(answers.filter(({ status }) => status !== 200).map(limitOf))).toEqual(new Set(['perDay']));
  });

  it('has what failed, and what an agent did not charge, left for other calls of the day', async () => {
    const { apiKey } = await keyWith({ perDay: '0.10' });
    agent.behave(answerWith(500, { error: { code: 'no', message: 'no' } }));
    for (let call = 0; call < 4; call++) expect((await invoke(apiKey)).body.data.status).toBe('failed');
    agent.behave(answerWith(200, { result: 1, cost: '0.01' }));
    for (let call = 0; call < 5; call++) expect((await invoke(apiKey)).body.data.status).toBe('completed');
    agent.behave(echo);
    expect((await invoke(apiKey)).status).toBe(200);
    expect(limitOf(await invoke(apiKey))).toBe('perDay');
  });

  it('a call beyond the balance of the treasury does not count for the day', async () => {
    const poor = await newClient(h, '0.01');
    const body = { name: 'x', scopes: ['invoke'], limits: { perDay: '0.05' } };
    const { apiKey } = (await h.request('POST', '/account/keys', { key: poor.key, body })).body.data;
    expect((await invoke(apiKey)).status).toBe(422);
    const wallet = await h.newWallet(100_000n);
    const headers = { 'x-payment-method': 'x402' };
    const pay = async () => invoke(apiKey, agent, await payV2(h, wallet, await invoke(apiKey, agent, headers)));
    expect((await pay()).body.data.status).toBe('completed');
    expect(limitOf(await pay())).toBe('perDay');
    expect(await h.usdcOf(wallet.address)).toBe(50_000n);
  });

  it('cannot start any part of a bulk request with a maximum cost above the rest of the day', async () => {
    const { apiKey } = await keyWith({ perDay: '0.24' });
    const body = { task: 'x', agents: [agent.id, other.id], strategy: 'all' };
    const refused = await h.request('POST', '/invoke/bulk', { key: apiKey, body });
    expect([limitOf(refused), refused.body.error.details.allowed]).toEqual(['perDay', '0.24']);
    for (let call = 0; call < 4; call++) expect((await invoke(apiKey)).status).toBe(200);
  });

  it('that was rolled hands its limits and what it spent to its successor', async () => {
    const old = await keyWith({ perDay: '0.10' });
    expect((await invoke(old.apiKey)).status).toBe(200);
    const rolled = await h.request('POST', `/account/keys/${old.keyId}/roll`, { key: client.key });
    const { apiKey, limits } = rolled.body.data;
    expect(limits.perDay).toBe('0.10');
    expect((await invoke(apiKey)).status).toBe(200);
    expect(limitOf(await invoke(old.apiKey))).toBe('perDay');
    expect(limitOf(await invoke(apiKey))).toBe('perDay');
  });
});
