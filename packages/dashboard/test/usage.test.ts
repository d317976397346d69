import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { deposit, untilEnded } from '../../service/test/support/treasury.ts';
import { askNode } from './support/ask-node.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { startWorld, type World } from './support/world.ts';

const HOSTILE = '<b onmouseover="alert(1)">agent</b> javascript:alert(1)';

let world: World;
let agent: TestAgent;
beforeAll(async () => {
  world = await startWorld();
  agent = await startTestAgent(world.h, { perRequest: '0.03', name: HOSTILE });
});
afterAll(async () => {
  await agent.die();
  await world.stop();
});

it('shows what was used by day, by agent and by key, and what is left of the limits', async () => {
  const { page } = await world.signedIn();
  const { h } = world;
  await page.goto('/dashboard/usage');
  await page.getByText('No agents called in this period').waitFor();
  await page.getByText('No active keys').waitFor();
  await lookAt(page, 'usage-empty');

  const { treasuryId } = await askNode<{ treasuryId: string }>(page, 'POST', '/payments/treasury', {});
  const { apiKey } = await askNode<{ apiKey: string }>(page, 'POST', '/account/keys', {
    name: HOSTILE,
    scopes: ['invoke', 'payments:write'],
    limits: { perDay: '0.1', perCall: '0.05' },
  });
  await deposit(h, apiKey, treasuryId, '1');
  for (const task of ['a', 'b']) {
    const { body } = await h.request('POST', `/invoke/${agent.id}`, { key: apiKey, body: { task } });
    await untilEnded(h, apiKey, body.data.requestId);
  }
  await page.reload();
  const row = page.getByRole('table', { name: 'Usage by agent' }).getByRole('row').nth(1);
  await row.getByText(HOSTILE).waitFor();
  expect(await row.getByRole('cell').allTextContents()).toEqual([HOSTILE, '2', '2', '0', '0.06 USDC']);
  const key = page.getByRole('list', { name: 'Keys' }).getByRole('listitem').filter({ hasText: HOSTILE });
  await key.getByText('0.06 of 0.1').waitFor();
  await key.getByText('up to 0.05 USDC per call').waitFor();
  const { keys, limits } = await askNode<DataOf<Api['listApiKeys']>>(page, 'GET', '/account/keys');
  expect(keys[0]?.use).toEqual({ spentToday: '0.06' });
  expect(limits.invocations.used).toBe(2);
  await page.getByText('2 (no limit)', { exact: true }).waitFor();
  await page.getByText('Free calls this hour', { exact: true }).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'usage');

  await page.getByRole('combobox', { name: 'Period' }).selectOption({ label: 'Last 7 days' });
  await expect.poll(() => page.url()).toContain('days=7');
  await page.getByRole('button', { name: 'Show as table' }).first().click();
  const days = page.getByRole('table', { name: 'Requests by day' }).getByRole('row');
  await expect.poll(() => days.count()).toBe(8);
  expect(await days.nth(7).getByRole('cell').allTextContents()).toEqual(['2', '0']);
  await row.getByRole('link').press('Enter');
  await page.getByRole('heading', { name: 'Invocations' }).waitFor();
  expect(page.url()).toContain(`agentId=${agent.id}`);
});
