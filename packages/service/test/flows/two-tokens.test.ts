import { testUsdcAbi } from '@agent-network/chain/artifacts';
import { formatUsdc } from '@agent-network/contracts/money';
import { createPublicClient, type Hex, http } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { onAsset } from '../../src/chain/networks.ts';
import type { NodeContext } from '../../src/compose/context.ts';
import { openTransaction } from '../../src/payments/chain-outbox/open-transaction.ts';
import { agentTreasuryId } from '../../src/payments/ledger/treasury.ts';
import { resendTransactions } from '../../src/payments/reconcile/resend-transactions.ts';
import { readReserves } from '../../src/payments/statements/read-reserves.ts';
import { askDatabase, contradictions } from '../support/books.ts';
import { transferUsdc } from '../support/chain-actions.ts';
import { type Harness, newWallet, startHarness, type TestWallet } from '../support/harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { headerIn, payOn, postedOf } from '../support/two-networks.ts';
import { until } from '../support/until.ts';
import { newVoucherPayer, settledBy } from '../support/voucher-payer.ts';
import { payV1 } from '../support/x402-payer.ts';

const NETWORK = 'eip155:84532';
const TUSD = `${NETWORK}/erc20:0x7e57d0117e57d0117e57d0117e57d0117e57d011`;

let h: Harness;
let agent: TestAgent;
let usdc: NodeContext;
let tusd: NodeContext;
beforeAll(async () => {
  const env = { CHANNELS: 'true', CHANNEL_CLAIM_THRESHOLD: '100', CHANNEL_CLAIM_INTERVAL_SECONDS: '86400' };
  h = await startHarness({ env: { LOCAL_TOKENS: 'USDC,TUSD', ...env } });
  usdc = h.ctx;
  const found = onAsset(h.ctx, TUSD);
  if (!found) throw new Error('the node does not take the second token');
  tusd = found;
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  for (const ctx of both()) expect(await readReserves(ctx)).toMatchObject({ driftMicro: 0n, lossMicro: 0n });
});

const both = () => [usdc, tusd];
const otherThan = (ctx: NodeContext) => (ctx === usdc ? tusd : usdc);
const wallet = (ctx: NodeContext, micro = 1_000_000n, key?: Hex) => newWallet(h.rpcUrl, ctx.chain.token, micro, key);
const nameIn = (ctx: NodeContext, id: string) => (ctx === usdc ? id : `${id}@${TUSD}`);
const bothHeld = (address: string) => Promise.all(both().map((ctx) => ctx.usdc.balanceOf(address)));
const walletHeld = () => bothHeld(h.ctx.chain.wallet);
const pathOf = ({ id }: TestAgent) => `/invoke/${id}`;
const read = (headers: { 'payment-signature': string }) =>
  JSON.parse(Buffer.from(headers['payment-signature'], 'base64').toString());
const headerOf = (payment: unknown) => ({
  'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64'),
});

