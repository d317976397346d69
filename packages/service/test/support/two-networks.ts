import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import type { Hex } from 'viem';
import { onNamed } from '../../src/chain/networks.ts';
import type { NodeContext } from '../../src/compose/context.ts';
import { type Harness, type HarnessOptions, newWallet, startHarness, type TestWallet } from './harness.ts';
import { type RpcProxy, type RpcRule, startRpcProxy } from './rpc-proxy.ts';
import { paymentOf } from './x402-payer.ts';

const OTHER = 421_614;
const ETHER = 10n ** 18n;

/** Every method that a node asks a chain by. */
const methods = [
  ...['eth_blockNumber', 'eth_getBlockByNumber', 'eth_getBlockByHash', 'eth_call', 'eth_getLogs', 'eth_chainId'],
  ...['eth_getCode', 'eth_sendRawTransaction', 'eth_getTransactionReceipt', 'eth_getTransactionByHash'],
  ...['eth_getTransactionCount', 'eth_getBalance', 'eth_gasPrice', 'eth_maxPriorityFeePerGas', 'eth_feeHistory'],
  'eth_estimateGas',
];

/** A node on its own chain and on another one. */
export interface TwoNetworks {
  readonly h: Harness;
  readonly other: LocalChain;
  readonly proxy: RpcProxy;
  /** The context on the other network. */
  onOther(): NodeContext;
  /** A wallet that holds test USDC on the other chain. */
  walletOnOther(micro?: bigint, key?: Hex): Promise<TestWallet>;
  /** Answers every request to the other chain by this rule; null: as it does. */
  cut(rule: RpcRule | null): void;
  stop(): Promise<void>;
}

/** Settings of a further network for the chain behind this address. */
export const networkAt = (rpcUrl: string) => ({
  ...{ chainId: OTHER, rpcUrl, transferDepthBlocks: 1, isLocal: true },
  confirmations: [{ fromMicro: 0n, depthBlocks: 1 }],
});

export async function startTwoNetworks(options: HarnessOptions = {}): Promise<TwoNetworks> {
  const other = await startLocalChain({ chainId: OTHER });
  const proxy = await startRpcProxy(other.rpcUrl);
  const h = await startHarness({ furtherNetworks: [networkAt(proxy.url)], ...options });
  await other.fund([{ address: h.ctx.chain.wallet as Hex, ethWei: 10n * ETHER, usdcMicro: 0n }]);
  const onOther = () => {
    const found = onNamed(h.ctx, `eip155:${OTHER}`);
    if (!found) throw new Error('the node is not on the other network');
    return found;
  };
  // As the network opened, its key had no gas.
  await onOther().gas.refresh();
  return {
    ...{ h, other, proxy, onOther },
    walletOnOther: (micro = 1_000_000n, key = undefined) => newWallet(other.rpcUrl, onOther().chain.token, micro, key),
    cut(rule) {
      for (const method of methods) proxy.rule(method, rule);
    },
    async stop() {
      await h.stop();
      await proxy.stop();
      await other.stop();
    },
  };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

// biome-ignore lint/suspicious/noExplicitAny: a header of the node
export const headerIn = ({ headers }: { headers: Headers }, name: string): any =>
  JSON.parse(Buffer.from(headers.get(name) ?? '', 'base64').toString());

/** The networks that a 402 answer offers, in its order. */
export const offeredBy = (unpaid: { headers: Headers }): string[] =>
  headerIn(unpaid, 'payment-required').accepts.map(({ network }: { network: string }) => network);

/** Headers that pay a 402 answer on the network of a context, by one transfer. */
export async function payOn(
  ctx: NodeContext,
  wallet: TestWallet,
  unpaid: { headers: Headers },
  changes: Parameters<typeof paymentOf>[3] = {},
): Promise<{ 'payment-signature': string }> {
  const required = headerIn(unpaid, 'payment-required');
  const accepts = required.accepts.filter(
    ({ network, asset, scheme }: { network: string; asset: string; scheme: string }) =>
      network === ctx.chain.caip2 && asset === ctx.chain.token && scheme === 'exact',
  );
  return { 'payment-signature': encode(await paymentOf({ ctx }, wallet, { ...required, accepts }, changes)) };
}

/** Balance of a ledger account; null: it does not exist. */
export async function postedOf({ ctx }: Harness, id: string): Promise<bigint | null> {
  const [row] = await ctx.db.query<{ posted: bigint }>(
    'posted-of',
    'select posted_micro as posted from ledger_account where id = $1',
    [id],
  );
  return row?.posted ?? null;
}
