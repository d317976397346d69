import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { until } from '../support/until.ts';
import { startWatch } from '../support/watch.ts';

const AGENTS = 40;
const isSilent = (name: string) => name.includes('silent');

let dns: DnsServer;
let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
beforeAll(async () => {
  dns = await startDnsServer((name) => (isSilent(name) ? null : ['127.0.0.1']));
  h = await startHarness({ env: { DNS_SERVERS: dns.address } });
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0', host: 'agent.good.test' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
  await dns.stop();
});

const statusOf = async (id: string) => (await h.request('GET', `/agents/${id}/status`)).body.data;

it(`${AGENTS} agents with names that do not resolve delay neither the node nor the agents of others`, async () => {
  const stranger = await h.newAccount();
  const made = await Promise.all(
    Array.from({ length: AGENTS }, (_, i) =>
      h.request('POST', '/agents', {
        key: stranger.key,
        body: {
          ...{ name: `silent ${i}`, capabilities: ['x'], rates: { perRequest: '0' } },
          endpoint: `http://agent.silent-${i}.test/`,
        },
      }),
    ),
  );
  expect(made.map(({ status }) => status)).toEqual(Array(AGENTS).fill(200));
  const isAsked = async () => new Set(dns.asked.filter(isSilent)).size > 4 || null;
  await until(isAsked);

  const newcomer = await startTestAgent(h, { owner, perRequest: '0', host: 'newcomer.good.test' });
  await newcomer.die();
  for (let i = 0; i < 10; i++) {
    const tookMs = startWatch();
    const [ready, called] = await Promise.all([
      h.request('GET', '/readyz'),
      h.request('POST', `/invoke/${agent.id}`, { key: owner.key, body: { task: 'x' }, headers: { 'x-sync': 'true' } }),
    ]);
    expect([ready.status, called.body.data?.status]).toEqual([200, 'completed']);
    expect(tookMs()).toBeLessThan(1500);
  }
  expect((await statusOf(agent.id)).online).toBe(true);
});