describe('a node that takes two tokens on one chain', () => {
  it('lists the tokens of the network, each with its symbol as the chain has it', async () => {
    const { networks } = (await h.request('GET', '/payments/networks')).body.data;
    expect(networks).toHaveLength(1);
    expect(networks[0]).toMatchObject({
      ...{ id: NETWORK, isDefault: true, state: 'open', schemes: ['exact', 'batch-settlement'] },
      tokens: both().map(({ chain: { token } }, index) => ({
        ...{ asset: `${NETWORK}/erc20:${token}`, symbol: ['USDC', 'TUSD'][index], address: token, state: 'open' },
      })),
    });
    const client = createPublicClient({ transport: http(h.rpcUrl) });
    const symbols = both().map(({ chain }) =>
      client.readContract({ address: chain.token as Hex, abi: testUsdcAbi, functionName: 'name' }),
    );
    expect(await Promise.all(symbols)).toEqual(both().map(({ chain }) => chain.tokenName));
    expect(both().map(({ chain }) => chain.tokenName)).toEqual(['USDC', 'TUSD']);
  });

  it('offers both, and each payment is settled and earned in the token that it is in', async () => {
    const { key } = await h.newAccount();
    const earned = agentTreasuryId(agent.id);
    for (const ctx of both()) {
      const payer = await wallet(ctx);
      const task = `in ${ctx.chain.tokenName}`;
      const unpaid = await h.request('POST', pathOf(agent), { key, body: { task } });
      const offered = headerIn(unpaid, 'payment-required').accepts.filter(
        ({ scheme }: { scheme: string }) => scheme === 'exact',
      );
      expect(offered.map(({ network, asset }: Record<string, string>) => [network, asset])).toEqual(
        both().map(({ chain }) => [NETWORK, chain.token]),
      );
      const before = await Promise.all(both().map((each) => postedOf(h, nameIn(each, earned))));
      const wallets = await walletHeld();
      const headers = await payOn(ctx, payer, unpaid);
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => h.request('POST', pathOf(agent), { key, body: { task }, headers })),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await ctx.usdc.balanceOf(payer.address)).toBe(950_000n);
      const after = await Promise.all(both().map((each) => postedOf(h, nameIn(each, earned))));
      const moved = await walletHeld();
      for (const [index, each] of both().entries()) {
        expect((moved[index] ?? 0n) - (wallets[index] ?? 0n)).toBe(each === ctx ? 50_000n : 0n);
        expect((after[index] ?? 0n) > (before[index] ?? 0n)).toBe(each === ctx);
      }
    }
  });

  it('pays many calls in both at once: the keys of the chain are shared, and no nonce is used twice', async () => {
    const { key } = await h.newAccount();
    const calls = await Promise.all(
      Array.from({ length: 16 }, async (_, index) => {
        const ctx = both()[index % 2] as NodeContext;
        const payer = await wallet(ctx);
        const body = { task: `many ${index}` };
        const headers = await payOn(ctx, payer, await h.request('POST', pathOf(agent), { key, body }));
        return { ctx, payer, body, headers };
      }),
    );
    const answers = await Promise.all(
      calls.map(({ body, headers }) => h.request('POST', pathOf(agent), { key, body, headers })),
    );
    expect(answers.map(({ status }) => status)).toEqual(calls.map(() => 200));
    for (const { ctx, payer } of calls) expect(await ctx.usdc.balanceOf(payer.address)).toBe(950_000n);
    const twice = `select 1 from chain_transaction where state <> 'replaced' group by chain_id, signer, nonce having count(*) > 1`;
    expect(await askDatabase(h.databaseUrl, twice)).toEqual([]);
  });

  it('replaces a transaction that no block takes once, whichever token looks at it', async () => {
    const [sender] = usdc.senders;
    if (!sender) throw new Error('the node has a key that sends');
    const open = await openTransaction(usdc, {
      signers: usdc.senders.map(({ address }) => address),
      call: { to: sender.address as Hex, data: '0x01', gas: 100_000n },
      fees: await usdc.fees.current(),
      lease: { holder: 'a process that died', leaseMs: 0 },
      record: async () => undefined,
      beforeCommit: () => undefined,
    });
    if (!open) throw new Error('a key was free');
    const inSeconds = (seconds: number) => ({ now: () => new Date(Date.now() + seconds * 1000) });
    const usdcClient = { findMined: async () => null, send: async () => 'taken' as const };
    // Whoever holds the key would replace it at each of these times.
    for (const [index, ctx] of both().entries())
      await resendTransactions({ ...ctx, clock: inSeconds(40 + 40 * index), usdc: { ...ctx.usdc, ...usdcClient } });
    const signedUnder = () =>
      askDatabase<{ hash: string; state: string }>(
        h.databaseUrl,
        'select hash, state from chain_transaction where signer = $1 and nonce = $2',
        [open.signer, String(open.nonce)],
      );
    expect(await signedUnder()).toHaveLength(2);
    await until(async () => {
      for (const ctx of both()) await resendTransactions({ ...ctx, clock: inSeconds(120) });
      return (await signedUnder()).every(({ state }) => state !== 'sent');
    });
  });

  it('refuses a payment that names a token and is signed for the other, and takes one nonce in each', async () => {
    const { key } = await h.newAccount();
    const secret = generatePrivateKey();
    const payers = [await wallet(usdc, 1_000_000n, secret), await wallet(tusd, 1_000_000n, secret)] as const;
    const held = () => bothHeld(payers[0].address);
    const nonce = `0x${'5e'.repeat(32)}` as const;
    const unpaid = await h.request('POST', pathOf(agent), { key, body: { task: 'swap' } });
    const signed = await Promise.all(
      both().map(async (ctx, index) => read(await payOn(ctx, payers[index] as TestWallet, unpaid, { nonce }))),
    );
    const show = (payment: unknown) =>
      h.request('POST', pathOf(agent), { key, body: { task: 'swap' }, headers: headerOf(payment) });
    for (const [index, payment] of signed.entries()) {
      const terms = signed[1 - index].accepted;
      for (const accepted of [terms, { ...payment.accepted, asset: terms.asset }]) {
        const refused = await show({ ...payment, accepted });
        expect(refused.status, JSON.stringify(refused.body)).toBe(402);
      }
    }
    const unknown = await show({ ...signed[1], accepted: { ...signed[1].accepted, asset: `0x${'ab'.repeat(20)}` } });
    expect(unknown.status, JSON.stringify(unknown.body)).toBe(402);
    expect(await held()).toEqual([1_000_000n, 1_000_000n]);
    // One offer buys one call: paid in both at once, one of them is taken.
    const answers = await Promise.all(signed.flatMap((payment) => [show(payment), show(payment)]));
    const paid = answers.filter(({ status }) => status === 200);
    expect(new Set(paid.map(({ body }) => body.data.requestId)).size).toBe(1);
    const left = await held();
    expect(left.reduce((sum, each) => sum + each, 0n)).toBe(1_950_000n);
    // The other authorization is of the same nonce, and still good for a purchase of its own.
    const index = left[0] === 1_000_000n ? 0 : 1;
    const body = { task: 'the other' };
    const again = await h.request('POST', pathOf(agent), { key, body });
    const headers = await payOn(both()[index] as NodeContext, payers[index], again, { nonce });
    const bought = await h.request('POST', pathOf(agent), { key, body, headers });
    expect(bought.status, JSON.stringify(bought.body)).toBe(200);
    expect(await held()).toEqual([950_000n, 950_000n]);
  });

  it('asks for USDC alone where terms name no token, as those of version 1', async () => {
    const { key } = await h.newAccount();
    const unpaid = await h.request('POST', pathOf(agent), { key, body: { task: 'v1' } });
    expect(unpaid.body.accepts.map(({ asset }: { asset: string }) => asset)).toEqual([usdc.chain.token]);
    const payer = await wallet(usdc);
    const headers = await payV1({ ctx: usdc }, payer, unpaid);
    expect((await h.request('POST', pathOf(agent), { key, body: { task: 'v1' }, headers })).status).toBe(200);
    expect(await bothHeld(payer.address)).toEqual([950_000n, 0n]);
  });

  it('refunds a failed call in the token that paid it', async () => {
    const { key } = await h.newAccount();
    const failing = await startTestAgent(h, { perRequest: '0.05' });
    failing.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
    for (const ctx of both()) {
      const payer = await wallet(ctx);
      const body = { task: `fails in ${ctx.chain.tokenName}` };
      const headers = await payOn(ctx, payer, await h.request('POST', pathOf(failing), { key, body }));
      const paid = await h.request('POST', pathOf(failing), { key, body, headers });
      expect(paid.body.data).toMatchObject({ status: 'failed', refund: '0.05' });
      await until(async () => (await ctx.usdc.balanceOf(payer.address)) === 1_000_000n);
      expect(await otherThan(ctx).usdc.balanceOf(payer.address)).toBe(0n);
    }
    await failing.die();
  });

  it('deposits and withdraws in the asset that is asked for', async () => {
    const { key } = await h.newAccount();
    const { treasuryId } = (await h.request('POST', '/payments/treasury', { key, body: {} })).body.data;
    const path = '/payments/treasury/deposit';
    for (const ctx of both()) {
      const asset = `${NETWORK}/erc20:${ctx.chain.token}`;
      const payer = await wallet(ctx, 3_000_000n);
      const body = { amount: '2.50', asset };
      const unpaid = await h.request('POST', path, { key, body });
      expect(headerIn(unpaid, 'payment-required').accepts.map((each: { asset: string }) => each.asset)).toEqual([
        ctx.chain.token,
      ]);
      const answer = await h.request('POST', path, { key, body, headers: await payOn(ctx, payer, unpaid) });
      expect([answer.status, answer.body.data.treasuryId]).toEqual([200, nameIn(ctx, treasuryId)]);
      const to = payer.address;
      const withdrawn = await h.request('POST', '/payments/withdraw', { key, body: { amount: '1.25', asset, to } });
      expect(withdrawn.body).toMatchObject({
        status: 'success',
        data: { amount: '1.25', treasuryId: nameIn(ctx, treasuryId) },
      });
      await until(async () => (await ctx.usdc.balanceOf(to)) === 1_750_000n);
      expect(await postedOf(h, nameIn(ctx, treasuryId))).toBe(1_250_000n);
      expect(await otherThan(ctx).usdc.balanceOf(to)).toBe(0n);
    }
    const balance = (await h.request('GET', '/payments/balance', { key })).body.data;
    expect(balance.byAsset).toMatchObject(
      both().map(({ chain }) => ({ asset: `${NETWORK}/erc20:${chain.token}`, network: NETWORK, available: '1.25' })),
    );
    const { assets } = (await h.request('GET', '/payments/reserves')).body.data;
    const wallets = await walletHeld();
    expect(assets).toMatchObject(
      both().map(({ chain }, index) => ({
        ...{ asset: `${NETWORK}/erc20:${chain.token}`, network: NETWORK, difference: '0.00', status: 'balanced' },
        onChain: formatUsdc(wallets[index] ?? 0n),
      })),
    );
    const contradicting = {
      amount: '1.00',
      asset: `${NETWORK}/erc20:${usdc.chain.token}`,
      treasuryId: `${treasuryId}@${TUSD}`,
    };
    expect((await h.request('POST', '/payments/withdraw', { key, body: contradicting })).status).toBe(400);
    const unknown = { amount: '1.00', asset: `${NETWORK}/erc20:0x${'ab'.repeat(20)}` };
    expect((await h.request('POST', '/payments/withdraw', { key, body: unknown })).status).toBe(400);
  });

  it('credits plain transfers in the token that came, also of one wallet in one block', async () => {
    const secret = generatePrivateKey();
    const payer = await wallet(usdc, 1_000_000n, secret);
    await wallet(tusd, 1_000_000n, secret);
    const amounts = [300_000n, 400_000n];
    await Promise.all(
      both().map((ctx, index) =>
        transferUsdc(h.rpcUrl, { ctx }, { from: payer.address, to: ctx.chain.wallet, micro: amounts[index] ?? 0n }),
      ),
    );
    const suspense = `suspense:${payer.address.toLowerCase()}`;
    for (const [index, ctx] of both().entries())
      await until(async () => (await postedOf(h, nameIn(ctx, suspense))) === amounts[index]);
  });

  it('opens, charges and closes a channel in each token', async () => {
    const { key } = await h.newAccount();
    const call = (headers: Record<string, string> = {}) =>
      h.request('POST', pathOf(agent), { key, body: { task: 'by channel' }, headers });
    const secret = generatePrivateKey();
    for (const ctx of both()) {
      const payer = newVoucherPayer({ ctx }, { key: secret });
      await wallet(ctx, 1_000_000n, secret);
      const opened = await call(payer.pay(await call(), 50_000n, { payload: await payer.deposit(500_000n) }));
      expect(opened.status, JSON.stringify(opened.body)).toBe(200);
      expect(settledBy(opened)).toMatchObject({ success: true, network: NETWORK, amount: '500000' });
      expect((await call(payer.pay(await call(), 100_000n))).status).toBe(200);
      expect(await ctx.usdc.balanceOf(payer.config.payer)).toBe(500_000n);
      // A voucher of this channel shown as one of the other token's.
      const foreign = payer.pay(await call(), 150_000n);
      const shown = read(foreign as { 'payment-signature': string });
      const asset = otherThan(ctx).chain.token;
      const refused = await call(headerOf({ ...shown, accepted: { ...shown.accepted, asset } }));
      expect([refused.status, refused.body.error?.details?.reason]).toEqual([
        402,
        'invalid_batch_settlement_evm_token_mismatch',
      ]);
      const before = await walletHeld();
      await ctx.channelClaims.claim('stop');
      await until(async () => {
        const [now, at] = [await ctx.usdc.balanceOf(ctx.chain.wallet), both().indexOf(ctx)];
        return now === (before[at] ?? 0n) + 100_000n;
      });
      expect(await otherThan(ctx).usdc.balanceOf(ctx.chain.wallet)).toBe(before[1 - both().indexOf(ctx)]);
    }
  });

  it('names the series of the second token by its asset, and those of USDC as before; processes that know no second token are refused', async () => {
    const { body: text } = await h.request('GET', '/metrics');
    expect(text).toContain(`payment_network_open{network="${TUSD}"} 1`);
    expect(text).not.toContain(`{network="${NETWORK}"}`);
    // The keys of the chain, and so their gas, are those of both.
    expect(text).not.toMatch(new RegExp(`^gas_balance_wei.*${TUSD}`, 'm'));
    const needed = await askDatabase(h.databaseUrl, 'select needs from schema_migration where version = 145');
    expect(needed).toEqual([{ needs: 145 }]);
    const jobs = await askDatabase<{ name: string }>(h.databaseUrl, `select name from recurring order by name`);
    const names = jobs.map(({ name }) => name);
    expect(names).toContain('reconcile-payments');
    expect(names).toContain(`reconcile-payments@${TUSD}`);
  });
});
