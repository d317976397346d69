import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LocalChain } from '@agent-network/chain/local-chain';
import { createClient } from '@agent-network/sdk';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { startRpcProxy } from '../../packages/service/test/support/rpc-proxy.ts';
import type { Local } from '../service-under-test.ts';
import type { StopList } from '../stop-list.ts';
import { askedAt, type Contender } from './contender.ts';
import { PRICE } from './purchase.ts';
import { freePort, startRestartable } from './restartable.ts';
import type { Worker } from './worker.ts';

const main = fileURLToPath(new URL('../../packages/service/src/main.ts', import.meta.url));

/** More than the price of a purchase: something is left to be refunded. */
const MIN_DEPOSIT = '0.05';

/**
 * A node as `npm start` has it, but on this chain; the worker is an agent of it. Once paid by `exact` with a key, and once through channels
 * by wallets alone.
 */
export async function startOurs(stops: StopList, chain: LocalChain, worker: Worker): Promise<Contender[]> {
  const proxy = await startRpcProxy(chain.rpcUrl);
  stops.add(() => proxy.stop());
  const settlementKey = generatePrivateKey();
  await chain.fund([{ address: privateKeyToAddress(settlementKey), ethWei: 10n ** 22n, usdcMicro: 0n }]);
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-faults-'));
  stops.add(() => rm(dataDir, { recursive: true, force: true }));
  const server = await startRestartable(stops, {
    args: [main],
    env: {
      DATA_DIR: dataDir,
      PORT: String(await freePort()),
      LOG_LEVEL: 'error',
      CHAIN_RPC_URL: proxy.url,
      SETTLEMENT_PRIVATE_KEY: settlementKey,
      CHANNEL_MIN_DEPOSIT: MIN_DEPOSIT,
    },
    ready: /is running at/,
  });
  const { baseUrl, apiKey } = JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8')) as Local;
  const agentId = await enlist({ baseUrl, apiKey }, worker);
  const headers = { authorization: `Bearer ${apiKey}`, 'x-payment-method': 'x402' };
  const shared = { isOurs: true, proxy, answersAfter: 'work', ...server } as const;
  return [
    {
      ...shared,
      name: 'agent-network',
      ask: (purchase) => askedAt(`${baseUrl}/invoke/${agentId}`, purchase, headers),
    },
    {
      ...shared,
      name: 'agent-network, by channel',
      channelChain: chain.rpcUrl,
      ask: (purchase) => askedAt(`${baseUrl}/x402/${agentId}`, purchase),
    },
  ];
}

/** Registers the worker; it is online when this resolves. */
async function enlist(account: { baseUrl: string; apiKey: string }, worker: Worker): Promise<string> {
  const client = createClient(account);
  const { id, identityToken } = await client.registerAgent({
    body: {
      name: 'Worker',
      description: 'Does the work that both contenders sell.',
      capabilities: ['work'],
      rates: { perRequest: PRICE },
      endpoint: worker.agentUrl,
    },
  });
  worker.becomeAgent({ id, identityToken });
  while ((await client.getAgent({ params: { id } })).status !== 'online') await sleep(20);
  return id;
}
