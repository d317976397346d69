import { createWalletClient, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callChain } from '../../chain/src/chain-rpc-client.ts';
import { type LocalChain, startLocalChain } from '../../chain/src/local-chain.ts';
import { chainReader, usdcBalance } from '../../chain/test/chain-clients.ts';
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

it('a payer takes what is left of a channel out of it without the receiver', async () => {
  const payer = payerWith({ deposit: '0.02', salt: `0x${'5a'.repeat(32)}` });
  const before = await balance();
  expect(await call(payer)).toBe(200);
  const [channel] = await payer.channels();
  if (!channel) throw new Error('there is no channel');
  const { to, initiate, finalize, delayS } = withdrawalOf(channel);
  const wallet = createWalletClient({ account, chain: baseSepolia, transport: http(chain.rpcUrl) });
  const mined = async (data: `0x${string}`) => {
    const hash = await wallet.sendTransaction({ to, data });
    return (await chainReader(chain.rpcUrl).waitForTransactionReceipt({ hash })).status;
  };
  expect(await mined(initiate)).toBe('success');
  await callChain(chain.rpcUrl, 'evm_increaseTime', delayS + 1);
  expect(await mined(finalize)).toBe('success');
  expect(before - (await balance())).toBe(1_000n);
});
