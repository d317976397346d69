import { expect } from 'vitest';
import { startOpenaiUpstream } from '../../calls/protocols/support/openai-upstream.ts';
import { listUpstream } from '../../calls/protocols/support/upstream.ts';
import { balanceOf, newClient } from '../../support/treasury.ts';
import { type CrashSite, PRICE } from './crash-site.ts';

const DEADLINE_MS = 10_000;

/**
 * A call of an endpoint that may run a repeated request twice: the process dies between recording the intent and storing the answer. No
 * process sends it again; at its deadline the call fails and is refunded.
 */
export async function sentOnceCall(site: CrashSite, arm: () => Promise<void>, untilPeace: () => Promise<void>) {
  const upstream = await startOpenaiUpstream();
  try {
    const { id } = await listUpstream(site, upstream, { owner: site.owner, perRequest: PRICE });
    const { key } = await newClient(site, '0.12');
    const deadline = new Date(Date.now() + DEADLINE_MS).toISOString();
    const call = { key, body: { task: 'survive', deadline }, headers: { 'idempotency-key': 'once', 'x-sync': 'true' } };
    await arm();
    const { requestId } = (await site.insist('POST', `/invoke/${id}`, call)).answer.body.data;
    await untilPeace();
    const { data } = (await site.insist('GET', `/invoke/${requestId}`, { key })).answer.body;
    expect(data).toMatchObject({ status: 'failed', refund: PRICE, error: { code: 'deadline_exceeded' } });
    expect(Date.parse(data.completedAt)).toBeGreaterThanOrEqual(Date.parse(deadline));
    expect(upstream.work.length).toBeLessThanOrEqual(1);
    expect(await balanceOf(site, key)).toEqual({ available: '0.12', held: '0.00' });
  } finally {
    await upstream.stop();
  }
}
