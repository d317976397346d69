import type { Balance, PaymentItem, Withdrawal } from '@agent-network/contracts/payments/payments';
import type { Reserves } from '@agent-network/contracts/payments/reserves';
import type { Statement } from '@agent-network/contracts/payments/statements';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { issueApiKey } from '../../service/src/accounts/keys/manage-keys.ts';
import { readTransfers } from '../../service/src/payments/reconcile/read-transfers.ts';
import { transferUsdc } from '../../service/test/support/chain-actions.ts';
import { startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { untilEnded } from '../../service/test/support/treasury.ts';
import { askNode } from './support/ask-node.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { readCsv } from './support/read-csv.ts';
import { saved } from './support/saved.ts';
import { lookAt } from './support/screenshot.ts';
import { startWorld, type World } from './support/world.ts';

const HOSTILE_LABEL = '=HYPERLINK("https://evil.example","pay")';
const HOSTILE_AGENT = '<img src=x onerror="alert(1)">';

let world: World;
let agent: TestAgent;
beforeAll(async () => {
  world = await startWorld();
  agent = await startTestAgent(world.h, { perRequest: '0.01', name: HOSTILE_AGENT });
});
afterAll(async () => {
  await agent.die();
  await world.stop();
});

const poll = <T>(look: () => T) => expect.poll(look);
const balanceOf = (page: Page) => askNode<Balance>(page, 'GET', '/payments/balance');
const historyOf = async (page: Page, query = '') =>
  (await askNode<{ payments: PaymentItem[] }>(page, 'GET', `/payments/history?limit=100${query}`)).payments;

/** Somebody whose treasury holds this much, deposited from their wallet with the API. */
async function signedInWith(amount: string) {
  const person = await world.signedIn();
  const { page } = person;
  const { treasuryId } = await askNode<{ treasuryId: string }>(page, 'POST', '/payments/treasury', {
    label: HOSTILE_LABEL,
  });
  await page.goto('/dashboard/payments');
  await fund(page, amount);
  return { ...person, treasuryId };
}

async function fund(page: Page, amount: string): Promise<void> {
  await page.getByRole('button', { name: 'Add funds' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Amount' }).fill(amount);
  await dialog.getByRole('button', { name: 'Pay with Test wallet' }).click();
  await dialog.waitFor({ state: 'hidden' });
}

it('adds test money without a wallet, alerts below a limit, and collects what an agent has earned', async () => {
  const { page } = await world.signedIn();
  await page.goto('/dashboard/payments');
  const figure = (label: string) => page.locator(`dt:text-is("${label}") + dd`);
  await page.getByRole('button', { name: 'Set an alert' }).click();
  await page.getByRole('textbox', { name: 'Alert below' }).fill('5');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText("The account's treasury has 0.00 USDC, less than the 5.00 USDC that you set.").waitFor();
  await lookAt(page, 'payments-low');
  await page.getByRole('button', { name: 'Add funds' }).click();
  const dialog = page.getByRole('dialog');
  await lookAt(page, 'payments-test-funds');
  await dialog.getByRole('button', { name: 'Add 10 test USDC' }).dblclick();
  // The second click repeats the first under its key, and says so too if it comes after the answer.
  await page.getByText('10.00 test USDC added').first().waitFor();
  await figure('You can spend').getByText('10.00').waitFor();
  expect(await page.getByText('Low balance').count()).toBe(0);
  expect(await historyOf(page)).toMatchObject([{ type: 'deposit', amount: '10.00', status: 'confirmed' }]);

  const { h } = world;
  const { accountId } = await askNode<{ accountId: string }>(page, 'GET', '/account');
  const key = (await issueApiKey(h.ctx, { accountId, name: 'of a test', scopes: ['agents:write'], expiresAt: null }))
    .apiKey;
  const own = await startTestAgent(h, { owner: { key, accountId, address: '' }, perRequest: '0.03', name: 'Own' });
  const { requestId } = await askNode<{ requestId: string }>(page, 'POST', `/invoke/${own.id}`, { task: 'earn' });
  await poll(async () => (await askNode<{ status: string }>(page, 'GET', `/invoke/${requestId}`)).status).toBe(
    'completed',
  );
  await own.die();
  await page.reload();
  await figure('Earnings to collect').getByText('0.03').waitFor();
  await page.getByRole('row', { name: /^Own Copy/ }).waitFor();
  await lookAt(page, 'payments-earnings');
  await page.getByRole('button', { name: 'Collect all' }).click();
  await page.getByText('0.03 USDC collected').waitFor();
  await figure('You can spend').getByText('10.00').waitFor();
  await page.getByRole('button', { name: 'Show 1 without money' }).click();
  await page.getByRole('row', { name: /^Own Copy/ }).waitFor();
  await page.goto(`/dashboard/agents/${own.id}?tab=earnings`);
  await page
    .getByRole('term')
    .filter({ hasText: 'Withdrawn so far' })
    .locator('xpath=../dd[1]')
    .getByText('0.03')
    .waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agent-earnings');
});

it('opens a treasury and funds it from the wallet: not when the wallet declines, once when asked twice', async () => {
  const { page, wallet } = await world.signedIn();
  await page.goto('/dashboard/payments');
  await page.getByText('opened by the first deposit').waitFor();
  await lookAt(page, 'payments-empty');

  await page.getByRole('button', { name: 'Add funds' }).click();
  const dialog = page.getByRole('dialog');
  const pay = dialog.getByRole('button', { name: 'Pay with Test wallet' });
  await pay.click();
  await dialog.getByRole('textbox', { name: 'Amount' }).and(page.locator('[aria-invalid=true]')).waitFor();
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('12.5');
  wallet.refuseNext('eth_signTypedData_v4');
  await pay.click();
  await dialog.getByText('The request was declined in the wallet. Nothing was signed.').waitFor();
  expect((await balanceOf(page)).available).toBe('0.00');
  await expectAccessible(page);
  await lookAt(page, 'payments-fund');

  wallet.asked.length = 0;
  await pay.dblclick();
  await page.getByText('12.50 USDC added').waitFor();
  expect(wallet.asked.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(1);
  expect((await balanceOf(page)).available).toBe('12.50');
  expect(await world.h.usdcOf(wallet.address)).toBe(987_500_000n);
  await page
    .getByRole('term')
    .filter({ hasText: 'You can spend' })
    .locator('xpath=../dd[1]')
    .getByText('12.50')
    .waitFor();
});

it('keeps a deposit whose answer was lost while the other way to add funds is looked at: signed once, paid once', async () => {
  const { page, wallet } = await signedInWith('1');
  await page.getByRole('button', { name: 'Add funds' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('2');
  wallet.asked.length = 0;
  // The node collects the payment, and none of its answers arrives.
  const lost = '**/payments/treasury/deposit';
  await page.route(lost, async (route) => {
    const response = await route.fetch();
    if (response.status() === 402) await route.fulfill({ response });
    else await route.fulfill({ status: 502, body: 'lost' });
  });
  await dialog.getByRole('button', { name: 'Pay with Test wallet' }).click();
  await dialog.getByText('The payment is signed and may have gone through.').waitFor();
  await page.unroute(lost);
  await dialog.getByRole('tab', { name: 'By transfer' }).click();
  await dialog.getByText('Sent from another wallet?').waitFor();
  await dialog.getByRole('tab', { name: 'From a browser wallet' }).click();
  await dialog.getByRole('button', { name: 'Retry' }).click();
  await page.getByText('2.00 USDC added').waitFor();
  expect(wallet.asked.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(1);
  expect((await balanceOf(page)).available).toBe('3.00');
});

it('shows where to transfer to, and claims what another wallet sent with its signature', async () => {
  const { page, wallet } = await world.signedIn();
  const { h } = world;
  const other = await h.newWallet();
  await page.goto('/dashboard/payments');
  await page.getByRole('button', { name: 'Add funds' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('tab', { name: 'By transfer' }).click();
  await dialog
    .getByRole('button', { name: new RegExp(`^Copy address of the node ${h.ctx.chain.wallet}$`, 'i') })
    .waitFor();
  await dialog
    .getByRole('button', { name: new RegExp(`^Copy address of the token ${h.ctx.chain.token}$`, 'i') })
    .waitFor();
  expect(await dialog.getByRole('link', { name: 'Explorer' }).count()).toBe(0);

  await transferUsdc(h.rpcUrl, h, { from: other.address, to: h.ctx.chain.wallet, micro: 2_000_000n });
  wallet.choose(other);
  const waiting = dialog.getByText('2.00 USDC from');
  await poll(async () => {
    await readTransfers(h.ctx);
    await dialog.getByRole('button', { name: /^(Check for transfers|Check another)$/ }).click();
    await dialog.getByRole('button', { name: 'Check another' }).waitFor();
    return waiting.count();
  }).toBe(1);
  await expectAccessible(page);
  await lookAt(page, 'payments-transfer');
  wallet.refuseNext('personal_sign');
  await dialog.getByRole('button', { name: 'Sign and claim' }).click();
  await dialog.getByText('The request was declined in the wallet. Nothing was signed.').waitFor();
  await dialog.getByRole('button', { name: 'Sign and claim' }).click();
  await dialog.getByText('2.00 USDC credited').waitFor();
  expect((await balanceOf(page)).available).toBe('2.00');

  await page.keyboard.press('Escape');
  await transferUsdc(h.rpcUrl, h, { from: other.address, to: h.ctx.chain.wallet, micro: 500_000n });
  await poll(async () => {
    await readTransfers(h.ctx);
    return page.getByRole('term').filter({ hasText: 'You can spend' }).locator('xpath=../dd[1]').textContent();
  }).toBe('2.50 USDC');
});

it('withdraws with a fresh signature of the wallet of the account only, and once, whatever happens to the answer', async () => {
  const { page, wallet, treasuryId } = await signedInWith('5');
  const { h } = world;
  const own = await h.usdcOf(wallet.address);
  const recipient = (await h.newWallet(0n)).address;
  await page.getByRole('button', { name: 'Withdraw' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'All: 5.00 USDC' }).click();
  const amount = dialog.getByRole('textbox', { name: 'Amount' });
  expect(await amount.inputValue()).toBe('5.00');
  await amount.fill('1.25');
  await dialog.getByLabel('To').fill(recipient);
  const sign = dialog.getByRole('button', { name: 'Sign and withdraw' });
  wallet.refuseNext('personal_sign');
  await sign.click();
  await dialog.getByText('The request was declined in the wallet. Nothing was signed.').waitFor();
  expect((await balanceOf(page)).available).toBe('5.00');
  expect(await historyOf(page, '&type=withdrawal')).toEqual([]);
  await expectAccessible(page);
  await lookAt(page, 'payments-withdraw');

  // The node does it, and none of its answers arrives.
  const lost = '**/payments/withdraw';
  await page.route(lost, async (route) => {
    await route.fetch();
    await route.fulfill({ status: 502, body: 'lost' });
  });
  await sign.click();
  await dialog.getByText("It isn't known whether this went through.").waitFor();
  await page.unroute(lost);
  wallet.asked.length = 0;
  await dialog.getByRole('button', { name: 'Retry' }).click();
  await page.getByText('Completed: the USDC is in the wallet.').waitFor();
  expect(wallet.asked).not.toContain('personal_sign');
  const withdrawals = await historyOf(page, '&type=withdrawal');
  expect(withdrawals).toMatchObject([{ amount: '1.25', treasuryId }]);
  expect(page.url()).toContain(`/payments/withdrawals/${withdrawals[0]?.withdrawalId}`);
  expect(await h.usdcOf(recipient)).toBe(1_250_000n);
  await page.getByRole('button', { name: /^Copy transaction hash 0x/ }).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'payments-withdrawal');

  await page.getByRole('link', { name: treasuryId }).click();
  await page.getByRole('button', { name: 'Withdraw' }).click();
  wallet.choose(await h.newWallet(0n));
  await amount.fill('1');
  await sign.click();
  await dialog.getByText('Switch the wallet to account').waitFor();
  expect(await h.usdcOf(wallet.address)).toBe(own);
  expect((await balanceOf(page)).available).toBe('3.75');
});

it('follows a withdrawal until the chain has it', async () => {
  const { page, treasuryId } = await signedInWith('3');
  const withdrawalId = 'wdr_0123456789abcdefghijklmnop';
  const answers: Withdrawal['status'][] = ['pending', 'pending', 'confirmed'];
  let asked = 0;
  await page.route(`**/payments/withdrawals/${withdrawalId}`, (route) => {
    const status = answers[Math.min(asked++, answers.length - 1)];
    const data = {
      withdrawalId,
      status,
      amount: '1.00',
      to: `0x${'12'.repeat(20)}`,
      transactionHash: null,
      treasuryId,
      createdAt: new Date().toISOString(),
    };
    return route.request().resourceType() === 'document'
      ? route.fallback()
      : route.fulfill({ json: { status: 'success', data } });
  });
  await page.goto(`/dashboard/payments/withdrawals/${withdrawalId}`);
  await page.getByText('on its way to the wallet').waitFor();
  await page.getByText('Completed: the USDC is in the wallet.').waitFor();
});

it('pages the statement and the history by links, and exports both whole as CSV that says what the API says', async () => {
  const { page, treasuryId } = await signedInWith('4');
  const { h } = world;
  const { apiKey } = await askNode<{ apiKey: string }>(page, 'POST', '/account/keys', {
    name: 'calls',
    scopes: ['invoke', 'agents:write'],
  });
  const calls = Array.from({ length: 9 }, async () => {
    const { body } = await h.request('POST', `/invoke/${agent.id}`, { key: apiKey, body: { task: 'x' } });
    await untilEnded(h, apiKey, body.data.requestId);
  });
  const own = {
    name: HOSTILE_AGENT,
    description: '',
    capabilities: ['x'],
    rates: { perRequest: '0' },
    endpoint: 'http://127.0.0.1:9/',
  };
  await Promise.all([...calls, h.request('POST', '/agents', { key: apiKey, body: own })]);

  // Pages of four, so that ten entries are three of them.
  const isPage = /\/payments\/(treasury\/[^/]+\/statement|history)\?/;
  await page.route(isPage, (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set('limit', '4');
    return route.continue({ url: url.href });
  });
  await page.reload();
  await page.getByRole('button', { name: 'Show 1 without money' }).click();
  await page.getByText(HOSTILE_AGENT).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'payments');
  await page.getByRole('link', { name: HOSTILE_LABEL }).click();
  await page.getByRole('heading', { name: HOSTILE_LABEL }).waitFor();
  const rows = page.getByRole('table', { name: 'Entries' }).getByRole('row');
  await poll(() => rows.count()).toBe(5);
  await rows.nth(1).getByText('−0.01').waitFor();
  await rows.nth(1).getByText('3.91').waitFor();
  await rows.nth(1).getByRole('link', { name: HOSTILE_AGENT }).waitFor();
  const next = page.getByRole('button', { name: 'Next page' });
  await next.click();
  await poll(() => new URL(page.url()).searchParams.get('cursor')).toBeTruthy();
  await page.reload();
  await rows.nth(1).getByText('3.95').waitFor();
  await next.click();
  await poll(() => rows.count()).toBe(3);
  await rows.nth(2).getByText('+4.00').waitFor();
  expect(await next.isDisabled()).toBe(true);
  await expectAccessible(page);
  await lookAt(page, 'payments-statement');

  const statementCsv = readCsv(await saved(page, () => page.getByRole('button', { name: 'Export CSV' }).click()));
  const { entries } = await askNode<Statement>(page, 'GET', `/payments/treasury/${treasuryId}/statement`);
  expect(entries).toHaveLength(10);
  const text = (value: string | null | undefined) => value ?? '';
  expect(statementCsv).toEqual(
    entries.toReversed().map((entry) => ({
      createdAt: entry.createdAt,
      type: entry.type,
      direction: entry.direction,
      amount: entry.amount,
      balance: entry.balance,
      currency: 'USDC',
      treasury: `'${HOSTILE_LABEL}`,
      treasuryId,
      counterparty: text(entry.counterparty),
      counterpartyName: text(entry.counterpartyName),
      requestId: text(entry.requestId),
      paymentId: text(entry.paymentId),
      withdrawalId: '',
      transactionHash: text(entry.transactionHash),
      entryId: entry.entryId,
    })),
  );

  await page.goto('/dashboard/payments?tab=history');
  await poll(() => page.getByRole('table', { name: 'Payments' }).getByRole('row').count()).toBe(5);
  await page.getByText('10 total').waitFor();
  const historyCsv = readCsv(await saved(page, () => page.getByRole('button', { name: 'Export CSV' }).click()));
  await page.unroute(isPage);
  const payments = await historyOf(page);
  expect(payments).toHaveLength(10);
  expect(historyCsv).toEqual(
    payments.map((payment) => ({
      createdAt: payment.createdAt,
      type: payment.type,
      status: payment.status,
      direction: payment.type === 'deposit' ? 'in' : 'out',
      amount: payment.amount,
      fee: text(payment.fee),
      currency: 'USDC',
      treasury: `'${HOSTILE_LABEL}`,
      treasuryId,
      counterparty: text(payment.counterparty),
      counterpartyName: text(payment.counterpartyName),
      requestId: text(payment.requestId),
      withdrawalId: '',
      transactionHash: text(payment.transactionHash),
      paymentId: payment.paymentId,
    })),
  );
  await page.getByRole('combobox', { name: 'Type' }).selectOption({ label: 'Deposit' });
  await page.getByText('1 total').waitFor();
  expect(page.url()).toContain('type=deposit');
  await expectAccessible(page);
  await lookAt(page, 'payments-history');
});

it('shows the reserves as the node tells of them, and is used with the keyboard alone', async () => {
  const { page } = await world.signedIn();
  await page.goto('/dashboard/usage');
  await page.getByRole('heading', { name: 'Usage and limits' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  const tab = page.getByRole('tab', { name: 'Treasuries' });
  await tab.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await poll(() => new URL(page.url()).searchParams.get('tab')).toBe('reserves');
  const proof = page.getByRole('table', { name: 'Proof of reserves' });
  await proof.waitFor();
  await expectAccessible(page);
  await lookAt(page, 'payments-reserves');
  const reserves = await askNode<Reserves>(page, 'GET', '/payments/reserves');
  const digits = (amount: string) => amount.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',');
  await proof.getByRole('row', { name: 'Total owed' }).getByText(digits(reserves.liabilities.total)).waitFor();
  await page.getByText('exactly what its books say').waitFor();
});
