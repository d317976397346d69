import { callChain } from '@agent-network/chain/chain-rpc-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerMissing } from '../../../src/agents/onchain/register-verified.ts';
import { askDatabase } from '../../support/books.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { startTestAgent } from '../../support/test-agent.ts';
import { until } from '../../support/until.ts';
import { gasUsed } from './support/gas-meter.ts';

const TOKENS_PER_DAY = 2;
/** A token and its retirement, each in a transaction of its own. */
const GAS_OF_TOKEN = 500_000;

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ registers: true, env: { TOKENS_PER_DAY: String(TOKENS_PER_DAY) } });
});
afterAll(() => h.stop());

const tokensOf = async (accountId: string) =>
  askDatabase(
    h.databaseUrl,
    `select w.id from registry_write w join agent g on g.id = w.subject_id where w.kind = 'register' and g.account_id = $1`,
    [accountId],
  );
const untilWritten = () =>
  until(async () => {
    await h.ctx.registryWriter.write();
    const open = await askDatabase(h.databaseUrl, `select id from registry_write where state in ('due', 'sent')`);
    return open.length === 0 || null;
  });

it('registering and removing agents over and over costs the registrar no more than a day’s tokens; others are not held up', async () => {
  const owner = await h.newAccount();
  await untilWritten();
  const before = await gasUsed(h);
  for (let cycle = 0; cycle < 6; cycle++) {
    const agent = await startTestAgent(h, { owner });
    await untilWritten();
    expect((await h.request('DELETE', `/agents/${agent.id}`, { key: owner.key })).status).toBe(200);
    await agent.die();
  }
  await untilWritten();
  const used = (await gasUsed(h)) - before;
  expect(await tokensOf(owner.accountId)).toHaveLength(TOKENS_PER_DAY);
  expect(used).toBeGreaterThan(0);
  expect(used).toBeLessThan(TOKENS_PER_DAY * GAS_OF_TOKEN);
  const balance = await callChain<string>(h.rpcUrl, 'eth_getBalance', h.ctx.registrar?.address, 'latest');
  expect(BigInt(balance)).toBeGreaterThan(0n);

  const other = await h.newAccount();
  const agent = await startTestAgent(h, { owner: other });
  await untilWritten();
  expect(await tokensOf(other.accountId)).toHaveLength(1);
  await agent.die();
});

/** Works while another transaction holds the lock of the account's tokens. */
async function whileLocked(accountId: string, work: () => Promise<void>): Promise<void> {
  const client = await h.ctx.db.pool.connect();
  await client.query('begin');
  await client.query(`select pg_advisory_xact_lock(hashtextextended('agent-tokens:' || $1, 0))`, [accountId]);
  try {
    await work();
  } finally {
    await client.query('rollback');
    client.release();
  }
}

it('an agent beyond a day’s tokens waits for no other, and is registered on the next day', async () => {
  const owner = await h.newAccount();
  const agents = [];
  for (let index = 0; index < TOKENS_PER_DAY + 1; index++) agents.push(await startTestAgent(h, { owner }));
  await untilWritten();
  expect(await tokensOf(owner.accountId)).toHaveLength(TOKENS_PER_DAY);
  await whileLocked(owner.accountId, () => registerMissing(h.ctx));
  expect(await tokensOf(owner.accountId)).toHaveLength(TOKENS_PER_DAY);
  const tomorrow = { ...h.ctx, clock: { now: () => new Date(Date.now() + 86_400_000 + 60_000) } };
  await registerMissing(tomorrow);
  expect(await tokensOf(owner.accountId)).toHaveLength(TOKENS_PER_DAY + 1);
  await untilWritten();
  for (const agent of agents) await agent.die();
});

it('agents that are verified at the same time get no more than a day’s tokens together', async () => {
  const owner = await h.newAccount();
  const agents = await Promise.all(Array.from({ length: 10 }, () => startTestAgent(h, { owner })));
  await untilWritten();
  expect(await tokensOf(owner.accountId)).toHaveLength(TOKENS_PER_DAY);
  await Promise.all(agents.map((agent) => agent.die()));
});
