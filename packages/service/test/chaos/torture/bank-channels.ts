import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createUsdcClient } from '../../../src/chain/usdc-client.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Answer, TestWallet } from '../../support/harness.ts';
import { newVoucherPayer, requiredBy, type VoucherPayer } from '../../support/voucher-payer.ts';
import type { TokenHost } from '../../support/x402-payer.ts';

type ChannelHost = Parameters<typeof newVoucherPayer>[0];

/** A channel, and what its payer believes of it: answers may be lost, so the node may know better. */
export interface BankChannel {
  readonly payer: VoucherPayer;
  /** Charged, calls in flight included. */
  sumMicro: bigint;
  balanceMicro: bigint;
  /** A signed deposit that may not be collected yet: presented again instead of signing another. */
  deposit: object | null;
}

/** A wallet that pays calls through channels, one channel after the other. */
export interface ChannelClient {
  readonly wallet: TestWallet;
  /** All that it opened; the last one is in use. */
  readonly channels: BankChannel[];
  current(): BankChannel;
  /** Goes on with a fresh channel. */
  renew(): void;
}

/** Parameters that vouchers to a node are signed for. */
export async function channelHostOf(
  node: TokenHost & { readonly chain: { readonly rpcUrl: string }; readonly walletAddress: string },
): Promise<ChannelHost> {
  const { token } = node.ctx.chain;
  const { domainSeparator } = await createUsdcClient({ rpcUrl: node.chain.rpcUrl, token }).readToken();
  const chain = { ...node.ctx.chain, wallet: node.walletAddress, domainSeparator };
  return { ctx: { chain, clock: systemClock } } as ChannelHost;
}

export function newChannelClient(host: ChannelHost): ChannelClient {
  const key = generatePrivateKey();
  const channels: BankChannel[] = [];
  const renew = () =>
    void channels.push({ payer: newVoucherPayer(host, { key }), sumMicro: 0n, balanceMicro: 0n, deposit: null });
  renew();
  return { wallet: privateKeyToAccount(key), channels, renew, current: () => channels.at(-1) as BankChannel };
}

/** Reads the channel's state from a receipt or a correction. */
export function learn(channel: BankChannel, answer: Answer): boolean {
  const header = answer.headers.get('payment-response');
  const state =
    header === null
      ? answer.status === 402 && offerIn(answer).extra.channelState
      : JSON.parse(Buffer.from(header, 'base64').toString()).extra?.channelState;
  if (!state) return false;
  channel.sumMicro = BigInt(state.chargedCumulativeAmount);
  channel.balanceMicro = BigInt(state.balance);
  return true;
}

// biome-ignore lint/suspicious/noExplicitAny: a 402 answer of the node
export const offerIn = (unpaid: Answer): any =>
  requiredBy(unpaid).accepts.find(({ scheme }: { scheme: string }) => scheme === 'batch-settlement');

/** The reason of a 402, without what all codes of the scheme begin with. */
export const refusalIn = (refused: Answer): string =>
  String(requiredBy(refused).error).replace('invalid_batch_settlement_evm_', '');

/** The channel's configuration in the form of the contract. */
export const configOf = ({ payer }: BankChannel) => {
  const { withdrawDelayS, ...config } = payer.config;
  return { ...(config as Record<keyof typeof config, Hex>), withdrawDelay: withdrawDelayS };
};
