import { batchSettlementAbi } from '@agent-network/chain/batch-settlement-abi';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { encodeFunctionData } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { SETTLEMENT_CONTRACT } from '../../../../src/chain/channels/channel-calls.ts';
import { bookClaims } from '../../../../src/payments/schemes/batch-settlement/claims/book-claims.ts';
import { actOnChannels } from '../../../../src/payments/schemes/batch-settlement/claims/claimer.ts';
import { createTill } from '../../../support/billing-agent.ts';
import { askDatabase, contradictions } from '../../../support/books.ts';
import { refillWallet, sendAs } from '../../../support/chain-actions.ts';
import { type Answer, type Harness, startHarness } from '../../../support/harness.ts';
import { type AgentRequest, answerWith, echo, startTestAgent } from '../../../support/test-agent.ts';
import { newClient } from '../../../support/treasury.ts';
import { newVoucherPayer, requiredBy } from '../../../support/voucher-payer.ts';

const DELAY_S = 900;
const PRICE_MICRO = 2_000_000n;
const HAD_MICRO = 10_000_000n;
let h: Harness;
let aheadMs = 0;
beforeAll(async () => {
  const env = {
    ...{ CHANNELS: 'true', CHANNEL_WITHDRAW_DELAY_SECONDS: String(DELAY_S), CHANNEL_CLAIM_THRESHOLD: '100' },
    CHANNEL_CLAIM_INTERVAL_SECONDS: '86400',
  };
  h = await startHarness({ env, clock: { now: () => new Date(Date.now() + aheadMs) } });
  // What others keep with the node: a thief would take of it.
  await newClient(h, '20');
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h.stop();
});

/** The node's clock follows the chain's, once the calls have ended: their deadlines are before that. */
const followChain = () => {
  aheadMs += (DELAY_S + 1) * 1000;
};
const status = async () => (await h.request('GET', '/payments/reserves')).body.data.status;

/** A payer that owns the agent which it calls, and which answers when it is told to. */
async function startThief() {
  const owner = await h.newAccount();
  const agent = await startTestAgent(h, { perRequest: '2.00', owner });
  const payer = newVoucherPayer(h);
  const { channelId, config } = payer;
  await refillWallet(h.rpcUrl, h, { address: config.payer }, HAD_MICRO);
  const body = { task: 'x' };
  const call = (headers: Record<string, string> = {}, more: object = {}) =>
    h.request('POST', `/invoke/${agent.id}`, { key: owner.key, body: { ...body, ...more }, headers });
  const first = { payload: await payer.deposit(HAD_MICRO) };
  const contract = async (functionName: 'initiateWithdraw' | 'finalizeWithdraw', ...rest: bigint[]) => {
    const { withdrawDelayS: withdrawDelay, ...shown } = config;
    const args = [{ ...shown, withdrawDelay }, ...rest] as never;
    await sendAs(
      h.rpcUrl,
      config.payer,
      SETTLEMENT_CONTRACT,
      encodeFunctionData({ abi: batchSettlementAbi, functionName, args }),
    );
  };
  const treasuryId = `trs_${agent.id.slice(4)}`;
  const withdraw = async (amount: string) =>
    (await h.request('POST', '/payments/withdraw', { key: owner.key, body: { amount, treasuryId, to: owner.address } }))
      .status;
  return {
    ...{ owner, agent, payer, channelId, call, first, withdraw, treasuryId },
    initiate: () => contract('initiateWithdraw', HAD_MICRO),
    async finalize() {
      await callChain(h.rpcUrl, 'evm_increaseTime', DELAY_S + 1);
      await contract('finalizeWithdraw');
    },
    onChain: async () => (await h.ctx.settlementContract.readChannels([channelId], null))[0],
    /** All that is the thief's on the chain. */
    has: async () => (await h.usdcOf(config.payer)) + (await h.usdcOf(owner.address)),
    /** A call that is in flight until it is told to end. */
    async begin(sumMicro = PRICE_MICRO, payload = first) {
      const asked = Promise.withResolvers<void>();
      const told = Promise.withResolvers<void>();
      agent.behave(async (request: AgentRequest, response) => {
        asked.resolve();
        await told.promise;
        await echo(request, response);
      });
      const answer = call(payer.pay(await call(), sumMicro, payload));
      const refused = answer.then(({ status, body }) => {
        throw new Error(`the call was answered with ${status}: ${JSON.stringify(body)}`);
      });
      refused.catch(() => undefined);
      await Promise.race([asked.promise, refused]);
      return { end: told.resolve, answer };
    },
  };
}

