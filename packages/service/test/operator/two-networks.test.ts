import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { assetIdOf } from '../../src/chain/chain-info.ts';
import type { NodeContext } from '../../src/compose/context.ts';
import { createTotalsReader } from '../../src/operator/read-totals.ts';
import { reportRestore, reportText } from '../../src/payments/reconcile/report-restore.ts';
import { measureChannels } from '../../src/payments/schemes/batch-settlement/claims/measure-channels.ts';
import { askDatabase } from '../support/books.ts';
import { transferUsdc } from '../support/chain-actions.ts';
import { type Harness, newWallet, type TestAccount } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { payOn, postedOf, startTwoNetworks, type TwoNetworks } from '../support/two-networks.ts';
import { until } from '../support/until.ts';
import { newVoucherPayer, type VoucherPayer } from '../support/voucher-payer.ts';

const PRICE = 50_000n;
const CAIP2 = 'eip155:421614';

let t: TwoNetworks;
let h: Harness;
let agent: TestAgent;
let account: TestAccount;
let operator: string;
beforeAll(async () => {
  // Claims are made when a test asks for them.
  const claims = { CHANNEL_CLAIM_THRESHOLD: '100', CHANNEL_CLAIM_INTERVAL_SECONDS: '86400' };
  t = await startTwoNetworks({ env: { CHANNELS: 'true', PLATFORM_FEE_BPS: '1000', ...claims } });
  h = t.h;
  account = await h.newAccount();
  agent = await startTestAgent(h, { perRequest: '0.05', owner: account });
  operator = (await h.newAccount({ scopes: ['operator'] })).key;
});
afterAll(async () => {
  await agent.die();
  await t.stop();
});

const both = () => [h.ctx, t.onOther()] as const;
const rpcOf = (ctx: NodeContext) => (ctx === h.ctx ? h.rpcUrl : t.other.rpcUrl);
/** What tells the assets of a list apart, the default one first. */
const named = () => both().map(({ chain }) => ({ asset: assetIdOf(chain), network: chain.caip2 }));
const ask = async (path: string, key = operator) => {
  const { status, body } = await h.request('GET', path, { key });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
};
const call = (headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key: account.key, body: { task: 'x' }, headers });

/** Opens a channel on a network, which owes for one call then. */
async function openOn(ctx: NodeContext): Promise<VoucherPayer> {
  const payer = newVoucherPayer({ ctx });
  await newWallet(rpcOf(ctx), ctx.chain.token, 1_000_000n, payer.key);
  const paid = await call(payer.pay(await call(), PRICE, { payload: await payer.deposit(500_000n) }));
  expect(paid.status, JSON.stringify(paid.body)).toBe(200);
  return payer;
}

it('the operator sees what channels owe on each network, and the claims of the one that is asked for', async () => {
  const [here, there, there2] = [await openOn(h.ctx), await openOn(t.onOther()), await openOn(t.onOther())];
  const owing = { open: 1, unclaimed: '0.05', withdrawing: 0, lost: '0.00' };
  const all = await ask('/operator/channels');
  expect(all).toMatchObject({ ...owing, owing: [{ channelId: here.channelId }] });
  expect(all.byAsset).toMatchObject([
    { ...named()[0], ...owing, oldestUnclaimedAt: all.oldestUnclaimedAt },
    { ...named()[1], ...owing, open: 2, unclaimed: '0.10' },
  ]);
  for (const name of [CAIP2, 'arbitrum-sepolia', named()[1]?.asset ?? '']) {
    const other = await ask(`/operator/channels?network=${encodeURIComponent(name)}`);
    expect(other).toMatchObject({ open: 2, unclaimed: '0.10', byAsset: all.byAsset });
    expect(other.owing.map(({ channelId }: { channelId: string }) => channelId).sort()).toEqual(
      [there.channelId, there2.channelId].sort(),
    );
  }
  for (const path of ['/operator/channels', '/operator/claims']) {
    const refused = await h.request('GET', `${path}?network=eip155:1`, { key: operator });
    expect(refused.body.error).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining(CAIP2) });
  }

  await t.onOther().channelClaims.claim('payout');
  await until(async () => (await ask('/operator/channels')).byAsset[1].unclaimed === '0.00');
  const claims = await ask(`/operator/claims?network=${CAIP2}`);
  expect(claims.claims).toMatchObject([{ reason: 'payout', channels: 2 }]);
  expect((await ask('/operator/claims')).claims).toEqual([]);
  expect(await ask('/operator/channels')).toMatchObject({ ...owing, byAsset: [owing, { unclaimed: '0.00' }] });

  for (const ctx of both()) await measureChannels({ ...ctx, metrics: ctx.metrics });
  const { networks, channels } = await until(async () => {
    const { body } = await h.request('GET', '/readyz');
    return body.status === 'ready' ? body : null;
  });
  expect(channels).toMatchObject({ isOffered: true, claimsOverdue: 0 });
  expect(networks).toMatchObject([{ channels }, { id: CAIP2, channels: { isOffered: true, claimsOverdue: 0 } }]);
});

