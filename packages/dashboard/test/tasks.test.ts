import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { byKeyboard, type Keyboard } from './support/by-keyboard.ts';
import { it } from './support/journey.ts';
import { type Populated, populate } from './support/populated.ts';
import { walletOf } from './support/test-wallet.ts';
import { startWorld, type World } from './support/world.ts';

const MAX_CLICKS = 4;

let world: World;
let populated: Populated;
beforeAll(async () => {
  world = await startWorld();
  populated = await populate(world);
});
afterAll(async () => {
  await populated?.stop();
  await world?.stop();
});

/** The ten most common tasks, each from the overview, by what is pressed and typed. The last step shows that it is done. */
const tasks: Readonly<Record<string, (page: Page, keyboard: Keyboard) => Promise<void>>> = {
  async 'calls an agent and pays for it'(page, { go, press, type }) {
    await go('e');
    await type(page.getByRole('searchbox', { name: 'Search agents' }), populated.othersName);
    await press(page.getByRole('link', { name: populated.othersName }));
    await press(page.getByRole('button', { name: 'Try it' }));
    await type(page.getByLabel('Task'), 'by keyboard');
    await press(page.getByRole('button', { name: 'Run for 0.05 USDC' }));
    await page.getByRole('heading', { name: 'Answer completed' }).waitFor();
  },
  async 'registers an agent'(page, { go, press, type }) {
    await go('a');
    await press(page.getByRole('link', { name: 'Register an agent' }));
    await type(page.getByLabel('Name'), 'By keyboard');
    await type(page.getByLabel('Endpoint'), 'http://127.0.0.1:9/agent');
    await type(page.getByLabel('Price per call'), '0.01');
    await press(page.getByRole('button', { name: 'Register agent' }));
    await page.getByRole('textbox', { name: 'Identity token' }).waitFor();
  },
  async 'creates an API key'(page, { go, press, type }) {
    await go('k');
    await press(page.getByRole('button', { name: 'Create key' }));
    const dialog = page.getByRole('dialog');
    await type(dialog.getByRole('textbox', { name: 'Name' }), 'by keyboard');
    await press(dialog.getByRole('button', { name: 'Create key' }));
    await dialog.getByRole('textbox', { name: 'API key' }).waitFor();
    await press(dialog.getByRole('button', { name: 'Done' }));
  },
  async 'adds funds from a wallet'(page, { go, press, type }) {
    await go('p');
    await press(page.getByRole('button', { name: 'Add funds' }));
    await type(page.getByRole('dialog').getByRole('textbox', { name: 'Amount' }), '1.50');
    await press(page.getByRole('button', { name: 'Pay with Test wallet' }));
    await page.getByText('1.50 USDC added').waitFor();
  },
  async 'withdraws to the wallet'(page, { go, press, type }) {
    await go('p');
    await press(page.getByRole('button', { name: 'Withdraw' }));
    await type(page.getByRole('dialog').getByRole('textbox', { name: 'Amount' }), '0.10');
    await press(page.getByRole('button', { name: 'Sign and withdraw' }));
    await page.getByRole('heading', { name: 'Withdrawal' }).waitFor();
  },
  async 'finds out why a call failed'(page, { go, press }) {
    await go('i');
    await press(page.getByRole('link', { name: 'fails' }));
    await page.getByText('Failed: agent error').waitFor();
  },
  async 'gets the signed receipt of a call'(page, { go, press }) {
    await go('i');
    await press(page.getByRole('link', { name: 'translate this' }));
    await press(page.getByRole('button', { name: 'Get receipt' }));
    await press(page.getByRole('button', { name: 'Verify' }));
    await page.getByText('Verified in this browser').waitFor();
  },
  async 'adds a webhook'(page, { go, press, type }) {
    await go('w');
    await press(page.getByRole('button', { name: 'Add endpoint' }));
    const dialog = page.getByRole('dialog');
    await type(dialog.getByLabel('URL'), 'http://127.0.0.1:9/hooks');
    await press(dialog.getByRole('button', { name: 'Add endpoint' }));
    await dialog.getByRole('textbox', { name: 'Signing secret' }).waitFor();
    await press(dialog.getByRole('button', { name: 'Done' }));
  },
  async 'sends what failed again'(page, { go, press }) {
    await go('w');
    await press(page.getByRole('link', { name: /no-receiver/ }));
    await press(page.getByRole('button', { name: 'Retry all failed (1)' }));
    await page.getByText('1 delivery queued to send again').waitFor();
  },
  async 'exports the calls'(page, { go, press }) {
    await go('i');
    const download = page.waitForEvent('download');
    await press(page.getByRole('button', { name: 'Export CSV' }));
    await download;
  },
};

it.each(Object.keys(tasks))('%s with the keyboard alone, in at most four clicks', async (name) => {
  const { page } = populated;
  await page.goto('/dashboard/');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const keyboard = byKeyboard(page);
  await tasks[name]?.(page, keyboard);
  expect(keyboard.clicks).toBeLessThanOrEqual(MAX_CLICKS);
});

it('signs in with the keyboard alone, in one click', async () => {
  const { h } = world;
  const wallet = walletOf(await h.newWallet(), h.rpcUrl);
  const { page } = await world.newPage({ wallet });
  await page.goto('/dashboard/');
  const keyboard = byKeyboard(page);
  await keyboard.press(page.getByRole('button', { name: 'Sign in with Test wallet' }));
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(keyboard.clicks).toBe(1);
});
