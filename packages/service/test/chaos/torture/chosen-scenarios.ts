import { expect } from 'vitest';
import { balanceOf, newClient } from '../../support/treasury.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { type CrashSite, PRICE, PRICE_MICRO } from './crash-site.ts';
import type { Insisted } from './insist.ts';

const MATCHING = 'Contract translator';
const OTHER = 'Painter';

const call = { task: 'Translate the contract', maxCost: PRICE };

/** The first agent matches best; or, with `isSwapped`, the second. */
async function rank(site: CrashSite, isSwapped = false): Promise<void> {
  const names = isSwapped ? [OTHER, MATCHING] : [MATCHING, OTHER];
  for (const [index, agent] of site.agents.entries()) {
    const body = { name: names[index] };
    const { status } = await site.request('PUT', `/agents/${agent.id}`, { key: site.owner.key, body });
    expect(status).toBe(200);
  }
}

type RecordOf = (key: string, insisted: Insisted) => Promise<Record<string, unknown>>;

/** A payment for the agent that the offer named. Another agent is the best when it is shown. */
export async function chosenPaidCall(site: CrashSite, arm: () => Promise<void>, recordOf: RecordOf) {
  const [offered, other] = site.agents;
  await rank(site);
  const { key } = await site.newAccount();
  const wallet = await site.newWallet(PRICE_MICRO);
  const unpaid = await site.request('POST', '/invoke/auto', { key, body: call });
  expect([unpaid.status, unpaid.body.error.agentId]).toEqual([402, offered.id]);
  const headers = await payV2(site, wallet, unpaid);
  await rank(site, true);
  await arm();
  const insisted = await site.insist('POST', '/invoke/auto', { key, body: call, headers });
  const record = await recordOf(key, insisted);
  expect(record).toMatchObject({
    status: 'completed',
    agentId: offered.id,
    cost: PRICE,
    chosen: { agentId: offered.id },
  });
  const again = await site.insist('POST', '/invoke/auto', { key, body: call, headers });
  expect(again.answer.body.data.requestId).toBe(record.requestId);
  expect(new Set(offered.calls.map((each) => each.headers['idempotency-key']))).toEqual(new Set([record.requestId]));
  expect(other.calls).toEqual([]);
  expect(await site.usdcOf(wallet.address)).toBe(0n);
}

/** Paid from a treasury under a key: whatever was ranked before the death, one agent runs once, the one that the record names. */
export async function chosenTreasuryCall(site: CrashSite, arm: () => Promise<void>, recordOf: RecordOf) {
  await rank(site);
  const { key } = await newClient(site, '0.12');
  const options = { key, body: call, headers: { 'idempotency-key': 'once', 'x-sync': 'true' } };
  await arm();
  const insisted = await site.insist('POST', '/invoke/auto', options);
  const record = await recordOf(key, insisted);
  const [best, other] = site.agents;
  expect(record).toMatchObject({ status: 'completed', agentId: best.id, cost: PRICE, chosen: { agentId: best.id } });
  await rank(site, true);
  const again = await site.insist('POST', '/invoke/auto', options);
  expect(again.answer.body).toEqual(insisted.answer.body);
  expect(new Set(best.calls.map((each) => each.headers['idempotency-key']))).toEqual(new Set([record.requestId]));
  expect(other.calls).toEqual([]);
  expect(await balanceOf(site, key)).toEqual({ available: '0.07', held: '0.00' });
}
