import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, expect } from 'vitest';
import { newWallet } from '../../service/test/support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { keyOf } from './support/fund-treasury.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let agent: TestAgent;
beforeAll(async () => {
  world = await startWorld();
  agent = await startTestAgent(world.h, { name: '<b>Echo</b>', perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await world.stop();
});

const invoke = (key: string, agentId = agent.id) =>
  world.h.request('POST', `/invoke/${agentId}`, { key, body: { task: 'hello' }, headers: { 'x-sync': 'true' } });

const run = promisify(execFile);

/** Runs what the page shows for funding the treasury, each for an account that has none yet; the first pays into that of the key. */
async function fundAsShown(sdk: string, curl: string, key: string): Promise<void> {
  const { h } = world;
  const walletKey = generatePrivateKey();
  const wallet = await newWallet(h.rpcUrl, h.ctx.chain.token, 5_000_000n, walletKey);
  const cwd = join(import.meta.dirname, '..');
  const env = { ...process.env, AGENT_NETWORK_KEY: key, WALLET_PRIVATE_KEY: walletKey };
  expect((await run(process.execPath, ['--input-type=module', '-e', sdk], { env, cwd })).stdout).toContain('5.00');
  const another = { ...process.env, AGENT_NETWORK_KEY: await keyOf(h, wallet.address) };
  expect((await run('bash', ['-c', curl], { env: another })).stdout).toContain('PAYMENT_REQUIRED');
}

it('leads to the first paid call: each step ticks itself, and then shows what the API says', async () => {
  const { page, wallet } = await world.signedIn();
  const { h } = world;
  await page.goto('/dashboard/');
  const steps = page.getByRole('list', { name: 'Steps: Call agents' });
  const step = (name: string) => steps.getByRole('heading', { name });
  await step('Call an agent (not done)').waitFor();
  expect(await page.getByText('Run this node for others').count()).toBe(0);
  await lookAt(page, 'overview-first-visit');
  await expectAccessible(page);
  const key = await keyOf(h, wallet.address);
  await steps.getByText('How').first().click();
  const funding = steps.getByRole('region', { name: 'Add money' });
  const sdk = (await funding.textContent()) ?? '';
  await steps.getByRole('button', { name: 'curl', exact: true }).first().click();
  await fundAsShown(sdk, (await funding.textContent()) ?? '', key);
  await step('Add money (done)').waitFor();
  await step('Call from your program (done)').waitFor();
  await lookAt(page, 'overview-funded');
  expect((await invoke(key)).body.data.status).toBe('completed');
  await step('Make a paid call (done)').waitFor();
  await step('Call an agent (done)').waitFor();
  await page.getByRole('heading', { name: 'You call agents, and pay for them' }).waitFor();
  await lookAt(page, 'overview-paid');
  await page.getByRole('button', { name: 'Dismiss' }).click();
  expect(await steps.count()).toBe(0);
  await page.getByRole('heading', { name: 'List your agent (not done)' }).waitFor();
  await lookAt(page, 'overview-seller');
  await page.getByRole('button', { name: 'Dismiss' }).click();
  expect(await page.getByRole('heading', { name: 'First steps' }).count()).toBe(0);

  agent.behave(answerWith(500, { error: { message: '<script>no</script> javascript:alert(1)' } }));
  const failed = (await invoke(key)).body.data;
  agent.behave(echo);
  const own = await startTestAgent(h, { owner: { key, accountId: '', address: '' }, perRequest: '0.2', name: 'Own' });
  await invoke(key, own.id);
  await own.die();
  await page.reload();
  await page.getByRole('link', { name: '<b>Echo</b>' }).waitFor();
  expect(await steps.count()).toBe(0);
  for (const [days, tab] of [
    ['1', 'Today'],
    ['30', '30 days'],
    ['7', '7 days'],
  ] as const) {
    await page.getByRole('tab', { name: tab }).click();
    await page.waitForURL(`**/dashboard/?days=${days}`);
    const { data } = (await h.request('GET', `/account/overview?days=${days}`, { key })).body;
    const shown = (label: string) =>
      page
        .getByRole('definition')
        .and(page.locator(`dt:text-is("${label}") + dd`))
        .first();
    await expect.poll(() => shown('Spent').textContent()).toBe(`${data.spent} USDC`);
    expect(await shown('Earned').textContent()).toBe(`${data.earned} USDC`);
    expect(await shown('Calls').textContent()).toBe(String(data.calls));
    expect(await shown('Success rate').textContent()).toBe('66.7%');
    const received = page.getByRole('region', { name: 'Calls to your agents' });
    expect(await received.textContent()).toContain(`Earned${data.received.earned} USDC`);
    const calls = page.getByRole('figure', { name: /^Calls, / });
    await calls.getByRole('button', { name: 'Show as table' }).click();
    const last = calls.getByRole('row').last();
    expect(await last.getByRole('cell').allTextContents()).toEqual(['2', '1']);
    await calls.getByRole('button', { name: 'Show as chart' }).click();
  }
  const balance = (await h.request('GET', '/payments/balance', { key })).body.data;
  const figure = (label: string) => page.locator(`dt:text-is("${label}") + dd`).textContent();
  expect(await figure('You can spend')).toBe(`${balance.spendable.total} USDC`);
  expect(await figure('Earnings to collect')).toBe(`${balance.earnings} USDC`);
  await expectAccessible(page);
  await lookAt(page, 'overview');

  await page.getByRole('link', { name: '<b>Echo</b>' }).press('Enter');
  await page.waitForURL(`**/invocations/${failed.requestId}`);
});
