import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { callChain } from '../../chain/src/chain-rpc-client.ts';
import { issueApiKey } from '../../service/src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../service/src/accounts/open-account.ts';
import { NODE_VERSION } from '../../service/src/lib/process/node-version.ts';
import { insertNode } from '../../service/src/network/node-store.ts';
import { answerWith, startTestAgent } from '../../service/test/support/test-agent.ts';
import { payV2 } from '../../service/test/support/x402-payer.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { readCsv } from './support/read-csv.ts';
import { saved } from './support/saved.ts';
import { lookAt } from './support/screenshot.ts';
import { sessionCall } from './support/session-call.ts';
import { walletOf } from './support/test-wallet.ts';
import { signInWithWallet, startWorld, type World } from './support/world.ts';

const HOSTILE = '<img src=x onerror=alert(1)> node';
let world: World;
beforeAll(async () => {
  // Others list nodes of their own.
  world = await startWorld({});
});
afterAll(() => world.stop());

/** A node of another operator, which nobody asks anything for a year. */
async function listNode(baseUrl: string, nodeId: string): Promise<void> {
  const { h } = world;
  const { accountId, address } = await h.newAccount();
  const node = {
    nodeId,
    chainId: h.ctx.chain.chainId,
    tokenId: '7',
    baseUrl,
    accountId,
    label: HOSTILE,
    version: '1.2.3',
    isInteractive: true,
  };
  await h.ctx.db.transaction(async (tx) => {
    await insertNode(tx, { ...node, wallet: address }, new Date());
    await tx.query('ask-nobody', `update network_node set next_check_at = 'infinity' where id = $1`, [nodeId]);
  });
}

it('shows this node, its chain index and the other nodes', async () => {
  await listNode('javascript:alert(1)//', 'nod_1');
  const { page } = await world.signedIn({ at: '/dashboard/' });
  await page.keyboard.press('g');
  await page.keyboard.press('n');
  await page.getByRole('heading', { name: 'Network' }).waitFor();
  const row = page.getByRole('row', { name: /node/ }).filter({ hasText: HOSTILE });
  await row.getByText('online').waitFor();
  await row.getByText('javascript:alert(1)//').waitFor();
  expect(await row.getByRole('link').count()).toBe(0);
  const index = page.getByRole('region', { name: 'Chain index' });
  await index.getByText('live').waitFor();
  await index.getByText('Indexed to block').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'network');
});

it('has an operator page for operators only, in the navigation and in the API', async () => {
  const { page } = await world.signedIn({ at: '/dashboard/' });
  expect(await page.getByRole('link', { name: 'Operator' }).count()).toBe(0);
  await page.goto('/dashboard/operator');
  await page.getByText('For operators only').waitFor();
  expect((await sessionCall(page, 'GET', '/operator/status')).status).toBe(403);
});

/** The operator page of somebody who signed in and has a key with the scope `operator`. */
async function operatorPage(tab: string): Promise<Page> {
  const { h, newPage } = world;
  const wallet = walletOf(await h.newWallet(), h.rpcUrl);
  const address = wallet.address.toLowerCase();
  const { accountId } = await openAccount(h.ctx, { address, plan: 'enterprise', isWalletProven: true });
  await issueApiKey(h.ctx, { accountId, name: 'operator', scopes: ['operator'], expiresAt: null });
  const { page } = await newPage({ wallet });
  await signInWithWallet(page);
  await page.getByRole('link', { name: 'Operator' }).click();
  await page.getByRole('tab', { name: tab }).click();
  return page;
}

it('shows an operator why an invocation of somebody else was refunded and where the money went', async () => {
  const { h } = world;
  const words = `the disk is full ${HOSTILE}`;
  const agent = await startTestAgent(h, {
    perRequest: '0.05',
    behaviour: answerWith(500, { error: { message: words } }),
  });
  const { key } = await h.newAccount();
  const call = { key, body: { task: 'private words' } };
  const unpaid = await h.request('POST', `/invoke/${agent.id}`, call);
  const headers = await payV2(h, await h.newWallet(50_000n), unpaid);
  const { requestId } = (await h.request('POST', `/invoke/${agent.id}`, { ...call, headers })).body.data;
  await agent.die();

  const page = await operatorPage('Calls');
  await page.getByLabel('Invocation ID').fill('req_none');
  await page.keyboard.press('Enter');
  await page.getByText('No invocation to show').waitFor();
  await page.getByLabel('Invocation ID').fill(` ${requestId} `);
  await page.getByRole('button', { name: 'Look up' }).click();
  const trace = page.getByRole('region', { name: `Invocation ${requestId}` });
  await trace.getByText('failed: agent error').waitFor();
  await trace.getByText(words).first().waitFor();
  const refund = trace.getByRole('list', { name: 'Parts of the refund' });
  await refund.getByText('Transfer on chain').waitFor();
  await refund.getByText('settled').waitFor();
  await refund.getByRole('button', { name: /Copy refund transaction/ }).waitFor();
  const titles = async () => {
    const steps = await trace
      .getByRole('list', { name: 'Timeline of the invocation' })
      .getByRole('listitem')
      .allInnerTexts();
    return steps.map((step) => step.split('\n')[0]);
  };
  expect((await titles()).at(-1)).toBe('Refund settled on chain');
  expect((await titles()).filter((title) => title === 'Failed')).toHaveLength(1);
  expect(await page.getByText('private words').count()).toBe(0);
  expect(new URL(page.url()).searchParams.get('invocation')).toBe(requestId);
  await expectAccessible(page);
  await lookAt(page, 'operator-invocation');
  await page.reload();
  await trace.getByText('failed: agent error').waitFor();
});

