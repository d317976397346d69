import { batchSettlementAbi } from '@agent-network/chain/batch-settlement-abi';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import pg from 'pg';
import { createPublicClient, encodeFunctionData, type Hex, http } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SETTLEMENT_CONTRACT } from '../../../../src/chain/channels/channel-calls.ts';
import type { NodeContext } from '../../../../src/compose/context.ts';
import { agentTreasuryId } from '../../../../src/payments/ledger/treasury.ts';
import { readReserves } from '../../../../src/payments/statements/read-reserves.ts';
import { askDatabase, contradictions } from '../../../support/books.ts';
import { sendAs } from '../../../support/chain-actions.ts';
import { type Answer, type Harness, newWallet, type TestAccount } from '../../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { headerIn, offeredBy, postedOf, startTwoNetworks, type TwoNetworks } from '../../../support/two-networks.ts';
import { until } from '../../../support/until.ts';
import { newVoucherPayer, settledBy, type VoucherChanges, type VoucherPayer } from '../../../support/voucher-payer.ts';

const PRICE = 50_000n;
const DEPOSIT = 500_000n;
const HELD = 1_000_000n;

let t: TwoNetworks;
let h: Harness;
let agent: TestAgent;
let account: TestAccount;
beforeAll(async () => {
  // Claims are made when a test asks for them.
  const env = { CHANNELS: 'true', CHANNEL_CLAIM_THRESHOLD: '100', CHANNEL_CLAIM_INTERVAL_SECONDS: '86400' };
  t = await startTwoNetworks({ env });
  h = t.h;
  account = await h.newAccount();
  agent = await startTestAgent(h, { perRequest: '0.05', owner: account });
});
afterAll(async () => {
  await agent.die();
  await t.stop();
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  for (const ctx of both()) expect(await readReserves(ctx)).toMatchObject({ driftMicro: 0n, lossMicro: 0n });
});

const both = () => [h.ctx, t.onOther()];
const rpcOf = (ctx: NodeContext) => (ctx === h.ctx ? h.rpcUrl : t.other.rpcUrl);

/** The payer of a channel on a network, with money on it. */
async function payerOn(ctx: NodeContext, key?: Hex, change: { salt?: Hex } = {}): Promise<VoucherPayer> {
  const payer = newVoucherPayer({ ctx }, { ...(key ? { key } : {}), ...change });
  await newWallet(rpcOf(ctx), ctx.chain.token, HELD, payer.key);
  return payer;
}

const call = (headers: Record<string, string> = {}, task = 'x') =>
  h.request('POST', `/invoke/${agent.id}`, { key: account.key, body: { task }, headers });
const pay = async (payer: VoucherPayer, maxMicro: bigint, changes: VoucherChanges = {}): Promise<Answer> =>
  call(payer.pay(await call(), maxMicro, changes));
const open = async (payer: VoucherPayer, depositMicro = DEPOSIT) =>
  pay(payer, PRICE, { payload: await payer.deposit(depositMicro) });
const held = (ctx: NodeContext, { config }: Pick<VoucherPayer, 'config'>) => ctx.usdc.balanceOf(config.payer);
const walletOf = (ctx: NodeContext) => ctx.usdc.balanceOf(ctx.chain.wallet);
const onChain = async (ctx: NodeContext, { channelId }: VoucherPayer) =>
  (await ctx.settlementContract.readChannels([channelId], null))[0];
const rowOf = async ({ channelId }: Pick<VoucherPayer, 'channelId'>) =>
  (
    await askDatabase<Record<string, string>>(
      h.databaseUrl,
      `select chain_id::text as chain, balance_micro as balance, charged_micro as charged, reserved_micro as reserved, claimed_micro as claimed
         from channel where id = $1`,
      [channelId],
    )
  )[0];
/** What channels owe by vouchers in an asset, by the books. */
async function owed(asset: string | null): Promise<bigint> {
  const [row] = await askDatabase<{ micro: string }>(
    h.databaseUrl,
    `select coalesce(-sum(change_micro), 0)::text as micro from ledger_total where kind = 'vouchers' and asset is not distinct from $1`,
    [asset],
  );
  return BigInt(row?.micro ?? 0);
}
const reasonOf = (answer: Answer) => [answer.status, answer.body.error?.details?.reason];

