import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { chunk, result, spokenBy } from '../../service/test/calls/stream/support/streaming-agent.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { balanceOf, untilEnded } from '../../service/test/support/treasury.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { fundTreasury, keyOf } from './support/fund-treasury.ts';
import { hostileText, turnedText } from './support/hostile.ts';
import { it } from './support/journey.ts';
import { readCsv } from './support/read-csv.ts';
import { repeatInvocation } from './support/repeat-invocation.ts';
import { saved } from './support/saved.ts';
import { lookAt } from './support/screenshot.ts';
import { tabTo } from './support/tab-to.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let agent: TestAgent;
beforeAll(async () => {
  world = await startWorld();
  agent = await startTestAgent(world.h, { name: `Echo ${hostileText}`.slice(0, 100), perRequest: '0.05' });
});
afterAll(async () => {
  await world.stop();
  await agent.die();
});

/** Somebody signed in whose treasury holds 5 USDC, and a key of theirs. */
async function payer() {
  const { page, wallet } = await world.signedIn();
  const key = await keyOf(world.h, wallet.address);
  await fundTreasury(world.h, key, '5');
  const invoke = async (body: object, headers: Record<string, string> = {}): Promise<string> => {
    const answer = await world.h.request('POST', `/invoke/${agent.id}`, { key, body, headers });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.data.requestId;
  };
  return { page, key, invoke };
}

const lostAnswer = { status: 'error', error: { code: 'INTERNAL_ERROR', message: 'lost', requestId: 'req_lost' } };
const run = promisify(execFile);
const copied = async (page: Page, sample: string): Promise<string> => {
  await page.getByRole('button', { name: sample, exact: true }).click();
  await page.getByRole('button', { name: 'Copy Code for this call' }).click();
  return page.evaluate<string>('navigator.clipboard.readText()');
};

it('shows all of an invocation, and how to make it again in the shell and with the SDK', async () => {
  agent.behave(echo);
  const { page, key, invoke } = await payer();
  const task = `it's "$HOME" ${hostileText}`;
  const input = { text: "o'clock", list: [1, 2] };
  const requestId = await invoke(
    { task, input, context: 'said before', metadata: { by: 'test' } },
    { 'x-sync': 'true' },
  );
  await page.goto(`/dashboard/invocations/${requestId}`);
  for (const name of ['Task', 'Input', 'Context', 'Result', 'Metadata', 'Timeline', 'Payment'])
    await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.getByRole('region', { name: 'Task text' }).getByText(task).waitFor();
  await page.getByRole('region', { name: 'Input, JSON' }).getByText("o'clock").waitFor();
  const steps = await page.getByRole('list', { name: 'Timeline' }).getByRole('listitem').allInnerTexts();
  expect(steps.map((step) => step.split('\n')[0])).toEqual(['Accepted', 'Agent called', 'Completed']);
  expect(await page.title()).toBe('Invocation · agent-network');
  await expectAccessible(page);
  await lookAt(page, 'invocation');

  const env = { ...process.env, AGENT_NETWORK_KEY: key };
  const curl = JSON.parse((await run('bash', ['-c', await copied(page, 'curl')], { env })).stdout);
  expect(curl.data.result).toEqual({ echo: task, input });
  const cwd = join(import.meta.dirname, '..');
  const sdk = await run(process.execPath, ['--input-type=module', '-e', await copied(page, 'SDK')], { env, cwd });
  expect(sdk.stdout).toContain("o'clock");
  expect(agent.calls.at(-1)?.body).toMatchObject({ task, input, context: 'said before', metadata: { by: 'test' } });
});

it('gets the signed receipt of an invocation and checks it in the browser; a changed one is refused', async () => {
  agent.behave(echo);
  const { page, key, invoke } = await payer();
  const requestId = await invoke({ task: 'to be shown', input: { a: [1] } }, { 'x-sync': 'true' });
  await page.goto(`/dashboard/invocations/${requestId}`);
  const card = page.getByRole('region', { name: 'Receipt', exact: true });
  await card.getByRole('button', { name: 'Get receipt' }).click();
  await card.getByRole('button', { name: 'Verify' }).click();
  const said = card.getByRole('status').filter({ hasText: 'Verified in this browser' });
  await said.getByText('match the hashes in the receipt: task, input, context, result.').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'invocation-receipt');

  const path = `/invoke/${requestId}/receipt`;
  const { body } = await world.h.request('GET', path, { key });
  body.data.message.cost = '1';
  await page.route(`**${path}`, (route) => route.fulfill({ json: body }));
  await page.reload();
  await card.getByRole('button', { name: 'Get receipt' }).click();
  await card.getByRole('button', { name: 'Verify' }).click();
  await card.getByText('The receipt is not valid').waitFor();
  await card.getByText('was not signed by this wallet, or was changed').waitFor();
  expect(await said.count()).toBe(0);
});

