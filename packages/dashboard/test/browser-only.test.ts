import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { agentSlug } from '../../service/src/agents/agent-slug.ts';
import { startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { it } from './support/journey.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let agent: TestAgent;
beforeAll(async () => {
  world = await startWorld();
  agent = await startTestAgent(world.h, { name: 'Priced one', perRequest: '0.05' });
});
afterAll(async () => {
  await agent?.die();
  await world?.stop();
});

it('with a browser alone, from the first page to the receipt of a paid call', async () => {
  const { page } = await world.newPage();
  const startMs = performance.now();
  let clicks = 0;
  const click = async (what: Locator) => {
    await what.click();
    clicks += 1;
  };
  await page.goto('/dashboard/');
  await click(page.getByRole('button', { name: 'Use the local account' }));
  await click(page.getByRole('link', { name: 'Explore' }).first());
  await click(page.getByRole('link', { name: 'Priced one' }).first());
  await click(page.getByRole('tab', { name: 'Try it' }));
  await page.getByLabel('Task').fill('my first paid call');
  await click(page.getByRole('button', { name: 'Add 10 test USDC' }));
  const run = page.getByRole('button', { name: 'Run for 0.05 USDC' });
  await expect.poll(() => run.isEnabled()).toBe(true);
  await click(run);
  await page.getByRole('heading', { name: 'Answer completed' }).waitFor();
  await click(page.getByRole('link', { name: 'Open this invocation' }));
  await page.getByText('Signed by').waitFor();
  const seconds = (performance.now() - startMs) / 1000;
  process.stderr.write(`Browser only: ${clicks} clicks and ${seconds.toFixed(1)} s to the receipt of a paid call\n`);
  expect(clicks).toBeLessThanOrEqual(7);
  expect(await page.getByText('0.05').count()).toBeGreaterThan(0);
});

it('on the public page of an agent, without an account: a paid call in two clicks, its receipt with the third', async () => {
  const { page } = await world.newPage();
  const startMs = performance.now();
  await page.goto(`/agents/${agentSlug({ id: agent.id, name: 'Priced one' })}`);
  await page.getByText('Then pay with test money, no account needed.').waitFor();
  await page.getByLabel('Task').fill('paid for me');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('button', { name: 'Pay with test money' }).click();
  await page.getByRole('heading', { name: 'Answer', exact: true }).waitFor();
  const seconds = (performance.now() - startMs) / 1000;
  process.stderr.write(`Public page: 2 clicks and ${seconds.toFixed(1)} s to the answer of a paid call\n`);
  expect(await page.locator('.answer').textContent()).toMatch(/0\.05 USDC.*Transaction0x[0-9a-f]{64}/s);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the signed receipt' }).click();
  expect((await download).suggestedFilename()).toMatch(/^receipt-req_/);
});

it('asks for the same call paid in test money after a lost answer: one payment, one run', async () => {
  const { page, complaints } = await world.newPage();
  await page.goto(`/agents/${agentSlug({ id: agent.id, name: 'Priced one' })}`);
  const faucet = world.h.ctx.faucet?.address as `0x${string}`;
  await page.getByLabel('Task').fill('lost');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const [runs, held] = [agent.calls.length, await world.h.usdcOf(faucet)];
  await page.route('**/x402/*', async (route) => {
    await route.fetch();
    return route.abort();
  });
  await page.evaluate('globalThis.setTimeout = ((later) => (work) => later(work, 0))(setTimeout)');
  await page.getByRole('button', { name: 'Pay with test money' }).click();
  await page.getByRole('status').filter({ hasText: 'asking again never pays twice' }).waitFor();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.unroute('**/x402/*');
  await page.reload();
  await page.getByRole('heading', { name: 'Answer', exact: true }).waitFor();
  expect(new Set(complaints.splice(0))).toEqual(new Set(['Failed to load resource: net::ERR_FAILED']));
  expect([agent.calls.length - runs, held - (await world.h.usdcOf(faucet))]).toEqual([1, 50_000n]);
});