const refusedFor = (answer: Answer) => answer.body.error?.details?.reason;

describe('a deposit that goes back while its call runs', () => {
  it('leaves what the call may cost: that is claimed before, and nobody gains', async () => {
    const thief = await startThief();
    const call = await thief.begin();
    await thief.initiate();
    await expect.poll(async () => (await thief.onChain())?.claimedMicro).toBe(PRICE_MICRO);
    await thief.finalize();
    call.end();
    expect((await call.answer).body.data).toMatchObject({ status: 'completed', cost: '2.00' });
    followChain();
    await bookClaims(h.ctx);
    expect(await thief.withdraw('2')).toBe(200);
    await expect.poll(thief.has).toBe(HAD_MICRO);
    await expect.poll(status).toBe('balanced');
    await thief.agent.die();
  });

  it('is paid back once when the call fails after it was claimed', async () => {
    const thief = await startThief();
    const call = await thief.begin();
    thief.agent.behave(answerWith(500, { error: { message: 'no' } }));
    await thief.initiate();
    await expect.poll(async () => (await thief.onChain())?.claimedMicro).toBe(PRICE_MICRO);
    const [{ requestId } = { requestId: '' }] = await askDatabase<{ requestId: string }>(
      h.databaseUrl,
      `select id as "requestId" from invocation where agent_id = $1`,
      [thief.agent.id],
    );
    expect((await h.request('POST', `/invoke/${requestId}/cancel`, { key: thief.owner.key })).status).toBe(200);
    call.end();
    await call.answer;
    await thief.finalize();
    followChain();
    for (let run = 0; run < 3; run++) await bookClaims(h.ctx);
    const credited = await askDatabase<{ micro: string }>(
      h.databaseUrl,
      `select coalesce(sum(t.amount_micro), 0)::text as micro from transfer t where t.subject_id = $1 and t.kind = 'claim'`,
      [thief.channelId],
    );
    expect(credited).toEqual([{ micro: String(PRICE_MICRO) }]);
    expect(await thief.has()).toBe(HAD_MICRO - PRICE_MICRO);
    await expect.poll(status).toBe('balanced');
    await thief.agent.die();
  });

  it('pays nobody when it could not be claimed: the earning stays held, no bill is signed, and the reserves say so', async () => {
    vi.spyOn(h.ctx.claimSimulator, 'simulate').mockResolvedValue('the chain takes no claim');
    const thief = await startThief();
    const call = await thief.begin();
    await thief.initiate();
    await actOnChannels(h.ctx);
    await thief.finalize();
    call.end();
    expect((await call.answer).body.data).toMatchObject({ status: 'completed', cost: '2.00' });
    followChain();
    await actOnChannels(h.ctx);
    await bookClaims(h.ctx);
    await expect.poll(status).toBe('drift');
    expect(await thief.withdraw('0.01')).toBe(422);
    const treasury = await h.request('GET', `/payments/treasury/${thief.treasuryId}`, { key: thief.owner.key });
    expect(treasury.body.data.balance).toBe('0.00');
    const spent = await h.request('POST', `/invoke/${thief.agent.id}`, {
      key: thief.agent.identityToken,
      body: { task: 'y' },
    });
    expect(spent.status).not.toBe(200);
    expect(await thief.has()).toBe(HAD_MICRO);
    await thief.agent.die();
  });
});

it('a voucher that comes after the withdrawal is mined is refused, before the contract is followed: 4 of 4', async () => {
  for (let round = 0; round < 4; round++) {
    const thief = await startThief();
    expect((await thief.call(thief.payer.pay(await thief.call(), PRICE_MICRO, thief.first))).status).toBe(200);
    h.ctx.channels.seen.clear();
    const next = await thief.call();
    await thief.initiate();
    const late = await thief.call(thief.payer.pay(next, 2n * PRICE_MICRO));
    expect([late.status, refusedFor(late)]).toEqual([402, 'invalid_batch_settlement_evm_missing_channel']);
    expect(thief.agent.calls).toHaveLength(1);
    await thief.agent.die();
  }
});

