import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/lib/until.ts';
import { contradictions } from '../support/books.ts';
import { type ProxiedHarness, startProxiedHarness } from '../support/proxied-harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: ProxiedHarness;
let agent: TestAgent;
let aheadMs = 0;
beforeAll(async () => {
  h = await startProxiedHarness({ clock: { now: () => new Date(Date.now() + aheadMs) } });
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

describe('a clock that runs ahead of the chain', () => {
  it('does not make a payment expire that the chain can still take', { timeout: 40_000 }, async () => {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(50_000n);
    const deadline = new Date(Date.now() + 3_600_000).toISOString();
    const invoke = (headers: Record<string, string> = {}) =>
      h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'patience', deadline }, headers });
    const headers = await payV2(h, wallet, await invoke());
    const sent = Promise.withResolvers<void>();
    h.proxy.rule('eth_sendRawTransaction', ({ answer }) => {
      sent.resolve();
      return answer(`0x${'0'.repeat(64)}`);
    });
    const paying = invoke(headers);
    await sent.promise;

    aheadMs = 600_000;
    let looks = 0;
    h.proxy.rule('eth_call', ({ forward }) => {
      looks += 1;
      return forward();
    });
    expect(await until(async () => (looks >= 3 ? true : null), { timeoutMs: 15_000, firstMs: 20, mostMs: 100 })).toBe(
      true,
    );
    h.proxy.rule('eth_sendRawTransaction', null);
    expect((await paying).body.data).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(await h.usdcOf(wallet.address)).toBe(0n);
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  });
});
