import { batchSettlementAbi } from '@agent-network/chain/batch-settlement-abi';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { scopes } from '@agent-network/contracts/access/scopes';
import type { OperatorInvocation } from '@agent-network/contracts/network/operator-invocation';
import { encodeFunctionData } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueApiKey } from '../../../../src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../../../src/accounts/open-account.ts';
import { SETTLEMENT_CONTRACT } from '../../../../src/chain/channels/channel-calls.ts';
import { sendAs } from '../../../support/chain-actions.ts';
import { type Answer, type Harness, newWallet, startHarness } from '../../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { until } from '../../../support/until.ts';
import { newVoucherPayer, type VoucherPayer } from '../../../support/voucher-payer.ts';

const PRICE = 50_000n;
const refuse = answerWith(500, { error: { message: 'no' } });
let h: Harness;
let agent: TestAgent;
let operator: string;
/** Three calls of one channel: completed, failed, completed; a fourth pays nothing of it. */
let payer: VoucherPayer;
let requestIds: string[];
let owner: string;
beforeAll(async () => {
  h = await startHarness({ env: { CHANNELS: 'true', CHANNEL_MIN_DEPOSIT: '0.2', CHANNEL_CLAIM_THRESHOLD: '100' } });
  agent = await startTestAgent(h, { perRequest: '0.05' });
  operator = (await h.newAccount({ scopes: ['operator'] })).key;
  const key = generatePrivateKey();
  await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, key);
  payer = newVoucherPayer(h, { key });
  requestIds = await makeCalls();
  owner = await keyOf(payer.config.payer, true);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const call = (headers: Record<string, string> = {}) =>
  h.request('POST', `/x402/${agent.id}`, { body: { task: 'x' }, headers });

async function makeCalls(): Promise<string[]> {
  const paid = async (maxMicro: bigint, payload?: object) => {
    const { body } = await call(payer.pay(await call(), maxMicro, payload ? { payload } : {}));
    return body.data.requestId as string;
  };
  const first = await paid(PRICE, await payer.deposit(200_000n));
  agent.behave(refuse);
  const second = await paid(2n * PRICE);
  agent.behave(echo);
  return [first, second, await paid(2n * PRICE)];
}

async function keyOf(address: string, isWalletProven: boolean): Promise<string> {
  const { accountId } = await openAccount(h.ctx, { address, plan: 'free', isWalletProven });
  return (await issueApiKey(h.ctx, { accountId, name: 'x', scopes, expiresAt: null })).apiKey;
}

const get = (path: string, key = owner): Promise<Answer> => h.request('GET', path, { key });
const data = async (path: string, key = owner) => (await get(path, key)).body.data;
const path = () => `/payments/channels/${payer.channelId}`;

/** Every page of a list, one entry at a time. */
async function paged(of: string, name: string) {
  const seen: { [field: string]: unknown }[] = [];
  for (let cursor = '', more = true; more; ) {
    const page = await data(`${of}?limit=1${cursor && `&cursor=${cursor}`}`);
    expect(page[name].length).toBeLessThanOrEqual(1);
    seen.push(...page[name]);
    cursor = page.nextCursor;
    more = page.hasMore;
    expect(more).toBe(cursor !== null);
  }
  return seen;
}

describe('the account of the paying wallet', () => {
  it('sees what its channel holds, what calls cost and what is left', async () => {
    const { channels } = await data('/payments/channels');
    expect(channels).toHaveLength(1);
    expect(channels[0]).toMatchObject({
      ...{ channelId: payer.channelId, payer: payer.config.payer, chainId: h.ctx.chain.chainId, state: 'open' },
      ...{ balance: '0.20', charged: '0.10', inFlight: '0.00', remaining: '0.10', claimed: '0.00', withdrawal: null },
    });
    const { withdrawDelayS: withdrawDelay, ...config } = payer.config;
    expect(await data(path())).toEqual({ ...channels[0], config: { ...config, withdrawDelay } });
    const whole = JSON.stringify([channels, await data(path()), await data(`${path()}/charges`)]);
    expect(whole).not.toContain(payer.sign(2n * PRICE));
  });

  it('sees each call with its voucher, and that a failed one cost nothing, page by page', async () => {
    const [first, second, third] = requestIds;
    const charges = await paged(`${path()}/charges`, 'charges');
    expect(charges.map(({ requestId, voucher, charged }) => [requestId, voucher, charged])).toEqual([
      [third, '0.10', '0.05'],
      [second, '0.10', '0.00'],
      [first, '0.05', '0.05'],
    ]);
  });

  it('sees deposit and claim, and the operator the transaction, its gas and what is unclaimed', async () => {
    const before = await data('/operator/channels', operator);
    expect(before).toMatchObject({ open: 1, unclaimed: '0.10', lost: '0.00', withdrawing: 0 });
    expect(before.owing).toMatchObject([{ channelId: payer.channelId, unclaimed: '0.10', isClaiming: false }]);
    expect(before.oldestUnclaimedAt).toBe(before.owing[0].oldestUnclaimedAt);
    await h.ctx.channelClaims.claim('payout');
    const claims = await until(async () => {
      await h.ctx.channelClaims.claim('due');
      const page = await data('/operator/claims', operator);
      return page.claims[0]?.state === 'done' ? page.claims : null;
    });
    expect(claims).toMatchObject([{ reason: 'payout', channels: 1, gasUsed: expect.stringMatching(/^\d{5,6}$/) }]);
    const entries = await paged(`${path()}/history`, 'entries');
    expect(entries).toMatchObject([
      { type: 'claim', state: 'done', amount: '0.10', transactionHash: claims[0].transactionHash },
      { type: 'deposit', state: 'done', amount: '0.20' },
    ]);
    expect(await data(path())).toMatchObject({ claimed: '0.10', remaining: '0.10', balance: '0.20' });
    expect(await data('/operator/channels', operator)).toMatchObject({ unclaimed: '0.00', oldestUnclaimedAt: null });
  });

  it('sees from when on it can take the rest out, once it has begun to withdraw', async () => {
    const { withdrawDelayS: withdrawDelay, ...config } = payer.config;
    const args = [{ ...config, withdrawDelay }, 50_000n] as never;
    const begin = encodeFunctionData({ abi: batchSettlementAbi, functionName: 'initiateWithdraw', args });
    const hash = await sendAs(h.rpcUrl, config.payer, SETTLEMENT_CONTRACT, begin);
    const ask = (method: string, ...of: unknown[]) =>
      callChain<{ blockNumber: string; timestamp: string }>(h.rpcUrl, method, ...of);
    const { blockNumber } = await ask('eth_getTransactionReceipt', hash);
    const atS = Number((await ask('eth_getBlockByNumber', blockNumber, false)).timestamp);
    const [requestedAt, availableAt] = [atS, atS + withdrawDelay].map((s) => new Date(s * 1000).toISOString());
    const channel = await until(async () => {
      const seen = await data(path());
      return seen.state === 'withdrawing' ? seen : null;
    });
    expect(channel.withdrawal).toMatchObject({ requestedAt, availableAt });
    expect(await data('/operator/channels', operator)).toMatchObject({
      withdrawing: 1,
      owing: [{ channelId: payer.channelId, unclaimed: '0.00', withdrawAvailableAt: availableAt }],
    });
  });

  it.each(['', '/history', '/charges'])('and no other: GET /payments/channels/{id}%s', async (part) => {
    const stranger = await h.newAccount();
    expect((await get(path() + part, stranger.key)).body.error.code).toBe('NOT_FOUND');
    expect(await data('/payments/channels', stranger.key)).toMatchObject({ channels: [], hasMore: false });
  });

  it('and not an account that names the wallet and has not proven it', async () => {
    const victim = newVoucherPayer(h);
    await victim.fund(1_000_000n);
    const key = await keyOf(victim.config.payer, false);
    expect(await data('/payments/channels', key)).toMatchObject({ channels: [] });
    expect((await get(`/payments/channels/${victim.channelId}`, key)).status).toBe(404);
  });

  it.each(['history', 'charges'])('a cursor that is none is refused: %s', async (part) => {
    expect((await get(`${path()}/${part}?cursor=nonsense`)).body.error.code).toBe('VALIDATION_ERROR');
  });
});

describe('the operator sees what a voucher reserved and what came free', () => {
  const look = (id: string | undefined): Promise<OperatorInvocation> => data(`/operator/invocations/${id}`, operator);

  it('of a call that failed: all of it, in the channel', async () => {
    const seen = await look(requestIds[1]);
    expect(seen.voucher).toMatchObject({
      ...{ channelId: payer.channelId, voucher: '0.10', reserved: '0.05', charged: '0.00', released: '0.05' },
      endedAt: expect.any(String),
    });
    expect(seen.refund).toMatchObject({
      amount: '0.05',
      parts: [{ way: 'channel', amount: '0.05', state: 'settled', to: payer.channelId, transactionHash: null }],
    });
    expect(seen.transfers.map(({ kind }) => kind).toSorted()).toEqual(['voucher', 'voucher_release']);
    expect(seen.timeline.map(({ event }) => event)).toEqual(['created', 'held', 'started', 'failed', 'released']);
  });

  it('of a call that completed: nothing came free', async () => {
    const seen = await look(requestIds[0]);
    expect(seen.voucher).toMatchObject({ voucher: '0.05', reserved: '0.05', charged: '0.05', released: '0.00' });
    expect(seen.refund).toMatchObject({ amount: '0.00', parts: [] });
    expect(seen.transfers.map(({ kind }) => kind).toSorted()).toEqual(['charge', 'voucher']);
  });
});
