import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fundWallets } from '@agent-network/chain/chain-funding';
import { createClient, createPayer } from '@agent-network/sdk';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { issueApiKey } from '../../packages/service/src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../packages/service/src/accounts/open-account.ts';
import { systemClock } from '../../packages/service/src/lib/clock.ts';
import { silentLog } from '../../packages/service/src/lib/telemetry/log.ts';
import { openDatabase } from '../../packages/service/src/store/database.ts';
import { startDnsServer } from '../../packages/service/test/support/dns-server.ts';
import { type ServiceProcess, startService } from '../../packages/service/test/support/service-process.ts';
import type { StopList } from '../stop-list.ts';
import { createHonest, type Honest } from './honest.ts';
import { productionLimits, shortenedLimits } from './limits.ts';
import type { HostileAccount } from './site.ts';
import type { Watched } from './watch-node.ts';

export interface World {
  readonly local: ServiceProcess['local'];
  readonly node: Watched;
  readonly honest: Honest;
  /** A new account of the attacker, with money in its wallet. */
  openHostile(plan: 'free' | 'enterprise'): Promise<HostileAccount>;
}

const DEPOSIT_USDC = '1000';

/** A node as started by `npm start`, but with the limits of production, and an honest account with a full treasury. */
export async function startWorld(stops: StopList): Promise<World> {
  const dns = await startDnsServer(() => null);
  stops.add(() => dns.stop());
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-hostile-'));
  stops.add(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const service = await startService({
    dataDir: folder,
    env: { ...productionLimits, ...shortenedLimits, DNS_SERVERS: dns.address, LOG_LEVEL: 'error', DASHBOARD: 'false' },
  });
  stops.add(() => service.interrupt());
  const { local } = service;
  const db = openDatabase(local.database, { max: 1, log: silentLog });
  stops.add(() => db.close());
  const ctx = { db, clock: systemClock, keyMode: 'test' } as const;
  await fillTreasury(local);
  const echo = local.agents.find(({ name }) => name === 'Echo');
  if (!echo) throw new Error('the node has no echo agent');
  await untilOnline(local.baseUrl, echo.id);
  const honest = createHonest({ baseUrl: local.baseUrl, apiKey: local.apiKey, agentId: echo.id });
  stops.add(async () => honest.close());
  return {
    local,
    node: { pid: service.pid, database: local.database, rpcUrl: local.chain.rpcUrl, lookUps: () => dns.asked.length },
    honest,
    async openHostile(plan) {
      const privateKey = generatePrivateKey();
      const address = privateKeyToAddress(privateKey);
      const { accountId } = await openAccount(ctx, { address, plan, isWalletProven: true });
      const { apiKey } = await issueApiKey(ctx, {
        accountId,
        name: 'hostile',
        scopes: [
          'agents:write',
          'invoke',
          'payments:read',
          'payments:write',
          'payments:withdraw',
          'keys:manage',
          'webhooks:manage',
        ],
        expiresAt: null,
      });
      await fundWallets(local.chain.rpcUrl, local.chain.usdc, [{ address, ethWei: 0n, usdcMicro: 10_000_000n }]);
      return { apiKey, accountId, privateKey, address };
    },
  };
}

async function fillTreasury({ baseUrl, apiKey, chain, wallets }: ServiceProcess['local']): Promise<void> {
  const [wallet] = wallets;
  if (!wallet) throw new Error('the node has no funded wallet');
  const { address, privateKey } = wallet;
  await fundWallets(chain.rpcUrl, chain.usdc, [{ address, ethWei: 0n, usdcMicro: 2_000_000_000n }]);
  const client = createClient({ baseUrl, apiKey, payer: createPayer({ privateKey, maxPerCall: DEPOSIT_USDC }) });
  const { treasuryId } = await client.createTreasury();
  await client.depositToTreasury({ body: { amount: DEPOSIT_USDC, treasuryId } });
}

async function untilOnline(baseUrl: string, id: string): Promise<void> {
  const client = createClient({ baseUrl });
  while ((await client.getAgent({ params: { id } })).status !== 'online') await sleep(50);
}
