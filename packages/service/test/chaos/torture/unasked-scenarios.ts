import { expect } from 'vitest';
import { askDatabase } from '../../support/books.ts';
import { submitPayment, transferUsdc } from '../../support/chain-actions.ts';
import { balanceOf } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { type CrashSite, PRICE, PRICE_MICRO } from './crash-site.ts';
import { tokenTransfers } from './token-transfers.ts';

/** Asks the database until it answers a row. */
async function untilFound(site: CrashSite, query: string): Promise<void> {
  await until(async () => (await askDatabase(site.databaseUrl, query)).length > 0, 20);
}

/** Waits until the node reads the chain, as earlier transfers belong to its operator. */
const untilItReads = (site: CrashSite) => untilFound(site, 'select 1 from transfer_point');

const suspended = (address: string) =>
  `select 1 from ledger_account where id = 'suspense:${address.toLowerCase()}' and posted_micro = ${PRICE_MICRO}`;

async function paidBy(site: CrashSite, { address }: { address: string }): Promise<bigint[]> {
  const transfers = await tokenTransfers(site.chain.rpcUrl, site.ctx.chain.token, {
    from: address,
    to: site.walletAddress,
  });
  return transfers.map(({ valueMicro }) => valueMicro);
}

/** USDC from a wallet without an account, which claims it after it has arrived. */
export async function plainTransfer(site: CrashSite, arm: () => Promise<void>, untilPeace: () => Promise<void>) {
  const { key } = await site.newAccount();
  const wallet = await site.newWallet(PRICE_MICRO);
  await untilItReads(site);
  await arm();
  await transferUsdc(site.chain.rpcUrl, site, { from: wallet.address, to: site.walletAddress, micro: PRICE_MICRO });
  await untilFound(site, suspended(wallet.address));
  const path = '/payments/claims';
  const asked = await site.insist('POST', path, { key, body: { address: wallet.address } });
  const { challengeId, message } = asked.answer.body.data;
  const body = { challengeId, signature: await wallet.signMessage({ message }) };
  const claim = { key, body, headers: { 'idempotency-key': 'once' } };
  const { answer } = await site.insist('POST', path, claim);
  expect(answer.body.data).toMatchObject({ amount: PRICE });
  await untilPeace();
  expect((await site.insist('POST', path, claim)).answer.body).toEqual(answer.body);
  expect(await paidBy(site, wallet)).toEqual([PRICE_MICRO]);
  expect(await balanceOf(site, key)).toEqual({ available: PRICE, held: '0.00' });
}

/** A third party submits an authorization that is never presented. The failpoint is armed after that, so that it hits the credit. */
export async function unshownPayment(site: CrashSite, arm: () => Promise<void>, untilPeace: () => Promise<void>) {
  const [agent] = site.agents;
  const { key } = await site.newAccount();
  const wallet = await site.newWallet(PRICE_MICRO);
  await untilItReads(site);
  const unpaid = await site.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'never asked for' } });
  await submitPayment(site.chain.rpcUrl, site, await payV2(site, wallet, unpaid));
  await untilFound(site, `select 1 from unshown_transfer where from_address = '${wallet.address.toLowerCase()}'`);
  await arm();
  await askDatabase(site.databaseUrl, `update unshown_transfer set seen_at = seen_at - interval '21 minutes'`);
  await untilFound(site, suspended(wallet.address));
  await untilPeace();
  expect(agent.calls).toEqual([]);
  expect(await paidBy(site, wallet)).toEqual([PRICE_MICRO]);
}
