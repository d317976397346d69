import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
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
