import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import type { NodeContext } from '../../src/compose/context.ts';
import { readConfig } from '../../src/config/config.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { type RunningNode, startNode } from '../../src/node.ts';
import { type Harness, newAccount, newWallet, send } from './harness.ts';
import { SMALLEST } from './smallest-amounts.ts';

/** A node of one process that is stopped and started on another database, with the same keys and the same chain. */
export interface RestorableNode
  extends Pick<Harness, 'baseUrl' | 'request' | 'newAccount' | 'newWallet' | 'usdcOf' | 'ctx'> {
  readonly chain: LocalChain;
  readonly walletAddress: string;
  /** Starts it on a database, after it was stopped. */
  startOn(databaseUrl: string): Promise<void>;
  stopNode(): Promise<void>;
  /** Stops the chain as well. */
  stop(): Promise<void>;
}

/** `env` is read at each start. */
export async function createRestorableNode(
  port: number,
  env: Record<string, string | undefined> = {},
): Promise<RestorableNode> {
  const chain = await startLocalChain();
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-restored-'));
  const settlementKey = generatePrivateKey();
  const walletAddress = privateKeyToAddress(settlementKey).toLowerCase();
  await chain.fund([{ address: walletAddress as `0x${string}`, ethWei: 10n ** 19n, usdcMicro: 0n }]);
  let node: RunningNode | null = null;
  const context = (): NodeContext => {
    if (!node) throw new Error('the node is stopped');
    return node.ctx;
  };
  const baseUrl = `http://127.0.0.1:${port}`;
  const stopNode = async () => {
    await node?.stop();
    node = null;
  };
  return {
    chain,
    walletAddress,
    baseUrl,
    get ctx() {
      return context();
    },
    request: (method, path, options) => send(baseUrl, method, path, options),
    newAccount: (options) => newAccount(context(), options),
    newWallet: (micro = 1_000_000_000n) => newWallet(chain.rpcUrl, chain.usdc, micro),
    usdcOf: (address) => context().usdc.balanceOf(address),
    async startOn(databaseUrl) {
      const { config, secrets } = readConfig({
        ...SMALLEST,
        SEARCH_BY: 'words',
        PORT: String(port),
        DATA_DIR: dataDir,
        DATABASE_URL: databaseUrl,
        DATABASE_CONNECTIONS: '8',
        CHAIN_RPC_URL: chain.rpcUrl,
        SETTLEMENT_PRIVATE_KEY: settlementKey,
        SECRET_KEY: 'the same before and after the restore',
        REGISTRAR_PRIVATE_KEY: '',
        REGISTRY_POLL_MS: '2000',
        LOG_LEVEL: 'silent',
        ...env,
      });
      node = await startNode({ config, secrets, log: silentLog, checksAnswers: true, maxAgeMs: 0 });
    },
    stopNode,
    async stop() {
      await stopNode();
      await chain.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
