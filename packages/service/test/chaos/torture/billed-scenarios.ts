import { expect } from 'vitest';
import { createTill } from '../../support/billing-agent.ts';
import { askDatabase } from '../../support/books.ts';
import { answerWith } from '../../support/test-agent.ts';
import { balanceOf, newClient } from '../../support/treasury.ts';
import type { CrashSite } from './crash-site.ts';
import { tokenTransfers } from './token-transfers.ts';

const BILL_MICRO = 30_000n;

const tillOf = (site: CrashSite) => createTill({ ...site, rpcUrl: site.chain.rpcUrl });

/** Payments of the node's wallet to an address, one entry for each transfer. */
async function paidTo(site: CrashSite, address: string): Promise<bigint[]> {
  const { token } = site.ctx.chain;
  const transfers = await tokenTransfers(site.chain.rpcUrl, token, { from: site.walletAddress, to: address });
  return transfers.map(({ valueMicro }) => valueMicro);
}

/** An agent that bills directly and collects. */
export async function billedCall(site: CrashSite, arm: () => Promise<void>, untilPeace: () => Promise<void>) {
  const [agent] = site.agents;
  const till = tillOf(site);
  agent.behave(till.bill());
  const { key } = await newClient(site, '0.12');
  const call = { key, body: { task: 'survive' }, headers: { 'idempotency-key': 'once', 'x-sync': 'true' } };
  await arm();
  const { data } = (await site.insist('POST', `/invoke/${agent.id}`, call)).answer.body;
  expect(data).toMatchObject({ status: 'completed', result: { echo: 'survive' }, cost: '0.03', refund: '0.02' });
  await untilPeace();
  expect(new Set(till.shown).size).toBe(1);
  expect(await paidTo(site, till.address)).toEqual([BILL_MICRO]);
  expect(await balanceOf(site, key)).toEqual({ available: '0.09', held: '0.00' });
}

/** One that bills, fails, and does not collect. The place is armed when the call has ended: what comes then is the return's. */
export async function uncollectedCall(site: CrashSite, arm: () => Promise<void>, untilPeace: () => Promise<void>) {
  const [agent] = site.agents;
  const till = tillOf(site);
  agent.behave(till.bill({ collects: 'never', work: answerWith(500, {}) }));
  const { key } = await newClient(site, '0.12');
  const call = { key, body: { task: 'fail' }, headers: { 'x-sync': 'true' } };
  const { requestId, cost } = (await site.request('POST', `/invoke/${agent.id}`, call)).body.data;
  expect(cost).toBe('0.03');
  await arm();
  await askDatabase(site.databaseUrl, `update chain_payment set valid_before = 0 where purpose = 'bill'`);
  await untilPeace();
  const { data } = (await site.insist('GET', `/invoke/${requestId}`, { key })).answer.body;
  expect(data).toMatchObject({ status: 'failed', cost: '0.00', refund: '0.05' });
  expect(await paidTo(site, till.address)).toEqual([]);
  expect(await balanceOf(site, key)).toEqual({ available: '0.12', held: '0.00' });
}
