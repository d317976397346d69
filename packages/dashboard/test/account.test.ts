import { afterAll, beforeAll, expect } from 'vitest';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { sessionCall } from './support/session-call.ts';
import { tabTo } from './support/tab-to.ts';
import { walletOf } from './support/test-wallet.ts';
import { signInWithWallet, startWorld, type World } from './support/world.ts';

const HOSTILE = '<script>alert(1)</script> "key"';
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

it('shows the sessions, ends one, and signs out everywhere: the other browser is sent away by itself', async () => {
  const wallet = walletOf(await world.h.newWallet(), world.h.rpcUrl);
  const { page } = await world.newPage({ wallet });
  const [second, third] = [await world.newPage({ wallet }), await world.newPage({ wallet })];
  await signInWithWallet(page);
  await signInWithWallet(second.page);
  await signInWithWallet(third.page);
  await page.goto('/dashboard/account');
  await page.getByText(wallet.address.toLowerCase()).first().waitFor();
  const rows = page.getByRole('row', { name: /Chrome/ });
  await rows.nth(2).waitFor();
  await rows.getByText('this session').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'account-sessions');

  // The newest stands first: that of the third browser.
  await rows.first().getByRole('button', { name: /^End/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click();
  await third.page.getByRole('heading', { name: 'Sign in to' }).waitFor();
  await rows.nth(2).waitFor({ state: 'hidden' });

  await second.page.goto('/dashboard/network');
  await second.page.getByRole('heading', { name: 'Network' }).waitFor();
  await page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  for (const each of [page, second.page]) await each.getByRole('heading', { name: 'Sign in to' }).waitFor();
});

it('has in the audit log what was done, by whom and how it ended, page by page', async () => {
  const { page } = await world.signedIn();
  const { data } = await sessionCall(page, 'POST', '/account/keys', { name: HOSTILE, scopes: ['keys:manage'] });
  await world.h.request('DELETE', '/account/webhooks/whk_1', { key: data.apiKey });
  await page.goto('/dashboard/account');
  await tabTo(page, page.getByRole('tab', { name: 'Sessions' }));
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  const refused = page.getByRole('row', { name: /Deleted a webhook/ });
  await refused.getByText('FORBIDDEN').waitFor();
  await refused.getByText(HOSTILE).waitFor();
  await page
    .getByRole('row', { name: /Created an API key/ })
    .getByText('this session')
    .waitFor();
  await page
    .getByRole('row', { name: /Signed in/ })
    .getByText('done')
    .waitFor();
  await expectAccessible(page);
  await lookAt(page, 'account-audit');

  for (let i = 0; i < 50; i++) await world.h.request('DELETE', `/account/keys/no${i}`, { key: data.apiKey });
  await page.reload();
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByRole('row', { name: /Signed in/ }).waitFor();
  expect(await page.getByRole('row', { name: /Revoked an API key/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'First page' }).click();
  await page
    .getByRole('row', { name: /Revoked an API key/ })
    .nth(49)
    .waitFor();
});

it('shows the wallets that were claimed', async () => {
  const { page } = await world.signedIn();
  const { accountId } = (await sessionCall(page, 'GET', '/account')).data;
  const claimed = `0x${'ab'.repeat(20)}`;
  await world.h.ctx.db.pool.query(
    'insert into account_wallet (address, account_id, proven_at) values ($1, $2, now())',
    [claimed, accountId],
  );
  await page.goto('/dashboard/account');
  await page.getByRole('button', { name: `Copy wallet ${claimed.slice(0, 8)}…${claimed.slice(-4)}` }).waitFor();
});
