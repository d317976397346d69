import { afterAll, beforeAll, expect, it } from 'vitest';
import { proveAccount } from '../../src/accounts/admit-wallet.ts';
import { lockAgentRow, lockAgentsOf } from '../../src/agents/agent-lock-store.ts';
import { askDatabase } from '../support/books.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { startTestAgent } from '../support/test-agent.ts';
import { until } from '../support/until.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const isWaiting = async () => {
  const waits = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return (await askDatabase(h.databaseUrl, waits)).length > 0;
};

it('a check that waits for an agent while its owner proves the wallet sees the proof', async () => {
  const owner = await h.newAccount({ isWalletProven: false });
  const agent = await startTestAgent(h, { owner });
  const [locked, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const proven = h.ctx.db.transaction(async (tx) => {
    await lockAgentsOf(tx, owner.accountId);
    await proveAccount(tx, owner.accountId, h.ctx.clock.now());
    locked.resolve();
    await seen.promise;
  });
  await locked.promise;
  const checked = h.ctx.db.transaction((tx) => lockAgentRow(tx, agent.id));
  await until(isWaiting);
  seen.resolve();
  await proven;
  expect(await checked).toMatchObject({ isWalletProven: true });
  await agent.die();
});
