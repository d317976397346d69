import { afterAll, beforeAll, expect, vi } from 'vitest';
import { answer, startReceiver } from '../../service/test/events/support/receiver.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { happen } from './support/happen.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { accountIdOf, sessionCall } from './support/session-call.ts';
import { tabTo } from './support/tab-to.ts';
import { startWorld, type World } from './support/world.ts';

const HOSTILE = '<img src=x onerror=alert(1)> "hooks"';
let world: World;
let offsetMs = 0;
beforeAll(async () => {
  world = await startWorld({ clock: { now: () => new Date(Date.now() + offsetMs) } });
});
afterAll(() => world.stop());

it('adds an endpoint, shows a failing delivery as it is retried, and replays it', async () => {
  const { page } = await world.signedIn();
  const receiver = await startReceiver();
  receiver.react(answer(503, {}, '<b>out of order</b>'));
  await page.goto('/dashboard/webhooks');
  await page.getByText('No endpoints yet').waitFor();
  await lookAt(page, 'webhooks-empty');
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await dialog.getByText('must be an http(s) URL').waitFor();
  await dialog.getByLabel('URL').fill(receiver.url);
  await dialog.getByLabel('Description').fill(HOSTILE);
  await dialog.getByLabel('All events of this account').uncheck();
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await dialog.getByText('Choose at least one event.').waitFor();
  await dialog.getByLabel('agent.removed').check();
  await expectAccessible(page);
  await lookAt(page, 'webhooks-add');
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  expect(await dialog.getByRole('textbox', { name: 'Signing secret' }).inputValue()).toMatch(/^whsec_/);
  await expectAccessible(page);
  await lookAt(page, 'webhooks-added');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByText(HOSTILE).waitFor();
  await page.getByText('No deliveries yet').waitFor();

  await happen(world.h, await accountIdOf(page));
  const row = page.getByRole('row', { name: /agent\.removed/ });
  await row.getByText('HTTP 503').waitFor({ timeout: 15_000 });
  await page.getByText('No delivery has succeeded since').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'webhook-failing');
  await row.getByRole('link', { name: 'agent.removed' }).click();
  const drawer = page.getByRole('dialog', { name: 'agent.removed' });
  await drawer.getByText('1. HTTP 503').waitFor();
  await drawer.getByText('<b>out of order</b>').first().waitFor();
  await expectAccessible(page);
  await lookAt(page, 'webhook-delivery');

  // Whichever retry is next, the first or the second, is due by then.
  receiver.react(answer(200));
  offsetMs += 360_000;
  const taken = drawer.getByText(/^\d\. HTTP 200/);
  await taken.waitFor({ timeout: 15_000 });
  await drawer.getByText('delivered').waitFor();
  await drawer.getByRole('button', { name: 'Replay' }).click();
  await taken.nth(1).waitFor({ timeout: 15_000 });
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  await page.reload();
  await taken.nth(1).waitFor();
  await page.keyboard.press('Escape');
  await row.getByText('HTTP 200').waitFor();
  await page.getByText('No delivery has succeeded since').waitFor({ state: 'hidden' });
});

it('reveals and rotates the secret, tests, disables, enables and recovers, and deletes', async () => {
  const { page } = await world.signedIn();
  const receiver = await startReceiver();
  const made = await sessionCall(page, 'POST', '/account/webhooks', { url: receiver.url });
  const { webhookId, secret } = made.data;
  await page.goto(`/dashboard/webhooks/${webhookId}`);
  const dialog = page.getByRole('dialog');
  const shown = page.getByRole('textbox', { name: 'Signing secret' });
  await page.getByRole('button', { name: 'Reveal' }).click();
  expect(await shown.inputValue()).toBe(secret);
  await page.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByRole('button', { name: 'Rotate secret' }).click();
  expect(await dialog.getByRole('textbox').inputValue()).toMatch(/^whsec_/);
  expect(await dialog.getByRole('textbox').inputValue()).not.toBe(secret);
  await lookAt(page, 'webhook-rotated');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByRole('button', { name: 'Rotate secret' }).click();
  await dialog.getByText('was rotated less than 24 hours ago').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('button', { name: 'Send test' }).click();
  await dialog.getByText('1. HTTP 200').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  expect(receiver.received.at(-1)?.headers['webhook-signature']?.split(' ')).toHaveLength(2);

  const accountId = await accountIdOf(page);
  receiver.react(answer(410));
  await happen(world.h, accountId);
  await page.getByText('The endpoint answered 410 Gone.').waitFor({ timeout: 15_000 });
  await happen(world.h, accountId);
  await expectAccessible(page);
  await lookAt(page, 'webhook-disabled');
  receiver.react(answer(200));
  await page.getByRole('button', { name: 'Enable' }).click();
  await dialog.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('2 events queued to send again').waitFor();
  await vi.waitUntil(() => receiver.received.filter(({ body }) => body.type === 'agent.removed').length === 3, 8000);

  const more = page.getByRole('button', { name: 'More actions' });
  await more.click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await dialog.getByRole('button', { name: 'Disable endpoint' }).click();
  await page.getByText('Someone with access to this account disabled it.').waitFor();
  await more.click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await dialog.getByRole('textbox').fill('delete');
  await dialog.getByRole('button', { name: 'Delete endpoint' }).click();
  await page.getByText('No endpoints yet').waitFor();
});

it('is used without a mouse', async () => {
  const { page } = await world.signedIn({ at: '/dashboard/' });
  const receiver = await startReceiver();
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await page.getByText('No endpoints yet').waitFor();
  await tabTo(page, page.getByRole('button', { name: 'Add endpoint' }));
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('dialog').getByLabel('URL'));
  await page.keyboard.type(receiver.url);
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('button', { name: 'Done' }));
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('button', { name: 'Send test' }));
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText('1. HTTP 200').waitFor();
  await page.keyboard.press('Escape');
  await tabTo(page, page.getByRole('link', { name: 'webhook.test' }));
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'webhook.test' }).waitFor();
});
