import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import type { Hex } from 'viem';
import { afterAll, beforeAll, expect } from 'vitest';
import { issueApiKey } from '../../service/src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../service/src/accounts/open-account.ts';
import { onToken, requireNetwork } from '../../service/src/chain/networks.ts';
import { transferUsdc } from '../../service/test/support/chain-actions.ts';
import { newWallet } from '../../service/test/support/harness.ts';
import { networkAt, postedOf } from '../../service/test/support/two-networks.ts';
import { until } from '../../service/test/support/until.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { walletOf } from './support/test-wallet.ts';
import { signInWithWallet, startWorld, type World } from './support/world.ts';

const NAME = 'Local test chain 421614';

let other: LocalChain;
let world: World;
beforeAll(async () => {
  other = await startLocalChain({ chainId: 421_614 });
  world = await startWorld({ furtherNetworks: [networkAt(other.rpcUrl)] });
});
afterAll(async () => {
  await world?.stop();
  await other?.stop();
});

it('shows balances, treasuries and the state of the node on another network', async () => {
  const { h } = world;
  const on = requireNetwork(onToken(h.ctx, { chainId: 421_614, token: other.usdc.toLowerCase() }));
  await other.fund([{ address: h.ctx.chain.wallet as Hex, ethWei: 10n ** 19n, usdcMicro: 0n }]);
  const wallet = await newWallet(other.rpcUrl, on.chain.token, 1_000_000n);
  const address = wallet.address.toLowerCase();
  const { accountId } = await openAccount(h.ctx, { address, plan: 'enterprise', isWalletProven: true });
  await issueApiKey(h.ctx, { accountId, name: 'operator', scopes: ['operator'], expiresAt: null });
  const { page } = await world.newPage({ wallet: walletOf(wallet, h.rpcUrl) });
  await signInWithWallet(page);
  await page.goto('/dashboard/payments');
  await page.getByText('opened by the first deposit').waitFor();
  expect(await page.getByText('On other networks').count()).toBe(0);

  const to = h.ctx.chain.wallet;
  await transferUsdc(other.rpcUrl, { ctx: on }, { from: wallet.address, to, micro: 700_000n });
  const ofAccount = `select id from ledger_account where kind = 'treasury' and account_id = $1 and asset is not null`;
  const treasury = await until(
    async () => (await h.ctx.db.query<{ id: string }>('other', ofAccount, [accountId]))[0] ?? null,
  );
  await until(async () => (await postedOf(h, treasury.id)) === 700_000n);
  const rowOf = (table: string) => page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: NAME });
  await page.goto('/dashboard/');
  await rowOf('Balances on other networks').getByText('0.70').waitFor();
  await page.goto('/dashboard/payments');
  await rowOf('Balances on other networks').getByText('0.70').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'payments-networks');
  await rowOf('Treasuries by network').getByRole('link', { name: 'Account' }).click();
  await page.getByRole('heading', { name: 'Account' }).waitFor();
  await page.getByText(NAME, { exact: true }).waitFor();
  await page.getByText('Closing balance').waitFor();

  await page.goto('/dashboard/operator?tab=money');
  await rowOf('Status of other networks').getByText('open', { exact: true }).waitFor();
  await rowOf('Keys with their gas').first().waitFor();
  await lookAt(page, 'operator-networks');
  await page.getByRole('tab', { name: 'Channels' }).click();
  await page.getByLabel('Network', { exact: true }).selectOption({ label: `${NAME}: 0.00 USDC unclaimed` });
  await page.getByText('No channel has unclaimed charges and no payer is withdrawing').waitFor();
  await expectAccessible(page);
});
