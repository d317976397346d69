import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BATCH_SETTLEMENT_ADDRESS } from '../../chain/src/addresses.ts';
import { batchSettlementAbi } from '../../chain/src/batch-settlement-abi.ts';
import { callChain } from '../../chain/src/chain-rpc-client.ts';
import { type LocalChain, startLocalChain } from '../../chain/src/local-chain.ts';
import { chainReader, chainWriter, usdcBalance } from '../../chain/test/chain-clients.ts';
import type { ChannelOptions } from '../src/channels/channel-payer.ts';
import { withdrawalOf } from '../src/channels/withdraw-channel.ts';
import { type ChannelPayer, createPayer } from '../src/payer.ts';
import { startReferenceServer } from './support/reference-server.ts';

const facilitatorKey = generatePrivateKey();
const receiverKey = generatePrivateKey();
const account = privateKeyToAccount(generatePrivateKey());
let chain: LocalChain;
let server: Awaited<ReturnType<typeof startReferenceServer>>;

beforeAll(async () => {
  const ethWei = 10n ** 20n;
  chain = await startLocalChain({
    wallets: [
      { address: privateKeyToAccount(facilitatorKey).address, ethWei, usdcMicro: 0n },
      { address: privateKeyToAccount(receiverKey).address, ethWei, usdcMicro: 0n },
      { address: account.address, ethWei, usdcMicro: 1_000_000n },
    ],
  });
  server = await startReferenceServer({ ...chain, facilitatorKey, receiverKey, price: '1000' });
});
afterAll(async () => {
  await server?.stop();
  await chain?.stop();
});

const payerWith = (channels: ChannelOptions) => createPayer({ account, maxPerCall: '0.01', channels });
const balance = () => usdcBalance(chain.rpcUrl, account.address);

/** A paid call by hand, as a program does that has a client of its own. */
async function call(payer: ChannelPayer): Promise<number> {
  const unpaid = await fetch(server.url, { method: 'POST' });
  let payment: Awaited<ReturnType<ChannelPayer['pay']>> | null | undefined = await payer.pay(
    unpaid.headers.get('payment-required') ?? '',
    server.url,
  );
  for (;;) {
    const { status, headers } = await fetch(server.url, { method: 'POST', headers: { ...payment } });
    const [paymentRequired, paymentResponse] = [headers.get('payment-required'), headers.get('payment-response')];
    payment = await payer.answered?.(payment, { status, paymentRequired, paymentResponse });
    if (!payment) return status;
  }
}

it('the reference server takes one deposit and ten vouchers, also of a payer that lost its books, and refunds to the unit', async () => {
  const payer = payerWith({ deposit: '0.02' });
  for (let calls = 0; calls < 5; calls += 1) expect(await call(payer)).toBe(200);
  expect(await balance()).toBe(980_000n);
  const after = payerWith({ deposit: '0.02', rpcUrl: chain.rpcUrl });
  expect(await Promise.all([1, 2, 3, 4, 5].map(() => call(after)))).toEqual([200, 200, 200, 200, 200]);
  expect(await balance()).toBe(980_000n);
  expect(await after.close()).toMatchObject([{ charged: '0.01', refunded: '0.01' }]);
  expect(await balance()).toBe(990_000n);
});

const statusOf = async (hash: Promise<`0x${string}`>) =>
  (await chainReader(chain.rpcUrl).waitForTransactionReceipt({ hash: await hash })).status;
const send = ({ to, data }: { to: `0x${string}`; data: `0x${string}` }) =>
  statusOf(chainWriter(chain.rpcUrl, account).sendTransaction({ to, data }));

/** Pays a call whose answer is lost. The receiver claims it, as when it stops. */
async function callUnanswered(payer: ChannelPayer): Promise<void> {
  const unpaid = await fetch(server.url, { method: 'POST' });
  const payment = await payer.pay(unpaid.headers.get('payment-required') ?? '', server.url);
  expect((await fetch(server.url, { method: 'POST', headers: { ...payment } })).status).toBe(200);
  await payer.answered?.(payment, null);
  const { payload } = JSON.parse(Buffer.from(payment['payment-signature'], 'base64').toString());
  const { maxClaimableAmount, signature } = payload.voucher;
  const totalClaimed = BigInt(maxClaimableAmount);
  const voucher = { channel: payload.channelConfig, maxClaimableAmount: totalClaimed };
  const writing = chainWriter(chain.rpcUrl, privateKeyToAccount(receiverKey)).writeContract({
    address: BATCH_SETTLEMENT_ADDRESS,
    abi: batchSettlementAbi,
    functionName: 'claim',
    args: [[{ voucher, signature, totalClaimed }]],
  });
  expect(await statusOf(writing)).toBe('success');
}

it.each([
  ['its books, after the answer to its last call was lost', '5b', 1, false, '0.018'],
  ['the chain, after the answer to its only call, with the deposit, was lost', '5c', 0, true, '0.019'],
])(
  'a payer takes what is left after the claims of a receiver that is gone, by %s',
  async (_how, salt, answered, isRead, left) => {
    const options = { deposit: '0.02', salt: `0x${salt.repeat(32)}` } as const;
    const payer = payerWith({ ...options, ...(isRead ? { rpcUrl: chain.rpcUrl } : {}) });
    for (let calls = 0; calls < answered; calls += 1) expect(await call(payer)).toBe(200);
    await callUnanswered(payer);
    const [channel] = await payer.channels();
    if (!channel) throw new Error('there is no channel');
    const { amount, to, initiate } = withdrawalOf(channel);
    expect([amount, await send({ to, data: initiate })]).toEqual([left, 'success']);
  },
);

it('a payer takes what is left of a channel out of it without the receiver', async () => {
  const payer = payerWith({ deposit: '0.02', salt: `0x${'5a'.repeat(32)}` });
  const before = await balance();
  expect(await call(payer)).toBe(200);
  const [channel] = await payer.channels();
  if (!channel) throw new Error('there is no channel');
  const { to, initiate, finalize, delayS } = withdrawalOf(channel);
  expect(await send({ to, data: initiate })).toBe('success');
  await callChain(chain.rpcUrl, 'evm_increaseTime', delayS + 1);
  expect(await send({ to, data: finalize })).toBe('success');
  expect(before - (await balance())).toBe(1_000n);
});
