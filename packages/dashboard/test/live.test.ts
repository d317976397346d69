import { afterAll, beforeAll, expect } from 'vitest';
import { type NodeFront, startNodeFront } from '../../service/test/support/node-front.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { happen } from './support/happen.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { accountIdOf, sessionCall } from './support/session-call.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let front: NodeFront;
beforeAll(async () => {
  front = await startNodeFront();
  world = await startWorld({ env: { PORT: String(front.port), BASE_URL: front.baseUrl } });
});
afterAll(async () => {
  await world.stop();
  await front.die();
});

/** A page that shows deliveries, and its account. */
async function watching() {
  const { page, complaints } = await world.signedIn();
  const { webhookId } = (await sessionCall(page, 'POST', '/account/webhooks', { url: 'http://127.0.0.1:1/' })).data;
  await page.goto(`/dashboard/webhooks/${webhookId}`);
  await page.getByText('No deliveries yet').waitFor();
  const rows = page.getByRole('row', { name: /agent\.removed/ });
  return { page, complaints, rows, accountId: await accountIdOf(page) };
}

it('says that the connection is lost, and shows what was missed once the node is back', async () => {
  const { page, complaints, rows, accountId } = await watching();
  await happen(world.h, accountId);
  await rows.first().waitFor();
  await front.die();
  const banner = page.getByText('Connection to the node lost.');
  await banner.waitFor();
  await expectAccessible(page);
  await lookAt(page, 'connection-lost');
  await happen(world.h, accountId);
  await front.revive();
  const isBack = banner.waitFor({ state: 'hidden' });
  // On a slow machine the page may be back by itself before it is asked.
  await Promise.race([page.getByRole('button', { name: 'Retry now' }).click(), isBack]);
  await isBack;
  await rows.nth(1).waitFor();
  // The browser itself says of each call that nobody answered.
  for (const each of complaints.splice(0)) expect(each).toMatch(/net::ERR_/);
});

it('has one stream for all tabs of a browser, which goes on when the tab that holds it is closed', async () => {
  const { page, rows, accountId } = await watching();
  const second = await page.context().newPage();
  await second.goto(page.url());
  const secondRows = second.getByRole('row', { name: /agent\.removed/ });
  await second.getByText('No deliveries yet').waitFor();
  await happen(world.h, accountId);
  await rows.first().waitFor();
  await secondRows.first().waitFor();
  await page.close();
  await happen(world.h, accountId);
  await secondRows.nth(1).waitFor();
});
