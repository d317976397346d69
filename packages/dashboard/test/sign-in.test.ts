import { afterAll, beforeAll, expect } from 'vitest';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { injectWallet, walletOf } from './support/test-wallet.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

it('signs in with the wallet, goes on to where one wanted to go, and signs out', async () => {
  const wallet = walletOf(await world.h.newWallet(), world.h.rpcUrl);
  const { page } = await world.newPage({ wallet });
  await page.goto('/dashboard/keys');
  await page.getByRole('heading', { name: 'Sign in to' }).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'sign-in');
  await page.getByRole('button', { name: 'Sign in with Test wallet' }).click();
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/dashboard/keys');
  await page.reload();
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  await page.getByRole('button', { name: /Account$/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to' }).waitFor();
  await page.goto('/dashboard/keys');
  await page.getByRole('heading', { name: 'Sign in to' }).waitFor();
});

it('says that the wallet declined, and lets one try again', async () => {
  const wallet = walletOf(await world.h.newWallet(), world.h.rpcUrl);
  const { page } = await world.newPage({ wallet });
  await page.goto('/dashboard/');
  wallet.refuseNext();
  const button = page.getByRole('button', { name: 'Sign in with Test wallet' });
  await button.click();
  await page.getByText('The request was declined in the wallet. Nothing was signed.').waitFor();
  await button.click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
});

it('a window beside one that signs in with another wallet shows that account at once', async () => {
  const first = walletOf(await world.h.newWallet(), world.h.rpcUrl);
  const second = walletOf(await world.h.newWallet(), world.h.rpcUrl);
  const { page } = await world.newPage({ wallet: first });
  const beside = await page.context().newPage();
  await injectWallet(beside, second);
  for (const each of [page, beside]) {
    await each.goto('/dashboard/account');
    await each.getByRole('heading', { name: 'Sign in to' }).waitFor();
  }
  const shown = (address: string) => page.getByText(address.toLowerCase()).first();
  await page.getByRole('button', { name: 'Sign in with Test wallet' }).click();
  await shown(first.address).waitFor();
  await beside.getByRole('button', { name: 'Sign in with Test wallet' }).click();
  await shown(second.address).waitFor();
  expect(await shown(first.address).count()).toBe(0);
});
