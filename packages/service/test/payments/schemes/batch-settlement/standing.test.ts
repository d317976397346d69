import { callChain } from '@agent-network/chain/chain-rpc-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEPOSIT_COLLECTOR } from '../../../../src/chain/channels/channel-calls.ts';
import { measureChannels } from '../../../../src/payments/schemes/batch-settlement/claims/measure-channels.ts';
import { askDatabase } from '../../../support/books.ts';
import { startHarness } from '../../../support/harness.ts';
import { until } from '../../../support/until.ts';
import type { VoucherPayer } from '../../../support/voucher-payer.ts';
import { PRICE, type RefusalSite, startRefusalSite } from './support/refusal-site.ts';

const MINUTE_MS = 60_000;
let aheadMs = 0;
let site: RefusalSite;
let payer: VoucherPayer;
beforeAll(async () => {
  const claims = { CHANNEL_CLAIM_THRESHOLD: '100', CHANNEL_CLAIM_INTERVAL_SECONDS: '86400', CHANNEL_MIN_CLAIM: '0.01' };
  site = await startRefusalSite(claims, { now: () => new Date(Date.now() + aheadMs) });
  payer = await site.usedPayer();
});
afterAll(() => site.stop());

/** A busy machine may be too late for the check of readiness. */
const readyz = () =>
  until(async () => {
    const { status, body } = await site.h.request('GET', '/readyz');
    return status === 200 ? body.channels : null;
  });
const gauge = async (name: string) =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await site.h.request('GET', '/metrics')).body)?.[1]);
const measured = async () => {
  await measureChannels(site.h.ctx);
  return [await readyz(), await gauge('channel_claims_overdue'), await gauge('channel_withdrawals')];
};

describe('channels in /readyz and /metrics', () => {
  it('are offered, and no claim is overdue', async () => {
    expect(await measured()).toEqual([{ isOffered: true, claimsOverdue: 0, withdrawals: 0 }, 0, 0]);
  });

  it('have overdue claims after the interval', async () => {
    // The contract has no such deposit: nothing can be claimed.
    aheadMs = (24 * 60 + 9) * MINUTE_MS;
    expect(await measured()).toMatchObject([{ claimsOverdue: 0 }, 0, 0]);
    aheadMs += 2 * MINUTE_MS;
    expect(await measured()).toEqual([{ isOffered: true, claimsOverdue: 1, withdrawals: 0 }, 1, 0]);
    await site.setChannel(payer, `balance_micro = ${PRICE - 1n} - 40000`);
    expect(await measured()).toMatchObject([{ claimsOverdue: 0 }, 0, 0]);
    await site.setChannel(payer, 'balance_micro = 1000000');
    aheadMs = 0;
  });

  it('show withdrawing payers, and those without a claim in answer', async () => {
    const requestedAt = (minutes: number) =>
      askDatabase(site.h.databaseUrl, 'update channel set withdraw_requested_at = $2 where id = $1', [
        payer.channelId,
        new Date(Date.now() - minutes * MINUTE_MS),
      ]);
    await requestedAt(4);
    expect(await measured()).toEqual([{ isOffered: true, claimsOverdue: 0, withdrawals: 1 }, 0, 1]);
    await requestedAt(6);
    expect(await measured()).toEqual([{ isOffered: true, claimsOverdue: 1, withdrawals: 1 }, 1, 1]);
    await site.setChannel(payer, 'withdraw_requested_at = null');
  });
});

it('a node that does not offer channels shows the reason', async () => {
  const code = await callChain<string>(site.h.rpcUrl, 'eth_getCode', DEPOSIT_COLLECTOR, 'latest');
  await callChain(site.h.rpcUrl, 'anvil_setCode', DEPOSIT_COLLECTOR, '0x00');
  const without = await startHarness({ env: { CHAIN_RPC_URL: site.h.rpcUrl } });
  const off = await startHarness({ env: { CHAIN_RPC_URL: site.h.rpcUrl, CHANNELS: 'false' } });
  await callChain(site.h.rpcUrl, 'anvil_setCode', DEPOSIT_COLLECTOR, code);
  try {
    expect((await without.request('GET', '/readyz')).body.channels).toEqual({
      isOffered: false,
      reason: expect.stringContaining(`${DEPOSIT_COLLECTOR} does not collect`),
    });
    expect((await off.request('GET', '/readyz')).body.channels).toEqual({ isOffered: false, reason: 'they are off' });
  } finally {
    await without.stop();
    await off.stop();
  }
});