it('the operator sees fees, reserves, gas and gates of each network; those of one that does not answer are unknown', async () => {
  const before = await createTotalsReader(h.ctx).read();
  const wallet = await t.walletOnOther();
  const paid = await call(await payOn(t.onOther(), wallet, await call()));
  expect(paid.status).toBe(200);
  const totals = await createTotalsReader(h.ctx).read();
  expect(totals.fees).toBe(before.fees);
  expect(totals.feesByAsset).toMatchObject([{ ...named()[0], fees: totals.fees }, named()[1] as object]);
  expect(Number(totals.feesByAsset[1]?.fees) - Number(before.feesByAsset[1]?.fees)).toBeCloseTo(0.005, 6);

  const gates = [
    { name: 'payments', state: 'moving' },
    { name: 'transfers', state: 'moving' },
  ];
  const status = await until(async () => {
    const read = await ask('/operator/status');
    return read.byAsset.length === 2 && read.byAsset.every(({ state }: { state: string }) => state === 'open') && read;
  });
  const gasOf = (ctx: NodeContext) => ctx.usdc.gasBalanceOf(h.ctx.wallet.address);
  const [gasHere, gasThere] = [await gasOf(h.ctx), await gasOf(t.onOther())];
  const walletWith = (gas: bigint) =>
    expect.objectContaining({ address: h.ctx.wallet.address, role: 'wallet', isLow: false, gasWei: `${gas}` });
  expect(status.byAsset).toMatchObject([
    { ...named()[0], halted: null, signers: expect.arrayContaining([walletWith(gasHere)]) },
    { ...named()[1], halted: null, signers: expect.arrayContaining([walletWith(gasThere)]) },
  ]);
  expect(gasHere).not.toBe(gasThere);
  for (const each of status.byAsset) {
    expect(each.gates).toEqual(expect.arrayContaining(gates.map((gate) => expect.objectContaining(gate))));
    expect(each.reserves.onChain).not.toBeNull();
  }
  const network = await ask('/network');
  expect(network.byAsset).toMatchObject(named());
  for (const each of network.byAsset)
    expect(each.gates).toEqual(expect.arrayContaining(gates.map((gate) => expect.objectContaining(gate))));

  t.cut(() => null);
  try {
    const away = await until(async () => {
      const read = await ask('/operator/status');
      return read.byAsset[1].state === 'away' && read;
    });
    expect(away.byAsset[1]).toMatchObject({ ...named()[1], reserves: { onChain: null, owed: expect.any(String) } });
    expect(away.byAsset[0]).toMatchObject({ ...named()[0], state: 'open', reserves: { status: expect.any(String) } });
  } finally {
    t.cut(null);
  }
});

