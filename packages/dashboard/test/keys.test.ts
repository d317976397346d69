import { afterAll, beforeAll, expect } from 'vitest';
import { deposit } from '../../service/test/support/treasury.ts';
import { askNode } from './support/ask-node.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

it('creates a key that works, rolls it, and revokes it', async () => {
  const { page } = await world.signedIn();
  const { h } = world;
  await page.goto('/dashboard/keys');
  await page.getByText('No keys yet').waitFor();
  await lookAt(page, 'keys-empty');
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByRole('textbox', { name: 'Name' }).and(page.locator('[aria-invalid=true]')).waitFor();
  await dialog.getByLabel('Name').fill('billing worker');
  await dialog.getByLabel('Limit per call').fill('five');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('must be a decimal USDC amount').waitFor();
  await dialog.getByLabel('Limit per call').fill('5');
  await expectAccessible(page);
  await lookAt(page, 'keys-create');
  // Its secret comes with the answer: until then, the dialog stays.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/account/keys', async (route) => {
    await released;
    await route.continue();
  });
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByRole('button', { name: 'Cancel', disabled: true }).waitFor();
  await page.keyboard.press('Escape');
  expect(await dialog.getByRole('button', { name: 'Close' }).count()).toBe(0);
  release();
  const first = await dialog.getByRole('textbox', { name: 'API key' }).inputValue();
  await lookAt(page, 'keys-created');
  await dialog.getByRole('button', { name: 'Done' }).click();
  const used = await h.request('GET', '/account', { key: first });
  expect(used.status).toBe(200);

  const actions = page.getByRole('button', { name: 'Actions for billing worker' });
  await actions.click();
  await page.getByRole('menuitem', { name: 'Roll' }).click();
  await dialog.getByLabel('Keep the old key valid for').selectOption({ label: 'No overlap: the old key expires now' });
  await dialog.getByRole('button', { name: 'Roll key' }).click();
  const second = await dialog.getByRole('textbox', { name: 'API key' }).inputValue();
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect((await h.request('GET', '/account', { key: first })).status).toBe(401);
  expect((await h.request('GET', '/account', { key: second })).status).toBe(200);
  await expectAccessible(page);
  await lookAt(page, 'keys');

  await actions.click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  const revoke = dialog.getByRole('button', { name: 'Revoke key' });
  expect(await revoke.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('billing worker');
  await revoke.click();
  await page.getByText('Revoked billing worker').waitFor();
  expect((await h.request('GET', '/account', { key: second })).status).toBe(401);
});

it('creates a key that withdraws after the wallet signed for it, and revokes it', async () => {
  const { page, wallet } = await world.signedIn({ at: '/dashboard/keys' });
  const { h } = world;
  await page.getByRole('button', { name: 'Create withdrawal key' }).click();
  const dialog = page.getByRole('dialog');
  const sign = dialog.getByRole('button', { name: 'Sign and create key' });
  await sign.click();
  await dialog.getByRole('textbox', { name: 'Name' }).and(page.locator('[aria-invalid=true]')).waitFor();
  await dialog.getByLabel('Name').fill('payroll');
  await dialog.getByLabel('Expires').selectOption({ label: 'In 8 hours' });
  await expectAccessible(page);
  await lookAt(page, 'keys-withdrawal');
  wallet.refuseNext('personal_sign');
  await sign.click();
  await dialog.getByRole('alert').waitFor();
  // A wallet that does not answer holds nobody: nothing has been made.
  const asksBefore = wallet.asked.length;
  const letSign = wallet.holdNext('personal_sign');
  await sign.click();
  await expect.poll(() => wallet.asked.slice(asksBefore)).toContain('personal_sign');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const listed = page.waitForResponse((response) => response.url().includes('/account/keys'));
  letSign();
  // A body can't be had of an answer that the page has let go of: the database tells.
  await listed;
  expect(await h.ctx.db.query('keys-made', `select from api_key where name = 'payroll'`)).toEqual([]);
  await page.getByRole('button', { name: 'Create withdrawal key' }).click();
  await dialog.getByLabel('Name').fill('payroll');
  await dialog.getByLabel('Expires').selectOption({ label: 'In 8 hours' });
  // The answer to the signature has the secret: until it is there, the dialog stays.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/auth/sign-in', async (route) => {
    await released;
    await route.continue();
  });
  await sign.click();
  await dialog.getByRole('button', { name: 'Cancel', disabled: true }).waitFor();
  await page.keyboard.press('Escape');
  expect(await dialog.getByRole('button', { name: 'Close' }).count()).toBe(0);
  release();
  const key = await dialog.getByRole('textbox', { name: 'API key' }).inputValue();
  await dialog.getByText('Anyone who has this key can withdraw').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();

  const keys = await page
    .getByRole('table', { name: 'API keys' })
    .getByRole('row')
    .filter({ hasText: 'payroll' })
    .count();
  expect(keys).toBe(1);
  const { body } = await h.request('POST', '/payments/treasury', { key, body: {} });
  expect(body.error.code).toBe('FORBIDDEN');
  const { treasuryId } = await askNode<{ treasuryId: string }>(page, 'POST', '/payments/treasury', {});
  const { apiKey } = await askNode<{ apiKey: string }>(page, 'POST', '/account/keys', {
    name: 'funding',
    scopes: ['payments:write'],
  });
  await deposit(h, apiKey, treasuryId, '1');
  const to = (await h.newWallet()).address;
  const sent = await h.request('POST', '/payments/withdraw', { key, body: { amount: '0.4', to } });
  expect(sent.body.data ?? sent.body.error).toMatchObject({ amount: '0.40' });

  await page.getByRole('button', { name: 'Actions for payroll' }).click();
  await expect.poll(() => page.getByRole('menuitem').allTextContents()).toEqual(['Revoke']);
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await dialog.getByRole('textbox').fill('payroll');
  await dialog.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('Revoked payroll').waitFor();
  expect((await h.request('GET', '/payments/balance', { key })).status).toBe(401);
});
