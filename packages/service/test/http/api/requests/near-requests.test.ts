import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Harness } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { type Client, newClient } from '../../../support/treasury.ts';

// What programs send or expect that were written for other APIs.

let h: Harness;
let client: Client;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  client = await newClient(h, '1');
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent?.die();
  await h?.stop();
});

describe('money as a JSON number', () => {
  const invoke = (maxCost: unknown) =>
    h.request('POST', `/invoke/${agent.id}`, {
      key: client.key,
      body: { task: 'x', maxCost },
      headers: { 'x-sync': 'true' },
    });

  it('that is exactly an amount is taken, and what is stored is decimal text', async () => {
    expect((await invoke(0.05)).body.data).toMatchObject({ status: 'completed', cost: '0.05' });
    const rates = { perRequest: 0.07, perHour: 1 };
    const body = { name: 'Counts in numbers', capabilities: ['x'], endpoint: agent.endpoint, rates };
    const { data } = (await h.request('POST', '/agents', { key: client.key, body })).body;
    expect((await h.request('GET', `/agents/${data.id}`)).body.data.rates).toMatchObject({
      perRequest: '0.07',
      perHour: '1.00',
    });
  });

  it.each([0.1 + 0.2, 1e-7, -0.05, 1e21])('of %d is refused as no amount, and nothing is charged', async (maxCost) => {
    const { status, body } = await invoke(maxCost);
    expect(status).toBe(400);
    expect(body.error.details.fields[0]).toMatchObject({ path: 'maxCost', message: expect.stringContaining('USDC') });
  });
});

describe('a 401', () => {
  it.each([
    ['without a key', undefined, 'Bearer'],
    ['with a bad key', 'ank_test_bad', 'Bearer error="invalid_token"'],
  ])('%s names its scheme', async (_how, key, challenge) => {
    const answer = await h.request('GET', '/account', { key });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, challenge]);
  });
});

it('the OpenAPI document names this node, for programs that read it from a file', async () => {
  expect((await h.request('GET', '/openapi.json')).body.servers).toEqual([{ url: h.baseUrl }]);
});

it('a crawler of the bazaar takes a thousand resources at once', async () => {
  const { status, body } = await h.request('GET', '/discovery/resources?limit=1000');
  expect(status).toBe(200);
  expect(body.pagination).toMatchObject({ limit: 1000, offset: 0 });
  expect(body.items.length).toBe(Math.min(1000, body.pagination.total));
});