describe('channels on two networks', () => {
  it('are offered, opened, charged, claimed and swept where they are, and earn there', async () => {
    const earned = agentTreasuryId(agent.id);
    const offers = headerIn(await call(), 'payment-required').accepts;
    expect(offers.filter(({ scheme }: { scheme: string }) => scheme === 'batch-settlement')).toMatchObject(
      both().map(({ chain }) => ({ network: chain.caip2, asset: chain.token, payTo: chain.wallet })),
    );
    for (const ctx of both()) {
      const [elsewhere] = both().filter((each) => each !== ctx) as [NodeContext];
      const { caip2, ledgerAsset } = ctx.chain;
      const name = ledgerAsset === null ? earned : `${earned}@${ledgerAsset}`;
      const before = [
        await owed(elsewhere.chain.ledgerAsset),
        await walletOf(elsewhere),
        (await postedOf(h, name)) ?? 0n,
      ];
      const payer = await payerOn(ctx);
      const opened = await open(payer);
      expect(opened.status, JSON.stringify(opened.body)).toBe(200);
      expect(settledBy(opened)).toMatchObject({ success: true, network: caip2, amount: String(DEPOSIT) });
      const paid = await pay(payer, 2n * PRICE);
      expect(settledBy(paid)).toMatchObject({ network: caip2, extra: { chargedAmount: String(PRICE) } });
      const chain = String(ctx.chain.chainId);
      expect(await rowOf(payer)).toMatchObject({ chain, balance: '500000', charged: '100000', reserved: '0' });
      expect(await held(ctx, payer)).toBe(HELD - DEPOSIT);
      expect(await owed(ledgerAsset)).toBe(2n * PRICE);
      const had = await walletOf(ctx);
      await ctx.channelClaims.claim('payout');
      await until(async () => (await rowOf(payer))?.claimed === '100000');
      expect(await onChain(ctx, payer)).toMatchObject({ claimedMicro: 2n * PRICE, balanceMicro: DEPOSIT });
      expect(await walletOf(ctx)).toBe(had + 2n * PRICE);
      expect(await owed(ledgerAsset)).toBe(0n);
      expect([
        await owed(elsewhere.chain.ledgerAsset),
        await walletOf(elsewhere),
        (await postedOf(h, name)) ?? 0n,
      ]).toEqual([before[0], before[1], (before[2] as bigint) + 2n * PRICE]);
    }
  });

  it('are paid by one stock client that has both', async () => {
    const { key } = newVoucherPayer(h);
    let wanted = '';
    const client = new x402Client((_, offers) => {
      const offer = offers.find(({ network }) => network === wanted);
      if (!offer) throw new Error(`${wanted} is not offered`);
      return offer;
    });
    const payers = [];
    for (const ctx of both()) {
      const { address, signTypedData } = await newWallet(rpcOf(ctx), ctx.chain.token, HELD, key);
      const reader = createPublicClient({ transport: http(rpcOf(ctx)) });
      const signer = { address, signTypedData, readContract: reader.readContract.bind(reader) };
      // biome-ignore lint/suspicious/noExplicitAny: the signer of the stock packages is narrower than viem's
      const scheme = new BatchSettlementEvmScheme(signer as any);
      client.register(ctx.chain.caip2 as 'eip155:1', scheme);
      payers.push({ ctx, scheme, address });
    }
    const send = wrapFetchWithPayment(fetch, client);
    const url = `${h.baseUrl}/invoke/${agent.id}`;
    const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
    const ask = (task: string) => send(url, { method: 'POST', headers, body: JSON.stringify({ task }) });
    for (const { ctx, scheme, address } of payers) {
      wanted = ctx.chain.caip2;
      for (const task of ['one', 'two']) expect((await ask(`${task} on ${wanted}`)).status).toBe(200);
      const answers = await Promise.all(Array.from({ length: 5 }, (_, nth) => ask(`${nth} at once on ${wanted}`)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      expect(await scheme.refund(`${url}?network=${wanted}`)).toMatchObject({ success: true, network: wanted });
      await until(async () => (await ctx.usdc.balanceOf(address)) === HELD - 7n * PRICE);
    }
  });

  it('cost nothing for a call that fails', async () => {
    const payer = await payerOn(t.onOther());
    expect((await open(payer)).status).toBe(200);
    agent.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
    const failed = await pay(payer, 2n * PRICE);
    agent.behave(echo);
    expect(failed.body.data).toMatchObject({ status: 'failed', cost: '0.00', refund: '0.05' });
    expect(settledBy(failed)).toMatchObject({ network: 'eip155:421614', extra: { chargedAmount: '0' } });
    expect((await pay(payer, 2n * PRICE)).status).toBe(200);
    expect(await rowOf(payer)).toMatchObject({ charged: '100000', reserved: '0' });
  });

  it('take no voucher and no deposit of the other network, whatever is said of it', async () => {
    const salt = `0x${'5a'.repeat(32)}` as const;
    const here = await payerOn(h.ctx, undefined, { salt });
    const there = await payerOn(t.onOther(), here.key, { salt });
    expect((await open(here)).status).toBe(200);
    expect((await open(there)).status).toBe(200);
    const rows = [await rowOf(here), await rowOf(there)];
    for (const [payer, other] of [
      [here, there],
      [there, here],
    ] as const) {
      const sum = 2n * PRICE;
      const thieves: [VoucherChanges, string][] = [
        // Signed for the channel of the other network, shown for this one: under either id, and with either configuration.
        [{ signature: other.sign(sum) }, 'voucher_signature'],
        [{ channelId: other.channelId, signature: other.sign(sum) }, 'channel_id_mismatch'],
        [{ channelId: other.channelId, signature: other.sign(sum), config: other.config }, 'channel_id_mismatch'],
        // Signed for this channel, said to be for the other network.
        [{ network: other === here ? h.ctx.chain.caip2 : t.onOther().chain.caip2 }, 'channel_id_mismatch'],
        [{ network: 'eip155:1' }, 'network_mismatch'],
      ];
      for (const [changes, reason] of thieves)
        expect(reasonOf(await pay(payer, sum, changes))).toEqual([402, `invalid_batch_settlement_evm_${reason}`]);
      // A deposit that was authorized for the other token moves nothing here.
      const deposit = await other.deposit(DEPOSIT);
      const shown = await pay(payer, DEPOSIT + PRICE, { payload: deposit });
      expect(shown.status).toBe(402);
    }
    expect([await rowOf(here), await rowOf(there)]).toEqual(rows);
    for (const [ctx, payer] of [
      [h.ctx, here],
      [t.onOther(), there],
    ] as const)
      expect(await held(ctx, payer)).toBe(HELD - DEPOSIT);
  });

  it('are refunded on their own network, and not by a payload for the other', async () => {
    const payer = await payerOn(t.onOther());
    expect((await open(payer)).status).toBe(200);
    const get = (headers: Record<string, string> = {}) => h.request('GET', `/invoke/${agent.id}`, { headers });
    const ask = async (changes: VoucherChanges = {}) =>
      get(payer.pay(await get(), PRICE, { ...changes, payload: { type: 'refund' } }));
    expect(reasonOf(await ask({ network: h.ctx.chain.caip2 }))).toEqual([
      402,
      'invalid_batch_settlement_evm_channel_id_mismatch',
    ]);
    const refunded = await ask();
    expect(refunded.status, JSON.stringify(refunded.body)).toBe(200);
    expect(settledBy(refunded)).toMatchObject({ network: 'eip155:421614', amount: String(DEPOSIT - PRICE) });
    expect(await held(t.onOther(), payer)).toBe(HELD - PRICE);
    const asked = async (network: string) => h.request('GET', `/invoke/${agent.id}?network=${network}`);
    expect(offeredBy(await asked('eip155:421614'))).toEqual(['eip155:421614', 'eip155:84532']);
    expect((await asked('eip155:1')).body.error).toMatchObject({ code: 'VALIDATION_ERROR' });
    const [claim] = await askDatabase<{ chain: string }>(
      h.databaseUrl,
      `select k.chain_id::text as chain from channel_refund f join channel_claim k on k.id = f.claim_id where f.channel_id = $1`,
      [payer.channelId],
    );
    expect(claim?.chain).toBe('421614');
  });

  it('of a payer that withdraws are claimed at once, and take no voucher any more', async () => {
    const payer = await payerOn(t.onOther());
    expect((await open(payer)).status).toBe(200);
    const { withdrawDelayS: withdrawDelay, ...config } = payer.config;
    const args = [{ ...config, withdrawDelay }, DEPOSIT] as never;
    const data = encodeFunctionData({ abi: batchSettlementAbi, functionName: 'initiateWithdraw', args });
    await sendAs(t.other.rpcUrl, payer.config.payer, SETTLEMENT_CONTRACT, data);
    await until(async () => (await onChain(t.onOther(), payer))?.claimedMicro === PRICE);
    await until(async () => (await rowOf(payer))?.claimed === String(PRICE));
    expect(reasonOf(await pay(payer, 2n * PRICE))).toEqual([402, 'invalid_batch_settlement_evm_missing_channel']);
  });

  it('pay for earnings that are withdrawn at once, by a claim on their network', async () => {
    const ctx = t.onOther();
    const owner = await h.newAccount();
    const earning = await startTestAgent(h, { perRequest: '0.05', owner });
    const ask = (headers: Record<string, string> = {}) =>
      h.request('POST', `/invoke/${earning.id}`, { key: account.key, body: { task: 'earn' }, headers });
    const payer = await payerOn(ctx);
    expect((await ask(payer.pay(await ask(), PRICE, { payload: await payer.deposit(DEPOSIT) }))).status).toBe(200);
    const claims = async () =>
      askDatabase<{ chain: string }>(
        h.databaseUrl,
        `select chain_id::text as chain from channel_claim where state = 'done'`,
      );
    const before = (await claims()).filter(({ chain }) => chain === String(h.ctx.chain.chainId)).length;
    const treasuryId = `${agentTreasuryId(earning.id)}@${ctx.chain.ledgerAsset}`;
    const withdrawn = await h.request('POST', '/payments/withdraw', {
      key: owner.key,
      body: { amount: '0.04', treasuryId },
    });
    expect(withdrawn.status, JSON.stringify(withdrawn.body)).toBe(200);
    await until(async () => (await ctx.usdc.balanceOf(owner.address)) === 40_000n);
    expect((await claims()).filter(({ chain }) => chain === String(h.ctx.chain.chainId))).toHaveLength(before);
    expect(await h.usdcOf(owner.address)).toBe(0n);
    await earning.die();
  });

  it('with a locked row delay their own calls, and refuse none', async () => {
    const payer = await payerOn(t.onOther());
    expect((await open(payer)).status).toBe(200);
    const unpaid = await call();
    const locking = new pg.Client(h.databaseUrl);
    await locking.connect();
    onTestFinished(() => locking.end());
    await locking.query('begin');
    await locking.query('select from channel where id = $1 for update', [payer.channelId]);
    const waiting = call(payer.pay(unpaid, 2n * PRICE));
    const isWaitedFor = `select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query ilike '%channel%'`;
    await until(async () => (await askDatabase<{ waiting: number }>(h.databaseUrl, isWaitedFor))[0]?.waiting || null);
    await locking.query('rollback');
    expect((await waiting).status).toBe(200);
  });

  it('refuse deposits while their chain does not answer, without stopping those on the other', async () => {
    const [here, there] = [await payerOn(h.ctx), await payerOn(t.onOther())];
    const known = await payerOn(t.onOther());
    expect((await open(known)).status).toBe(200);
    const unpaid = await call();
    const deposit = { payload: await there.deposit(DEPOSIT) };
    expect((await pay(known, 2n * PRICE)).status).toBe(200);
    t.cut(() => null);
    try {
      expect((await call(there.pay(unpaid, PRICE, deposit))).status).toBe(503);
      expect((await open(here)).status).toBe(200);
      await h.ctx.channelClaims.claim('payout');
      expect(await rowOf(here)).toMatchObject({ claimed: String(PRICE) });
      expect(await rowOf(known)).toMatchObject({ claimed: '0' });
    } finally {
      t.cut(null);
    }
    await until(async () => (await call(there.pay(unpaid, PRICE, deposit))).status === 200);
    await t.onOther().channelClaims.claim('payout');
    await until(async () => (await rowOf(known))?.claimed === String(2n * PRICE));
  });
});
