import { scopes } from '@agent-network/contracts/access/scopes';
import type { Page } from 'playwright-core';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, expect } from 'vitest';
import { issueApiKey } from '../../service/src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../service/src/accounts/open-account.ts';
import { newWallet } from '../../service/test/support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { newVoucherPayer, type VoucherPayer } from '../../service/test/support/voucher-payer.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { walletOf } from './support/test-wallet.ts';
import { signInWithWallet, startWorld, type World } from './support/world.ts';

const PRICE = 50_000n;
let world: World;
let agent: TestAgent;
/** Of somebody whose wallet has a channel, and who is an operator too. */
let page: Page;
let payer: VoucherPayer;
let requestIds: string[];
beforeAll(async () => {
  world = await startWorld();
  const { h } = world;
  agent = await startTestAgent(h, { name: 'Paid by channel', perRequest: '0.05' });
  const key = generatePrivateKey();
  const account = await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, key);
  payer = newVoucherPayer(h, { key });
  requestIds = await makeCalls();
  const address = account.address.toLowerCase();
  const { accountId } = await openAccount(h.ctx, { address, plan: 'enterprise', isWalletProven: true });
  await issueApiKey(h.ctx, { accountId, name: 'operator', scopes, expiresAt: null });
  ({ page } = await world.newPage({ wallet: walletOf(account, h.rpcUrl) }));
  await signInWithWallet(page);
});
afterAll(async () => {
  await agent?.die();
  await world?.stop();
});

/** A call with the deposit, and one that fails. */
async function makeCalls(): Promise<string[]> {
  const call = (headers: Record<string, string> = {}) =>
    world.h.request('POST', `/x402/${agent.id}`, {
      body: { task: 'by voucher' },
      headers: { 'x-payment-scheme': 'batch-settlement', ...headers },
    });
  const payload = await payer.deposit(500_000n);
  const first = await call(payer.pay(await call(), PRICE, { payload }));
  agent.behave(answerWith(500, { error: { message: 'no' } }));
  const second = await call(payer.pay(await call(), 2n * PRICE));
  agent.behave(echo);
  return [first, second].map(({ body }) => body.data.requestId);
}

const rowsOf = (name: string) => page.getByRole('table', { name }).getByRole('row');

it('shows the channels of an account, what is left, and each call with what it cost', async () => {
  await page.getByRole('link', { name: 'Payments' }).click();
  await page.getByRole('tab', { name: 'Channels' }).click();
  const row = rowsOf('Channels').filter({ hasText: 'open' });
  await row.getByText('0.45').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'channels');
  await row.getByRole('link').click();
  await page.getByRole('heading', { name: 'Channel', exact: true }).waitFor();
  const calls = rowsOf('Calls of the channel');
  await calls
    .filter({ hasText: requestIds[0] as string })
    .getByText('0.05')
    .first()
    .waitFor();
  await calls
    .filter({ hasText: requestIds[1] as string })
    .getByText('0.00')
    .waitFor();
  await page.getByRole('tab', { name: 'Deposits, claims, refunds' }).click();
  const deposit = rowsOf('History of the channel').filter({ hasText: 'Deposit' });
  await deposit.getByText('0.50').waitFor();
  await deposit.getByText('done').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'channel');
  await page.getByRole('tab', { name: 'Calls' }).click();
  await page.getByRole('link', { name: requestIds[0] as string }).click();
  await page.getByRole('heading', { name: 'Invocation', exact: true }).waitFor();
});

it('shows an operator what is unclaimed, the claim with its gas, and what a voucher reserved', async () => {
  await page.goto(`/dashboard/operator?invocation=${requestIds[1]}`);
  const trace = page.getByRole('region', { name: `Invocation ${requestIds[1]}` });
  await trace.getByRole('list', { name: 'Parts of the refund' }).getByText('Freed in the channel').waitFor();
  const voucher = trace.getByRole('region', { name: 'Voucher' });
  for (const text of ['Reserved', 'Charged', 'Released']) await voucher.getByText(text, { exact: true }).waitFor();
  await page.getByRole('tab', { name: 'Channels' }).click();
  // Other files of this node have channels too.
  const owing = rowsOf('Channels with unclaimed charges').filter({ hasText: payer.channelId.slice(0, 6) });
  await owing.getByText('0.05').waitFor();
  await world.h.ctx.channelClaims.claim('payout');
  const claim = rowsOf('Claims and refunds of channels').filter({ hasText: 'payout' });
  await claim.getByText('done').waitFor();
  expect(await claim.innerText()).toMatch(/\d{2,3},\d{3}/);
  await page.getByText('No channel has unclaimed charges and no payer is withdrawing').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'operator-channels');
});

/** The last test: the node claims at once what a channel owes whose wallet withdraws. */
it('says when a wallet that withdraws can take the rest out', async () => {
  // Read at a later block than any: the chain, which knows no such withdrawal, is not asked again.
  const set = 'update channel set withdraw_requested_at = $2, read_block = 1e15::bigint where id = $1';
  await world.h.ctx.db.query('', set, [payer.channelId, new Date('2026-11-01T10:00:00Z')]);
  await page.goto(`/dashboard/payments/channels/${payer.channelId}`);
  await page.getByText('The wallet has started a withdrawal').waitFor();
  await page.locator('time[datetime="2026-11-02T10:00:00.000Z"]').waitFor();
  await lookAt(page, 'channel-withdrawing');
  await world.h.ctx.db.query('', set, [payer.channelId, null]);
});
