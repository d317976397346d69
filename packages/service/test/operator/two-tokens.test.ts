import { afterAll, beforeAll, expect, it } from 'vitest';
import { onAsset, requireNetwork } from '../../src/chain/networks.ts';
import type { NodeContext } from '../../src/compose/context.ts';
import { reportRestore } from '../../src/payments/reconcile/report-restore.ts';
import { type Harness, newWallet, startHarness, type TestAccount } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { until } from '../support/until.ts';
import { newVoucherPayer } from '../support/voucher-payer.ts';

const network = 'eip155:84532';
const TUSD = `${network}/erc20:0x7e57d0117e57d0117e57d0117e57d0117e57d011`;
const tusdName = { asset: TUSD, network, symbol: 'TUSD' };

let h: Harness;
let tusd: NodeContext;
let agent: TestAgent;
let account: TestAccount;
let operator: string;
beforeAll(async () => {
  const claims = { CHANNELS: 'true', CHANNEL_CLAIM_THRESHOLD: '100', CHANNEL_CLAIM_INTERVAL_SECONDS: '86400' };
  h = await startHarness({ env: { LOCAL_TOKENS: 'USDC,TUSD', PLATFORM_FEE_BPS: '1000', ...claims } });
  tusd = requireNetwork(onAsset(h.ctx, TUSD));
  account = await h.newAccount();
  agent = await startTestAgent(h, { perRequest: '0.05' });
  operator = (await h.newAccount({ scopes: ['operator'] })).key;
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const ask = async (path: string) => (await h.request('GET', path, { key: operator })).body.data;
const call = (headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key: account.key, body: { task: 'x' }, headers });

it('the operator sees each token of a network by itself: channels, claims, fees, status, gates, readiness, report', async () => {
  const payer = newVoucherPayer({ ctx: tusd });
  await newWallet(h.rpcUrl, tusd.chain.token, 1_000_000n, payer.key);
  const paid = await call(payer.pay(await call(), 50_000n, { payload: await payer.deposit(500_000n) }));
  expect(paid.status, JSON.stringify(paid.body)).toBe(200);

  const usdcName = { asset: `${network}/erc20:${h.ctx.chain.token}`, network, symbol: 'USDC' };
  const channels = await ask('/operator/channels');
  expect(channels).toMatchObject({
    ...{ open: 0, unclaimed: '0.00', owing: [] },
    byAsset: [
      { ...usdcName, unclaimed: '0.00' },
      { ...tusdName, open: 1, unclaimed: '0.05' },
    ],
  });
  const asked = `?network=${encodeURIComponent(TUSD)}`;
  expect(await ask(`/operator/channels${asked}`)).toMatchObject({ open: 1, owing: [{ channelId: payer.channelId }] });
  await tusd.channelClaims.claim('payout');
  await until(async () => (await ask(`/operator/claims${asked}`)).claims[0]?.state === 'done');
  expect((await ask(`/operator/claims?network=${network}`)).claims).toEqual([]);

  expect((await ask('/operator/totals')).feesByAsset).toMatchObject([usdcName, { ...tusdName, fees: '0.005' }]);
  const status = await until(async () => {
    const read = await ask('/operator/status');
    return read.byAsset.every(({ state }: { state: string }) => state === 'open') && read;
  });
  expect(status.byAsset).toMatchObject([usdcName, { ...tusdName, reserves: { owed: '0.05' } }]);
  const gatesOf = (all: { gates: { name: string }[] }[]) =>
    all.map(({ gates }) => gates.map(({ name }) => name).filter((name) => name !== 'registry'));
  const gates = ['head', 'payments', 'transfers'];
  for (const { byAsset } of [status, await ask('/network')])
    for (const names of gatesOf(byAsset)) expect(names).toEqual(expect.arrayContaining(gates));

  const ready = await until(async () => {
    const { body } = await h.request('GET', '/readyz');
    return body.status === 'ready' ? body.networks : null;
  });
  expect(ready).toMatchObject([
    {
      id: network,
      channels: { isOffered: true },
      others: [{ asset: TUSD, state: 'open', channels: { isOffered: true } }],
    },
  ]);
  const report = await reportRestore(h.ctx);
  expect(report.byAsset).toMatchObject([
    { ...usdcName, name: network, isRead: true },
    { ...tusdName, name: TUSD, isRead: true },
  ]);
});