it('runs an invocation again with the same input, for as much at most', async () => {
  agent.behave(echo);
  const { page, invoke } = await payer();
  const input = { list: [1, 2] };
  const requestId = await invoke({ task: 'at first', input }, { 'x-sync': 'true' });
  await page.goto(`/dashboard/invocations/${requestId}`);
  await page.getByRole('button', { name: 'Run again' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Task').fill('once more');
  await lookAt(page, 'invocation-again');
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('region', { name: 'Task text' }).getByText('once more').waitFor();
  await page.getByText('completed', { exact: true }).waitFor();
  expect(agent.calls.at(-1)?.body).toMatchObject({ task: 'once more', input });
});

it('runs again once when the answer was lost: a retry is the same call, and is not paid twice', async () => {
  agent.behave(echo);
  const { page, key, invoke } = await payer();
  const requestId = await invoke({ task: 'at first' }, { 'x-sync': 'true' });
  const balance = async () => Number((await balanceOf(world.h, key)).available);
  const before = await balance();
  await page.goto(`/dashboard/invocations/${requestId}`);
  await page.getByRole('button', { name: 'Run again' }).click();
  const dialog = page.getByRole('dialog');
  const lost = `**/invoke/${agent.id}`;
  await page.route(lost, async (route) => {
    await route.fetch();
    await route.fulfill({ status: 500, json: lostAnswer });
  });
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await dialog.getByText("It isn't known whether the call was made.").waitFor();
  expect(await dialog.getByLabel('Task').isEnabled()).toBe(false);
  await expectAccessible(page);
  await page.unroute(lost);
  await dialog.getByRole('button', { name: 'Retry' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('completed', { exact: true }).waitFor();
  expect(page.url()).not.toContain(requestId);
  const { total } = (await world.h.request('GET', '/invoke/history', { key })).body.data;
  expect(total).toBe(2);
  expect(before - (await balance())).toBeCloseTo(0.05, 6);
});

it('cancels a running call and shows what went back', async () => {
  const came = Promise.withResolvers<void>();
  agent.behave(() => came.resolve());
  const { page, key, invoke } = await payer();
  const requestId = await invoke({ task: 'long work' });
  await came.promise;
  await page.goto(`/dashboard/invocations/${requestId}`);
  await page.getByText('Agent is working').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Cancel invocation' }).click();
  await page.getByText('0.05 USDC returned to the treasury').waitFor();
  await page.getByText('cancelled', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
  await lookAt(page, 'invocation-cancelled');
  expect((await untilEnded(world.h, key, requestId)).refund).toBe('0.05');
});

it('shows the events of a streaming call as they come, and why one failed', async () => {
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const { page, key, invoke } = await payer();
  const requestId = await invoke({ task: 'talk', stream: true });
  await page.goto(`/dashboard/invocations/${requestId}`);
  const said = await talk.next();
  const events = page.getByRole('region', { name: 'Events', exact: true });
  said.say(chunk(hostileText + turnedText));
  await events.getByText('onerror').first().waitFor();
  await events.getByText('live').waitFor();
  said.say(result('done'));
  said.end();
  await events.getByText('completed').first().waitFor();
  await page.getByRole('region', { name: 'Result', exact: true }).getByText('done').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'invocation-events');
  expect(await page.title()).toBe('Invocation · agent-network');

  agent.behave(answerWith(500, { error: { message: `broken ${hostileText}` } }));
  const failed = await invoke({ task: 'fails' });
  await untilEnded(world.h, key, failed);
  await page.goto(`/dashboard/invocations/${failed}`);
  await page.getByText('Failed: agent error').waitFor();
  await page.getByText('0.05 USDC returned to the treasury').waitFor();
  await lookAt(page, 'invocation-failed');
});

it('shows a bulk invocation and leads to what is in it', async () => {
  agent.behave(echo);
  const { page, key, invoke } = await payer();
  const body = { task: 'for many', agents: [agent.id], strategy: 'first_success' };
  const { bulkId, requests } = (await world.h.request('POST', '/invoke/bulk', { key, body })).body.data;
  await page.goto(`/dashboard/bulk/${bulkId}`);
  await page.getByRole('region', { name: 'Result', exact: true }).getByText('for many').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'bulk');
  await page.getByRole('link', { name: requests[0].requestId }).click();
  await page.getByRole('heading', { name: 'Invocation', exact: true }).waitFor();
  await page.getByRole('link', { name: bulkId }).waitFor();

  const second = await startTestAgent(world.h, { name: 'Second', perRequest: '0.05', behaviour: echo });
  const all = { task: 'for both', agents: [agent.id, second.id], strategy: 'all' };
  await world.h.request('POST', '/invoke/bulk', { key, body: all });
  const single = await invoke({ task: 'on its own' });
  await untilEnded(world.h, key, single);
  await page.goto('/dashboard/invocations');
  const row = page.getByRole('row', { name: /for both/ });
  await row.getByText('2 agents').waitFor();
  expect(await row.count()).toBe(1);
  await expectAccessible(page);
  await lookAt(page, 'invocations-bulk');

  await page.getByLabel('Search task or agent name').fill('SECOND');
  await page.keyboard.press('Enter');
  await page.getByText('1 total').waitFor();
  expect(new URL(page.url()).search).toBe('?search=SECOND');
  const shown = JSON.parse(await saved(page, () => page.getByRole('button', { name: 'JSON' }).click()));
  expect(shown).toMatchObject([{ agentName: 'Second', task: 'for both' }]);
  const rows = readCsv(await saved(page, () => page.getByRole('button', { name: 'Export CSV' }).click()));
  expect(rows).toMatchObject([{ agentName: 'Second', task: 'for both', cost: shown[0].cost }]);
  await second.die();
});

it('lists 10,000 invocations page by page without a hitch, filtered by the address of the page', async () => {
  agent.behave(echo);
  const { page, key, invoke } = await payer();
  await page.goto('/dashboard/invocations');
  await page.getByText('No invocations yet').waitFor();
  await lookAt(page, 'invocations-empty');
  const first = await invoke({ task: hostileText });
  await untilEnded(world.h, key, first);
  await repeatInvocation(world.h.databaseUrl, first, 9999);
  await page.reload({ waitUntil: 'domcontentloaded' });
  await page.getByText('10,000 total').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'invocations');

  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const scriptMs = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    const seconds = metrics.filter(({ name }) => /^(Script|Layout|RecalcStyle)Duration$/.test(name));
    return seconds.reduce((sum, { value }) => sum + value * 1000, 0);
  };
  const before = await scriptMs();
  const pages = 5;
  for (let at = 1; at <= pages; at++) {
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText(`task ${at * 50}`, { exact: true }).waitFor();
  }
  const msPerPage = ((await scriptMs()) - before) / pages;
  process.stdout.write(`a page of 10,000 invocations: ${msPerPage.toFixed(0)} ms of script, style and layout\n`);
  expect(msPerPage).toBeLessThan(800);
  await page.goBack();
  await page.getByText('task 200', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'First page' }).click();
  await tabTo(page, page.getByLabel('Status'));
  await page.getByLabel('Status').selectOption('failed');
  await page.getByText('999 total').waitFor();
  expect(new URL(page.url()).search).toBe('?status=failed');
  const to = page.getByLabel('To day (UTC)');
  await to.fill('01/01/2020');
  await to.press('Enter');
  await page.locator('input[aria-invalid=true]').waitFor();
  await to.fill('2020-01-01');
  await to.press('Enter');
  await page.getByText('No results for these filters').waitFor();
  await page.reload({ waitUntil: 'domcontentloaded' });
  await page.getByText('No results for these filters').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  const link = page.getByRole('link', { name: 'task 1', exact: true });
  await tabTo(page, link);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Invocation', exact: true }).waitFor();
});
