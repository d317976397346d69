import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAgentChecks } from '../../src/agents/health/agent-checks.ts';
import { joinNode, startJoinableHarness } from '../calls/stream/support/second-node.ts';
import { contradictions } from '../support/books.ts';
import { openBrowser } from '../support/browser.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import type { Answer, Harness } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, newClient } from '../support/treasury.ts';
import { until } from '../support/until.ts';
import { startWatch } from '../support/watch.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await startJoinableHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

type Host = Pick<Harness, 'request'>;
const counted = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status).length;
/** Sends calls to two processes in turn, all at once. */
const shared = (hosts: readonly Host[], count: number, send: (host: Host) => Promise<Answer>) =>
  Promise.all(Array.from({ length: count }, (_, index) => send(hosts[index % hosts.length] as Host)));
const invoke = (host: Host, key: string, headers: Record<string, string> = {}) =>
  host.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true', ...headers } });

describe('two processes of one node', () => {
  /** How long the other process goes on answering; both have it in use. */
  async function acceptedMs(use: () => Promise<Answer>, end: () => Promise<unknown>): Promise<number> {
    expect((await use()).status).toBe(200);
    await end();
    const sinceEnd = startWatch();
    let acceptedMs = 0;
    await until(async () => {
      const askedMs = sinceEnd();
      if ((await use()).status === 401) return true;
      acceptedMs = askedMs;
      return null;
    });
    return acceptedMs;
  }

  it('a key that is revoked at one is refused by the other within a second, though it is in use there', async () => {
    const other = await joinNode(h);
    const { key } = await h.newAccount();
    const { apiKey, keyId } = (await h.request('POST', '/account/keys', { key, body: { name: 'x' } })).body.data;
    const use = () => other.request('GET', '/account', { key: apiKey });
    const end = () => h.request('DELETE', `/account/keys/${keyId}`, { key });
    expect(await acceptedMs(use, end)).toBeLessThanOrEqual(1000);
  });

  it.each(['/auth/session', '/auth/sessions'])(
    'a session that ends at one (DELETE %s) is refused by the other within a second, though it is in use there',
    async (path) => {
      const other = await joinNode(h);
      const here = await openBrowser(h);
      const there = await openBrowser(other, here.wallet, here.cookie());
      const use = () => there.request('GET', '/account');
      expect(await acceptedMs(use, () => here.request('DELETE', path))).toBeLessThanOrEqual(1000);
    },
  );

  it('a plan is counted once: of calls at both, exactly as many pass as one process would let', async () => {
    const hosts = [h, await joinNode(h)];
    const calls = await h.newAccount({ plan: 'free' });
    const answers = await shared(hosts, 130, (host) => host.request('GET', '/account', { key: calls.key }));
    expect([counted(answers, 200), counted(answers, 429)]).toEqual([100, 30]);
    const free = await startTestAgent(h, { perRequest: '0' });
    onTestFinished(() => free.die());
    const invocations = await h.newAccount({ plan: 'free' });
    const body = { task: 'x' };
    const runs = await shared(hosts, 25, (host) =>
      host.request('POST', `/invoke/${free.id}`, { key: invocations.key, body }),
    );
    expect([counted(runs, 200), counted(runs, 429)]).toEqual([10, 15]);
  });

  it('the day of a key and a treasury are spent once: of calls at both, exactly those that they bear are made', async () => {
    const hosts = [h, await joinNode(h)];
    const client = await newClient(h, '1.20');
    const body = { name: 'x', scopes: ['invoke'], limits: { perDay: '0.50' } };
    const { apiKey } = (await h.request('POST', '/account/keys', { key: client.key, body })).body.data;
    const limited = await shared(hosts, 40, (host) => invoke(host, apiKey));
    expect([counted(limited, 200), counted(limited, 403)]).toEqual([10, 30]);
    const rest = await shared(hosts, 30, (host) => invoke(host, client.key));
    // A call that is decided once the treasury is empty is told how to pay (402); one that finds out later is refused (422).
    expect([counted(rest, 200), counted(rest, 402) + counted(rest, 422)]).toEqual([14, 16]);
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.00', held: '0.00' });
  });

  it('a payment that is shown to both is taken once, and both answer with the one result', async () => {
    const hosts = [h, await joinNode(h)];
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const headers = await payV2(h, wallet, await invoke(h, key));
    const before = agent.calls.length;
    const answers = await shared(hosts, 6, (host) => invoke(host, key, headers));
    expect(new Set(answers.map((answer) => answer.body.data?.requestId)).size).toBe(1);
    expect(counted(answers, 200)).toBe(6);
    expect(agent.calls.length - before).toBe(1);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('an agent is probed once when both look for agents to be probed', async () => {
    const other = await joinNode(h);
    const agents = await Promise.all(Array.from({ length: 8 }, () => startTestAgent(h)));
    onTestFinished(() => Promise.all(agents.map((each) => each.die())).then(() => undefined));
    const ids = agents.map(({ id }) => id);
    const probes = async () =>
      (
        await h.ctx.db.pool.query<{ probes: string }>(
          'select probes::text from agent_totals where agent_id = any($1) order by agent_id',
          [ids],
        )
      ).rows.map((row) => Number(row.probes));
    for (let round = 1; round <= 3; round++) {
      const before = await probes();
      const clock = fixedClock(new Date(Date.now() + round * 600_000));
      await Promise.all([h, other].map(({ ctx }) => createAgentChecks({ ...ctx, clock }).run()));
      expect((await probes()).map((count, index) => count - (before[index] ?? 0))).toEqual(Array(8).fill(1));
    }
  });
});
