import { toClientEvmSigner } from '@x402/evm';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { createPublicClient, http } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness, type TestAccount, type TestWallet } from '../../service/test/support/harness.ts';
import { isLong } from '../../service/test/support/long.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import type { ChannelOptions } from '../src/channels/channel-payer.ts';
import { createClient } from '../src/client.ts';
import { createPayer } from '../src/payer.ts';

const PRICE = 1_000n;
const CALLS = isLong ? 1_000 : 60;
/** Enough for most of the calls: the rest takes a top-up. */
const DEPOSIT = (BigInt(CALLS) * PRICE * 5n) / 6n;

let h: Harness;
let agent: TestAgent;
let account: TestAccount;
beforeAll(async () => {
  h = await startHarness({ env: { CHANNELS: 'true', CHANNEL_MIN_DEPOSIT: `0.${String(DEPOSIT).padStart(6, '0')}` } });
  agent = await startTestAgent(h, { perRequest: '0.001' });
  account = await h.newAccount();
});
afterAll(async () => {
  await agent?.die();
  await h?.stop();
});

const url = () => `${h.baseUrl}/invoke/${agent.id}`;
const network = () => h.ctx.chain.caip2 as `${string}:${string}`;
const spentBy = async (wallet: TestWallet) => 1_000_000_000n - (await h.usdcOf(wallet.address));

describe('the stock client, with both schemes registered', () => {
  async function startStock() {
    const wallet = await h.newWallet();
    const reader = createPublicClient({ transport: http(h.rpcUrl) });
    const channels = new BatchSettlementEvmScheme(toClientEvmSigner(wallet, reader as never));
    const client = new x402Client().register(network(), new ExactEvmScheme(wallet)).register(network(), channels);
    return { wallet, channels, call: callerOf(client) };
  }

  function callerOf(client: x402Client) {
    const paying = wrapFetchWithPayment(fetch, client);
    return async (task: string) => {
      const response = await paying(url(), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${account.key}`,
          'content-type': 'application/json',
          'x-payment-method': 'x402',
        },
        body: JSON.stringify({ task }),
      });
      const payment = response.headers.get('payment-response');
      return { status: response.status, payment: payment ? decodePaymentResponseHeader(payment) : null };
    };
  }

  it(`pays ${CALLS} calls with one deposit and a top-up, exactly, and gets the rest back to the unit`, async () => {
    const { wallet, channels, call } = await startStock();
    let deposits = 0;
    for (let count = 1; count <= CALLS; count += 1) {
      const { status, payment } = await call(`call ${count}`);
      expect([count, status]).toEqual([count, 200]);
      if (payment?.transaction) deposits += 1;
      expect(deposits).toBe(BigInt(count) * PRICE <= DEPOSIT ? 1 : 2);
      expect(payment?.extra).toMatchObject({
        chargedAmount: '1000',
        channelState: { chargedCumulativeAmount: String(BigInt(count) * PRICE) },
      });
    }
    expect(await spentBy(wallet)).toBe(2n * DEPOSIT);
    const refund = await channels.refund(url());
    expect(refund).toMatchObject({ success: true, amount: String(2n * DEPOSIT - BigInt(CALLS) * PRICE) });
    expect(await spentBy(wallet)).toBe(BigInt(CALLS) * PRICE);
  }, 300_000);

  it('pays by transfer when it knows exact only', async () => {
    const wallet = await h.newWallet();
    const call = callerOf(new x402Client().register(network(), new ExactEvmScheme(wallet)));
    const { status, payment } = await call('exact');
    expect([status, await spentBy(wallet)]).toEqual([200, PRICE]);
    expect(payment).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  });
});

describe('the SDK with channels', () => {
  async function startSdk(channels: ChannelOptions = {}) {
    const wallet = await h.newWallet();
    const clientOf = (more: ChannelOptions = {}) => {
      const tokens = { [network()]: h.ctx.chain.token };
      const payer = createPayer({ account: wallet, maxPerCall: '0.01', tokens, channels: { ...channels, ...more } });
      const client = createClient({ baseUrl: h.baseUrl, apiKey: account.key, payer });
      const call = (task: string) =>
        client.invokeAgent({
          params: { agentId: agent.id },
          headers: { 'x-payment-method': 'x402', 'x-sync': 'true' },
          body: { task },
        }) as Promise<{ status: string; cost: string }>;
      return { payer, call };
    };
    return { wallet, clientOf };
  }

  it('pays calls in a row and at once, nothing for one that fails, and closes to the unit', async () => {
    const { wallet, clientOf } = await startSdk({ deposit: '1' });
    const { payer, call } = clientOf();
    for (let count = 0; count < 3; count += 1) expect((await call('in a row')).cost).toBe('0.001');
    agent.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
    const failed = await call('fails').finally(() => agent.behave(echo));
    expect(failed).toMatchObject({ status: 'failed', cost: '0.00' });
    const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => call(`at once ${index}`)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 16 }, () => 'completed'));
    expect(await spentBy(wallet)).toBe(1_000_000n);
    expect(await payer.close()).toMatchObject([{ charged: '0.019', refunded: '0.981' }]);
    expect(await spentBy(wallet)).toBe(19n * PRICE);
    expect((await call('after the refund')).status).toBe('completed');
    await payer.close();
    expect(await spentBy(wallet)).toBe(20n * PRICE);
  });

  it('finds its channel again after its books were lost, from the chain and from a corrective 402', async () => {
    const { wallet, clientOf } = await startSdk({ deposit: '1' });
    await clientOf().call('first');
    await clientOf({ rpcUrl: h.rpcUrl }).call('from the chain');
    const last = clientOf();
    await last.call('from the node');
    expect(await spentBy(wallet)).toBe(1_000_000n);
    expect(await last.payer.close()).toMatchObject([{ charged: '0.003', refunded: '0.997' }]);
    expect(await spentBy(wallet)).toBe(3n * PRICE);
  });
});