it('a bill of a call that a channel pays is signed once the channel is claimed for it', async () => {
  const thief = await startThief();
  const till = createTill(h);
  const claimed: (bigint | undefined)[] = [];
  const record = async (request: AgentRequest, response: Parameters<typeof echo>[1]) => {
    claimed.push((await thief.onChain())?.claimedMicro);
    await echo(request, response);
  };
  thief.agent.behave(till.bill({ amountMicro: PRICE_MICRO, collects: 'last', work: record }));
  const answer = await thief.call(thief.payer.pay(await thief.call(), PRICE_MICRO, thief.first));
  expect(answer.body.data).toMatchObject({ status: 'completed', cost: '2.00' });
  expect(claimed).toEqual([PRICE_MICRO]);
  // The channel goes on: its next voucher is above the one that is public.
  thief.agent.behave(echo);
  const next = await thief.call(thief.payer.pay(await thief.call(), 2n * PRICE_MICRO));
  expect(next.body.data).toMatchObject({ status: 'completed' });
  await thief.agent.die();
});

it('a bill is not paid by a channel that cannot be claimed', async () => {
  const thief = await startThief();
  const till = createTill(h);
  const cover = h.ctx.walletFunds.cover.bind(h.ctx.walletFunds);
  vi.spyOn(h.ctx.claimSimulator, 'simulate').mockResolvedValue('the chain takes no claim');
  vi.spyOn(h.ctx.walletFunds, 'cover').mockImplementation((channelId, micro, signal) =>
    cover(channelId, micro, AbortSignal.any([signal, AbortSignal.timeout(1500)])),
  );
  thief.agent.behave(till.bill({ amountMicro: PRICE_MICRO }));
  const answer = await thief.call(thief.payer.pay(await thief.call(), PRICE_MICRO, thief.first));
  expect(answer.body.data).toMatchObject({ status: 'failed', cost: '0.00', refund: '2.00' });
  expect(till.shown).toEqual([]);
  await thief.agent.die();
});

describe('the deadline of a call that a channel pays', () => {
  const inS = (seconds: number) => new Date(h.ctx.clock.now().getTime() + seconds * 1000).toISOString();
  const schemes = (answer: Answer) => requiredBy(answer).accepts.map(({ scheme }: { scheme: string }) => scheme);

  it('fits into half of the withdraw delay: a longer call is offered exact only, and a voucher for it takes nothing', async () => {
    const thief = await startThief();
    const maxS = h.ctx.chain.channels?.longestCallS ?? 0;
    expect(maxS).toBe(DELAY_S / 2 - 72);
    const unpaid = await thief.call({}, { deadline: inS(maxS - 5) });
    expect(schemes(unpaid)).toEqual(['exact', 'batch-settlement']);
    const long = { deadline: inS(maxS + 30) };
    expect(schemes(await thief.call({}, long))).toEqual(['exact']);
    const refused = await thief.call(thief.payer.pay(unpaid, PRICE_MICRO, thief.first), long);
    expect([refused.status, refused.body.error.code, refused.body.error.message]).toEqual([
      400,
      'VALIDATION_ERROR',
      expect.stringContaining(`${maxS} seconds`),
    ]);
    expect(await thief.has()).toBe(HAD_MICRO);
    await thief.agent.die();
  });

  it('is shortened where the caller names none', async () => {
    const thief = await startThief();
    const maxS = h.ctx.chain.channels?.longestCallS ?? 0;
    const headers = { 'x-sync': 'false' };
    const paid = await thief.call({
      ...headers,
      ...thief.payer.pay(await thief.call(headers), PRICE_MICRO, thief.first),
    });
    expect(paid.status).toBeLessThan(300);
    const [row] = await askDatabase<{ seconds: number }>(
      h.databaseUrl,
      `select extract(epoch from deadline - created_at)::int as seconds from invocation where agent_id = $1`,
      [thief.agent.id],
    );
    expect(row?.seconds).toBeLessThanOrEqual(maxS);
    await thief.agent.die();
  });
});
