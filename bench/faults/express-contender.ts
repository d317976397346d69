import type { LocalChain } from '@agent-network/chain/local-chain';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { startRpcProxy } from '../../packages/service/test/support/rpc-proxy.ts';
import { peersFolder } from '../peers.ts';
import type { StopList } from '../stop-list.ts';
import { askedAt, type Contender } from './contender.ts';
import { PRICE } from './purchase.ts';
import { freePort, startRestartable } from './restartable.ts';
import type { Worker } from './worker.ts';

/** `@x402/express` with the facilitator in its process; its route has the work done by the worker. */
export async function startExpress(stops: StopList, chain: LocalChain, worker: Worker): Promise<Contender> {
  const proxy = await startRpcProxy(chain.rpcUrl);
  stops.add(() => proxy.stop());
  const facilitatorKey = generatePrivateKey();
  await chain.fund([{ address: privateKeyToAddress(facilitatorKey), ethWei: 10n ** 22n, usdcMicro: 0n }]);
  const port = await freePort();
  const settings = {
    rpcUrl: proxy.url,
    facilitatorKey,
    payTo: privateKeyToAddress(generatePrivateKey()),
    price: `$${PRICE}`,
    workUrl: worker.workUrl,
    port,
  };
  const server = await startRestartable(stops, {
    args: [`${peersFolder}shop.mjs`],
    env: { PEER_SETTINGS: JSON.stringify(settings), NODE_ENV: 'production' },
    ready: /^http:/,
  });
  return {
    name: '@x402/express',
    isOurs: false,
    proxy,
    answersAfter: 'receipt',
    ask: (purchase) => askedAt(`http://127.0.0.1:${port}/work`, purchase),
    ...server,
  };
}