it('shows an operator how the node stands, and what needs attention', async () => {
  const { h } = world;
  await h.ctx.db.query(
    'leaving-process',
    `insert into process (id, worker_ids, label, version, seen_at, draining_since)
     values (gen_random_uuid(), '{}', 'leaving', '0.0.9', clock_timestamp() + interval '1 hour', clock_timestamp())`,
  );
  const page = await operatorPage('Health');
  const serving = page.getByRole('row', { name: /serving you/ });
  await serving.getByText(NODE_VERSION).waitFor();
  expect(await serving.getByText('draining').count()).toBe(0);
  const leaving = page.getByRole('row', { name: /leaving/ });
  await leaving.getByText('0.0.9').waitFor();
  await leaving.getByText('draining').waitFor();
  await h.ctx.db.query('left-process', `delete from process where label = 'leaving'`);
  await page.getByText('Nothing needs attention.').waitFor();
  await page.getByRole('row', { name: /Webhooks to send again/ }).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'operator');
  await page.getByRole('tab', { name: 'Money' }).click();
  await page
    .getByRole('row', { name: /wallet/ })
    .getByText('ETH')
    .waitFor();
  await page.getByRole('region', { name: 'Reserves' }).getByText('balanced').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'operator-money');
  await page.getByRole('tab', { name: 'Settings' }).click();
  await page.getByText('This process does not report its settings').waitFor();
  await page.getByRole('tab', { name: 'Health' }).click();

  await callChain(h.rpcUrl, 'anvil_setBalance', h.ctx.chain.wallet, '0x1');
  const alarms = page.getByRole('list', { name: 'Alarms' });
  await alarms.getByText(`The wallet key ${h.ctx.chain.wallet} is running low on gas.`).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'operator-alarm');
});

it('lets an operator find an account, set its plan, and suspend and resume it with a reason', async () => {
  const { h } = world;
  const { accountId, address } = await h.newAccount({ plan: 'free' });
  const page = await operatorPage('Accounts');
  await page.getByLabel('Sort by').selectOption('Highest balance');
  await page.waitForURL('**/operator?**sort=available**');
  await page.getByLabel('Find an account').fill(address.slice(0, 14));
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  const rows = readCsv(await saved(page, () => page.getByRole('button', { name: 'Export CSV' }).click()));
  expect(rows).toMatchObject([{ accountId, plan: 'free', calls: '0', available: '0.00' }]);
  await page.getByRole('link', { name: address.toLowerCase().slice(0, 8) }).click();
  const panel = page.getByRole('region', { name: 'Account', exact: true });
  await panel.getByText('Active').waitFor();
  await panel.getByLabel('Plan').selectOption('pro');
  expect(await panel.getByRole('button', { name: 'Set plan' }).isDisabled()).toBe(true);
  await panel.getByLabel('Reason').fill('It asked for more.');
  await panel.getByRole('button', { name: 'Set plan' }).click();
  const changes = panel.getByRole('list', { name: 'Changes by operators' });
  await changes.getByText('plan pro').waitFor();
  await panel.getByLabel('Reason').fill(HOSTILE);
  await panel.getByRole('button', { name: 'Suspend account' }).click();
  await panel.getByText(`Suspended: ${HOSTILE}`).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'operator-accounts');
  await panel.getByLabel('Reason').fill('mended');
  await panel.getByRole('button', { name: 'Resume account' }).click();
  await panel.getByText('Active').waitFor();
  const [row] = await h.ctx.db.query('standing', 'select plan, suspended_at from account where id = $1', [accountId]);
  expect(row).toEqual({ plan: 'pro', suspended_at: null });
});
