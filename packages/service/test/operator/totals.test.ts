import { parseUsdc } from '@agent-network/contracts/money';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueApiKey } from '../../src/accounts/keys/manage-keys.ts';
import { createTotalsReader } from '../../src/operator/read-totals.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { answerWith, startTestAgent } from '../support/test-agent.ts';
import { newClient } from '../support/treasury.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const TODAY = new Date('2026-06-30T12:00:00Z');
/** A reader that was never asked; the one of the node may remember a minute. */
const totalsAt = (now: () => Date) => createTotalsReader({ ...h.ctx, clock: { ...h.ctx.clock, now } });

it('counts accounts, agents, calls, volume and fees of the whole node, as every account sees its own', async () => {
  const clients = [await newClient(h, '5.00'), await newClient(h, '5.00')];
  const agent = await startTestAgent(h, { perRequest: '0.05', behaviour: answerWith(200, { result: 1 }) });
  for (const { key } of [...clients, ...clients.slice(0, 1)])
    await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers: { 'x-sync': 'true' } });
  const own = await Promise.all(
    clients.map(async ({ key }) => (await h.request('GET', '/account/overview', { key })).body.data),
  );
  const { accountId } = clients[0] as { accountId: string };
  const key = (await issueApiKey(h.ctx, { accountId, name: 'op', scopes: ['operator'], expiresAt: null })).apiKey;
  const { data } = (await h.request('GET', '/operator/totals', { key })).body;
  const spent = own.reduce((sum, { spent: each }) => sum + parseUsdc(each), 0n);
  expect(parseUsdc(data.volume.total)).toBe(spent);
  expect(data).toMatchObject({ calls: { total: 3, days30: 3 }, agents: { total: 1, online: 1 } });
  expect(data.volume.days30).toBe(data.volume.total);
  const { rows } = await h.ctx.db.pool.query('select count(*)::int as accounts from account');
  expect(data.accounts).toBe(rows[0].accounts);
  const reserves = (await h.request('GET', '/operator/status', { key })).body.data.reserves;
  expect(data.fees).toBe(reserves.liabilities.fees);
  await agent.die();
});

it('is read at most once a minute, and days before the last thirty count in the total only', async () => {
  const { pool } = h.ctx.db;
  const [{ account_id: account, agent_id: agent }] = (await pool.query('select account_id, id as agent_id from agent'))
    .rows;
  let now = TODAY;
  const reader = totalsAt(() => now);
  const before = await reader.read();
  await pool.query(
    `insert into agent_use (account_id, day, agent_id, calls, completed, failed, spent_micro)
     values ($1, '2026-05-31', $2, 10, 10, 0, 1000000), ($1, '2026-06-01', $2, 1, 1, 0, 250000)`,
    [account, agent],
  );
  now = new Date(TODAY.getTime() + 59_999);
  expect(await reader.read()).toBe(before);
  now = new Date(TODAY.getTime() + 60_000);
  const after = await reader.read();
  expect(after.calls.total - before.calls.total).toBe(11);
  expect(parseUsdc(after.volume.total) - parseUsdc(before.volume.total)).toBe(1_250_000n);
  expect(after.calls.days30 - before.calls.days30).toBe(1);
  expect(parseUsdc(after.volume.days30) - parseUsdc(before.volume.days30)).toBe(250_000n);
});

it('does not keep a read that failed', async () => {
  let fails = true;
  const db = {
    ...h.ctx.db,
    query: ((...args: Parameters<typeof h.ctx.db.query>) =>
      fails ? Promise.reject(new Error('gone')) : h.ctx.db.query(...args)) as typeof h.ctx.db.query,
  };
  const reader = createTotalsReader({ ...h.ctx, db });
  await expect(reader.read()).rejects.toThrow('gone');
  fails = false;
  expect((await reader.read()).accounts).toBeGreaterThan(0);
});
