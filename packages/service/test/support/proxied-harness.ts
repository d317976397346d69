import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { type Harness, type HarnessOptions, startHarness } from './harness.ts';
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts';

export interface ProxiedHarness extends Harness {
  readonly proxy: RpcProxy;
  /** The way to the chain that no rule of the proxy disturbs. */
  readonly chain: LocalChain;
}

/** A node with a proxy to its chain that can be disturbed. */
export async function startProxiedHarness(options: HarnessOptions = {}): Promise<ProxiedHarness> {
  const chain = await startLocalChain();
  const proxy = await startRpcProxy(chain.rpcUrl);
  const settlementKey = generatePrivateKey();
  await chain.fund([{ address: privateKeyToAddress(settlementKey), ethWei: 10n ** 19n, usdcMicro: 0n }]);
  const env = { CHAIN_RPC_URL: proxy.url, SETTLEMENT_PRIVATE_KEY: settlementKey, ...options.env };
  const harness = await startHarness({ ...options, env });
  return {
    ...harness,
    proxy,
    chain,
    async stop() {
      await harness.stop();
      await proxy.stop();
      await chain.stop();
    },
  };
}
