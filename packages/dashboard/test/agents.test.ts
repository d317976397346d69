import { afterAll, beforeAll, expect } from 'vitest';
import { untilRegistered } from '../../service/test/registry/write/support/registered.ts';
import { registerOnChain } from '../../service/test/support/registry-actions.ts';
import { startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { fundTreasury, keyOf } from './support/fund-treasury.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { startUnprovenAgent, type UnprovenAgent } from './support/unproven-agent.ts';
import { startWorld, type World } from './support/world.ts';

const NAME = '<img src=x onerror=alert(1)> صدى "Echo"';

let world: World;
let served: UnprovenAgent;
const started: TestAgent[] = [];
beforeAll(async () => {
  [world, served] = await Promise.all([startWorld({ registers: true }), startUnprovenAgent()]);
});
afterAll(async () => {
  await Promise.all([served.stop(), ...started.map((agent) => agent.die())]);
  await world.stop();
});

it('registers an agent by keyboard, proves it, calls it, changes and removes it', async () => {
  const { page, wallet } = await world.signedIn();
  const { h } = world;
  await page.goto('/dashboard/agents');
  await page.getByText('No agents yet').waitFor();
  await lookAt(page, 'agents-empty');
  await page.getByRole('link', { name: 'Register an agent' }).press('Enter');

  await page.getByRole('heading', { name: 'Register an agent' }).waitFor();
  const register = page.getByRole('button', { name: 'Register agent' });
  await register.press('Enter');
  await page.getByText('Enter an endpoint').waitFor();
  await page.getByText('Enter a name').waitFor();
  for (const field of ['Name', 'Capabilities', 'Price per call', 'Endpoint'])
    expect(await page.getByLabel(field).getAttribute('aria-invalid'), field).toBe('true');
  await expect.poll(() => page.evaluate('document.activeElement.labels[0].textContent')).toContain('Name');
  await expectAccessible(page);
  await lookAt(page, 'agents-new-errors');
  await page.keyboard.type('\u202Eevil');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Says it again.');
  await page.keyboard.press('Tab');
  const preview = page.getByRole('region', { name: 'Preview' });
  await preview.getByText('Says it again.').waitFor();
  await page.getByLabel('Capabilities').fill('echo,not good,');
  await page.getByLabel('Price per call').fill('a cent');
  await page.getByRole('button', { name: 'Charge more above a size' }).click();
  await page.getByLabel('Above (bytes)').fill('16384');
  await page.getByLabel('Price times').fill('1.25');
  await page.getByLabel('Tags').fill('<b>tag</b>');
  await page.getByLabel('Website').fill('javascript:alert(1)');
  await page.getByLabel('Endpoint').fill('https://user:password@agent.example/');
  await register.press('Enter');
  await page.getByText('holds characters that cannot be seen').waitFor();
  await page.getByText('“not good” must be letters').waitFor();
  expect(await page.getByText('must be an http(s) URL').count()).toBe(1);
  await page.getByLabel('Name').fill(NAME);
  await page.getByRole('button', { name: 'Remove capability not good' }).click();
  await page.getByLabel('Price per call').fill('0.05');
  await preview.getByText('0.05 USDC').waitFor();
  await page.getByLabel('Example questions').fill('What is an echo?\nSay this again, please');
  await page.getByLabel('Website').fill('https://agent.example');
  await register.press('Enter');
  // What only the node knows stands at its field too.
  await page.getByLabel('Endpoint').and(page.locator('[aria-invalid=true]')).waitFor();
  await page.getByLabel('Endpoint').fill('http://127.0.0.1:9/');
  const test = page.getByRole('button', { name: 'Test endpoint' });
  await test.press('Enter');
  await page.getByText('Start the server, and check that its address is reachable').waitFor();
  await page.getByLabel('Endpoint').fill(served.endpoint);
  await test.press('Enter');
  await page.getByText(/^The endpoint answers, in /).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agents-new-tested');
  await register.press('Enter');

  await page.getByRole('heading', { name: `${NAME} is registered` }).waitFor();
  const token = await page.getByRole('textbox', { name: 'Identity token' }).inputValue();
  expect(token).toMatch(/^0x[0-9a-f]{64}$/);
  await expectAccessible(page);
  await lookAt(page, 'agents-registered');
  for (const name of ['Python', 'curl', 'TypeScript']) await page.getByRole('button', { name, exact: true }).click();
  // Nobody pressed anything: the node was asked to try again by the page.
  await page.getByText('The endpoint answered the challenge with status 503.').waitFor();
  await page.getByRole('link', { name: "I've saved the token" }).press('Enter');

  await page.getByText('pending verification').waitFor();
  const agentId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const check = page.getByRole('button', { name: 'Check endpoint now' });
  await check.press('Enter');
  await page.getByText('The endpoint answered the challenge with status 503.').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agent-verification');
  served.learn(agentId, token);
  await check.press('Enter');
  await page.getByText('The endpoint is verified.').waitFor();
  await page.getByText('verified', { exact: true }).waitFor();
  await page.getByRole('heading', { name: "Verify the owner's wallet (done)" }).waitFor();
  expect((await h.request('GET', `/agents/${agentId}`)).body.data).toMatchObject({ verified: true, name: NAME });

  await page.getByRole('button', { name: 'Claim the token' }).click();
  await page.getByText('the owner', { exact: true }).waitFor();
  expect((await h.request('GET', `/identity/${agentId}`)).body.data.onChain.custody).toBe('owner');
  await lookAt(page, 'agent-verified');

  await page.getByRole('tab', { name: 'Test' }).click();
  const callIt = page.getByRole('button', { name: 'Call the agent' });
  await page.getByText('Your treasury can spend 0.00 USDC, and this call needs 0.05.').waitFor();
  expect(await callIt.isDisabled()).toBe(true);
  const key = await keyOf(h, wallet.address);
  await fundTreasury(h, key, '1');
  await expect.poll(() => callIt.isEnabled()).toBe(true);
  await callIt.press('Enter');
  await page.getByText('hello <b>there</b>').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agent-test');
  served.answer(500, { error: { message: '<script>no</script>' } });
  await callIt.press('Enter');
  await page.getByText('agent error').waitFor();

  await page.getByRole('tab', { name: 'Earnings' }).click();
  await page.getByRole('region', { name: 'Treasury' }).getByText('0.05').waitFor();
  await lookAt(page, 'agent-earnings');
  expect(await page.getByRole('tab').first().textContent()).toBe('Earnings');
  await page.getByRole('region', { name: 'Earned by day, less fees' }).getByText('0.05').first().waitFor();
  await page.getByRole('tab', { name: 'Calls' }).click();
  const log = page.getByRole('table', { name: 'Calls to the agent' });
  await log.getByText('The agent answered 500: <script>no</script>.').waitFor();
  expect(await log.getByText('You', { exact: true }).count()).toBe(2);
  expect(await log.getByText('say hello').count()).toBe(0);
  await expectAccessible(page);
  await lookAt(page, 'agent-calls');
  await page.getByLabel('Status').selectOption('completed');
  await expect.poll(() => log.getByText('You', { exact: true }).count()).toBe(1);
  await page.getByRole('tab', { name: 'Failures' }).click();
  await page.getByRole('table', { name: 'Errors by reason' }).getByText('<script>no</script>').waitFor();
  await page.getByText('1 of 2 calls from all callers failed').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agent-failures');

  await page.getByRole('tab', { name: 'Settings' }).click();
  await page.getByLabel('Price per call').fill('0.1.1');
  const save = page.getByRole('button', { name: 'Save changes' });
  await save.press('Enter');
  await page.getByText('must be a decimal USDC amount').first().waitFor();
  await page.getByLabel('Price per call').fill('0.1');
  await page.getByLabel('Description').fill('Says it <i>twice</i>.');
  await save.press('Enter');
  await page.getByText('Saved: description, rates').waitFor();
  const changed = (await h.request('GET', `/agents/${agentId}`)).body.data;
  expect(changed).toMatchObject({
    description: 'Says it <i>twice</i>.',
    rates: { perRequest: '0.10', perHour: '0.10', tiers: { basic: '0.10', premium: '0.10', enterprise: '0.10' } },
    metadata: {
      ...{ tags: ['<b>tag</b>'], website: 'https://agent.example' },
      sizeSteps: [{ aboveBytes: 16_384, multiplier: '1.25' }],
    },
  });
  await expectAccessible(page);
  await lookAt(page, 'agent-settings');

  await page.getByRole('link', { name: 'My agents' }).last().click();
  await page.getByRole('link', { name: NAME }).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agents');
  await page.goBack();
  await page.getByRole('button', { name: 'Remove agent' }).click();
  const dialog = page.getByRole('dialog');
  const remove = dialog.getByRole('button', { name: 'Remove agent' });
  await dialog.getByRole('textbox').fill('Echo');
  expect(await remove.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill(NAME);
  await remove.press('Enter');
  await page.getByText('No agents yet').waitFor();
  expect((await h.request('GET', `/agents/${agentId}`)).status).toBe(404);
});

it('calls an own agent once when the answer to the test call was lost and it is pressed again', async () => {
  const { page, wallet } = await world.signedIn();
  const { h } = world;
  const key = await keyOf(h, wallet.address);
  await fundTreasury(h, key, '1');
  const owner = { key, accountId: '', address: wallet.address };
  const agent = await startTestAgent(h, { owner, name: 'Tested', perRequest: '0.05' });
  started.push(agent);
  await page.goto(`/dashboard/agents/${agent.id}?tab=test`);
  const lost = '**/invoke/*';
  await page.route(lost, async (route) => {
    await route.fetch();
    await route.fulfill({ status: 502, body: 'lost' });
  });
  await page.getByRole('button', { name: 'Call the agent' }).click();
  await page.getByText("It isn't known whether the call was made.").waitFor();
  await page.unroute(lost);
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByRole('link', { name: 'Invocation', exact: true }).waitFor();
  expect((await h.request('GET', '/invoke/history', { key })).body.data.total).toBe(1);
});

it('proves the wallet with the browser’s, links a token that it holds, and has it point to the agent', async () => {
  const { page, wallet } = await world.signedIn();
  const { h } = world;
  const key = await keyOf(h, wallet.address);
  const agent = await startTestAgent(h, { owner: { key, accountId: '', address: wallet.address }, name: 'Linked' });
  started.push(agent);
  await untilRegistered(h, agent.id);
  const tokenId = await registerOnChain(h.rpcUrl, wallet.address, 'https://elsewhere.example/agent.json');
  await h.ctx.db.query('unprove', 'update account set wallet_proven_at = null where address = $1', [
    wallet.address.toLowerCase(),
  ]);
  await page.goto(`/dashboard/agents/${agent.id}?tab=verification`);
  const sign = page.getByRole('button', { name: 'Sign with Test wallet' });
  await sign.waitFor();
  wallet.refuseNext();
  await sign.click();
  await page.getByText('The request was declined in the wallet. Nothing was signed.').waitFor();
  await lookAt(page, 'agent-wallet');
  await sign.click();
  await page.getByRole('heading', { name: "Verify the owner's wallet (done)" }).waitFor();

  await page.getByText('I already have a token').click();
  await page.getByLabel('Token number').fill('-1');
  const link = page.getByRole('button', { name: 'Link token' });
  await link.click();
  await page.getByText('is not the number of a token').waitFor();
  await page.getByLabel('Token number').fill(tokenId);
  await link.click();
  await page.getByRole('button', { name: 'Send with Test wallet' }).click();
  await page.getByRole('button', { name: `Copy registration address ${h.baseUrl}/agents/` }).waitFor();
  const uri = () => h.request('GET', `/identity/${agent.id}`).then(({ body }) => body.data.onChain.agentURI);
  expect(await uri()).toBe(`${h.baseUrl}/agents/${agent.id}/registration.json`);
  await expectAccessible(page);
});

it('says of an agent of somebody else that it is theirs', async () => {
  const { page } = await world.signedIn();
  const agent = await startTestAgent(world.h);
  started.push(agent);
  await page.goto(`/dashboard/agents/${agent.id}?tab=verification`);
  await page.getByText("This agent isn't yours").waitFor();
  await page.goto('/dashboard/agents/agt_none');
  await page.getByRole('alert').getByText('NOT_FOUND').waitFor();
});
