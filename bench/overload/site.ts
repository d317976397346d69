import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
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
import { type ServiceProcess, startService } from '../../packages/service/test/support/service-process.ts';
import type { StopList } from '../stop-list.ts';

export interface PayingAccount {
  readonly apiKey: string;
  readonly accountId: string;
  readonly privateKey: `0x${string}`;
}

/** A node of its own, as `npm start` has it. */
export interface BenchSite {
  readonly service: ServiceProcess;
  readonly echoId: string;
  /** True when the node has a processor to itself; all else shares the other. */
  readonly isPinned: boolean;
  /** A new account with this in its treasury, and as much in its wallet. */
  openPaying(usdc: number): Promise<PayingAccount>;
}

export async function startSite(stops: StopList, env: Record<string, string> = {}): Promise<BenchSite> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-overload-'));
  stops.add(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const service = await startService({ dataDir: folder, env: { LOG_LEVEL: 'error', DASHBOARD: 'false', ...env } });
  stops.add(() => service.interrupt());
  const { local } = service;
  const echo = local.agents.find(({ name }) => name === 'Echo');
  if (!echo) throw new Error('the node has no echo agent');
  const client = createClient({ baseUrl: local.baseUrl });
  while ((await client.getAgent({ params: { id: echo.id } })).status !== 'online') await sleep(50);
  const db = openDatabase(local.database, { max: 1, log: silentLog });
  stops.add(() => db.close());
  return {
    ...{ service, echoId: echo.id, isPinned: await pin(service.pid) },
    async openPaying(usdc) {
      const privateKey = generatePrivateKey();
      const address = privateKeyToAddress(privateKey);
      const ctx = { db, clock: systemClock, keyMode: 'test' } as const;
      const { accountId } = await openAccount(ctx, { address, plan: 'enterprise', isWalletProven: true });
      const scopes = ['agents:write', 'invoke', 'payments:read', 'payments:write', 'webhooks:manage'] as const;
      const { apiKey } = await issueApiKey(ctx, { accountId, name: 'bench', scopes: [...scopes], expiresAt: null });
      const usdcMicro = BigInt(usdc) * 2_000_000n;
      await fundWallets(local.chain.rpcUrl, local.chain.usdc, [{ address, ethWei: 0n, usdcMicro }]);
      const payer = createPayer({ privateKey, maxPerCall: String(usdc) });
      const paying = createClient({ baseUrl: local.baseUrl, apiKey, payer });
      const { treasuryId } = await paying.createTreasury();
      await paying.depositToTreasury({ body: { amount: String(usdc), treasuryId } });
      return { apiKey, accountId, privateKey };
    },
  };
}

/** Linux, two processors: the node's threads on the first; database, chain and this process with its children on the second. */
async function pin(nodePid: number): Promise<boolean> {
  if (process.platform !== 'linux' || availableParallelism() < 2) return false;
  const others = [...(await descendantsOf(nodePid)), process.pid];
  try {
    execFileSync('taskset', ['-a', '-p', '-c', '0', String(nodePid)], { stdio: 'ignore' });
    for (const pid of others) execFileSync('taskset', ['-a', '-p', '-c', '1', String(pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function descendantsOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter(Boolean).map(Number);
  return [...children, ...(await Promise.all(children.map(descendantsOf))).flat()];
}