it('whoever claims a wallet sees what waits in each asset, and what was credited; the balance has its treasuries', async () => {
  const claimer = await h.newAccount();
  const privateKey = generatePrivateKey();
  const wallet = await newWallet(h.rpcUrl, h.ctx.chain.token, 2_000_000n, privateKey);
  await t.walletOnOther(3_000_000n, privateKey);
  const to = h.ctx.chain.wallet;
  await transferUsdc(h.rpcUrl, h, { from: wallet.address, to, micro: 400_000n });
  await transferUsdc(t.other.rpcUrl, { ctx: t.onOther() }, { from: wallet.address, to, micro: 700_000n });
  const suspense = `suspense:${wallet.address.toLowerCase()}`;
  const isIn = async () =>
    (await postedOf(h, suspense)) === 400_000n &&
    (await postedOf(h, `${suspense}@${t.onOther().chain.ledgerAsset}`)) === 700_000n;
  await until(isIn);
  const claim = async (body: object) => (await h.request('POST', '/payments/claims', { key: claimer.key, body })).body;
  const amounts = [
    { ...named()[0], amount: '0.40' },
    { ...named()[1], amount: '0.70' },
  ];
  const { data } = await claim({ address: wallet.address });
  expect(data).toMatchObject({ amount: '0.40', byAsset: amounts });
  const signature = await wallet.signMessage({ message: data.message });
  const claimed = await claim({ challengeId: data.challengeId, signature });
  expect(claimed.data).toMatchObject({ amount: '0.40', byAsset: amounts });
  const balance = await ask('/payments/balance', claimer.key);
  const { treasuryId } = claimed.data;
  expect(balance.treasuries).toMatchObject([{ treasuryId, available: '0.40' }]);
  expect(balance.otherTreasuries).toMatchObject([
    { treasuryId: `${treasuryId}@${named()[1]?.asset}`, ...named()[1], available: '0.70', held: '0.00' },
  ]);
});

it('the report after a restore tells each network apart, and which of them is not read yet', async () => {
  const { db } = h.ctx;
  const script = (...args: string[]) =>
    new Promise<{ code: number; stdout: string }>((resolve) => {
      const env = { ...process.env, DATABASE_URL: h.databaseUrl };
      const file = join(import.meta.dirname, '../../scripts/operator.ts');
      execFile(process.execPath, [file, 'reconcile', '--report', ...args], { env }, (error, stdout) =>
        resolve({ code: error ? Number(error.code) : 0, stdout }),
      );
    });
  const plain = await h.newWallet(500_000n);
  const { wallet } = h.ctx.chain;
  await transferUsdc(h.rpcUrl, h, { from: plain.address, to: wallet, micro: 110_000n });
  const other = await t.walletOnOther(500_000n);
  await transferUsdc(t.other.rpcUrl, { ctx: t.onOther() }, { from: other.address, to: wallet, micro: 220_000n });
  const beside = `@${t.onOther().chain.ledgerAsset}`;
  await until(async () => (await postedOf(h, `suspense:${plain.address.toLowerCase()}`)) === 110_000n);
  await until(async () => (await postedOf(h, `suspense:${other.address.toLowerCase()}${beside}`)) === 220_000n);
  // As if this database had replaced another one, and the chain of the default network had been read since.
  await askDatabase(h.databaseUrl, 'update chain_catch_up set from_block = 0, to_block = 1000000, is_restored = true');
  const report = await reportRestore({ db });
  const micros = (credited: readonly { valueMicro: bigint }[]) => credited.map(({ valueMicro }) => valueMicro);
  expect(report.byAsset).toMatchObject(named());
  expect(micros(report.credited)).toContain(110_000n);
  expect(micros(report.credited)).not.toContain(220_000n);
  expect(micros(report.byAsset[1]?.credited ?? [])).toContain(220_000n);
  expect(micros(report.byAsset[1]?.credited ?? [])).not.toContain(110_000n);
  expect(report.byAsset.map(({ waiting }) => waiting.suspenseMicro)).toEqual([110_000n, 220_000n]);
  const text = reportText(report);
  expect(text).toContain(`0.11 USDC on eip155:84532 from ${plain.address.toLowerCase()}`);
  expect(text).toContain(`0.22 USDC on ${CAIP2} from ${other.address.toLowerCase()}`);
  expect(text).toContain(`0.22 USDC on ${CAIP2} of 1 wallets without an account`);
  expect((await script()).code).toBe(0);

  // The node can't read the other chain again meanwhile.
  t.cut(() => null);
  try {
    await askDatabase(h.databaseUrl, `update chain_catch_up set database = 'before' where chain_id = 421614`);
    const unread = await script();
    expect(unread).toMatchObject({
      code: 3,
      stdout: expect.stringContaining(`has not read ${CAIP2} since the restore`),
    });
    const { isRead, byAsset } = JSON.parse((await script('--json')).stdout);
    expect([isRead, ...byAsset.map((each: { isRead: boolean }) => each.isRead)]).toEqual([true, true, false]);
  } finally {
    t.cut(null);
  }
});
