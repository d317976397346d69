import { identityRegistryByChain, LOCAL_CHAIN_ID } from '@agent-network/chain/addresses';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { numberToHex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { createRegistryReader, type RegistryReader } from '../../src/registry/read/read-registry.ts';
import { createRegistryClient, type RegistryClient } from '../../src/registry/read/registry-log-client.ts';
import { createRegistryTokens } from '../../src/registry/read/registry-tokens.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts';
import { createTestDatabase } from './test-database.ts';

const NEVER_S = 1_000_000;
/** On a machine that is busy, a run is still all that there is to read. */
const READS_FOR_MS = 60_000;
export const REGISTRY = identityRegistryByChain[LOCAL_CHAIN_ID].toLowerCase();

export interface IndexOptions {
  readonly databaseUrl: string;
  readonly client: RegistryClient;
  readonly clock?: Clock;
  readonly startBlock?: bigint;
  readonly isLocal?: boolean;
}

export type IndexContext = ReturnType<typeof indexContext>;

/** Context of the index. */
export function indexContext({ databaseUrl, client, clock, startBlock = 0n, isLocal = true }: IndexOptions) {
  const base = {
    db: openDatabase(databaseUrl, { max: 4, log: silentLog }),
    clock: clock ?? systemClock,
    registry: { chainId: LOCAL_CHAIN_ID, address: REGISTRY, startBlock, isLocal, pollMs: 250 },
  };
  return {
    ...base,
    log: silentLog,
    metrics: createMetrics(),
    registryClient: client,
    registryTokens: createRegistryTokens(base),
    chain: { wallet: privateKeyToAddress(generatePrivateKey()).toLowerCase() } as never,
    nodeLabel: 'test',
  };
}

const TABLES = 'registry_point, registry_log, registry_token, registry_change, registry_reading';
const ROWS = `
  select (select json_agg(l order by block_number, log_index) from registry_log l) as logs,
         (select json_agg(t order by token_id) from registry_token t) as tokens`;

export interface IndexRows {
  // biome-ignore lint/suspicious/noExplicitAny: rows as the database has them
  readonly logs: any[] | null;
  // biome-ignore lint/suspicious/noExplicitAny: rows as the database has them
  readonly tokens: any[] | null;
}

/** Every row that says what the chain says. */
export async function rowsOf(db: Database): Promise<IndexRows> {
  const [rows] = await db.query<IndexRows>('', ROWS);
  return rows ?? { logs: null, tokens: null };
}

export interface TestIndex {
  readonly ctx: IndexContext;
  readonly reader: RegistryReader;
  readonly databaseUrl: string;
  rows(): Promise<IndexRows>;
  /** Deletes everything read so far. */
  clear(): Promise<void>;
  block(): Promise<bigint | null>;
  stop(): Promise<void>;
}

/** An index in a database of its own, or another process of one. */
export async function newIndex(options: Omit<IndexOptions, 'databaseUrl'> & { of?: TestIndex }): Promise<TestIndex> {
  const database = options.of ? null : await createTestDatabase();
  const databaseUrl = options.of?.databaseUrl ?? database?.url ?? '';
  const ctx = indexContext({ ...options, databaseUrl });
  return {
    ctx,
    reader: createRegistryReader(ctx, READS_FOR_MS),
    databaseUrl,
    rows: () => rowsOf(ctx.db),
    clear: async () => void (await ctx.db.query('', `truncate ${TABLES}`)),
    async block() {
      const [row] = await ctx.db.query<{ block: bigint | null }>(
        '',
        'select max(block_number) as block from registry_point',
      );
      return row?.block ?? null;
    },
    async stop() {
      await ctx.db.close();
      await database?.drop();
    },
  };
}

/** A chain with a registry that mines on demand, with a proxy to it that can be disturbed. */
export interface RegistryChain {
  readonly chain: LocalChain;
  readonly proxy: RpcProxy;
  /** Over the proxy. */
  readonly client: RegistryClient;
  /** A client that treats the chain like one that is not for development. */
  readonly realClient: RegistryClient;
  /** Rows of a new index that reads the whole chain. */
  freshRows(): Promise<IndexRows>;
  mine(blocks: number): Promise<void>;
  /** Removes the newest blocks, and mines as many and one more without their transactions. */
  replace(blocks: number): Promise<void>;
  headBlock(): Promise<number>;
  stop(): Promise<void>;
}

export const clientOf = (rpcUrl: string, isLocal: boolean): RegistryClient =>
  createRegistryClient({
    rpcUrl,
    registry: { chainId: LOCAL_CHAIN_ID, address: REGISTRY, startBlock: 0n, isLocal, pollMs: 250 },
  });

export async function startRegistryChain(): Promise<RegistryChain> {
  const chain = await startLocalChain({ pastStates: 64, blockTimeS: NEVER_S, idleBlockTimeS: NEVER_S });
  const proxy = await startRpcProxy(chain.rpcUrl);
  const mine = async (blocks: number) => void (await callChain(chain.rpcUrl, 'anvil_mine', numberToHex(blocks)));
  const fresh = await newIndex({ client: clientOf(chain.rpcUrl, true) });
  return {
    chain,
    proxy,
    client: clientOf(proxy.url, true),
    realClient: clientOf(proxy.url, false),
    async freshRows() {
      await fresh.clear();
      await fresh.reader.read();
      return fresh.rows();
    },
    mine,
    async replace(blocks) {
      await callChain(chain.rpcUrl, 'anvil_rollback', blocks);
      await callChain(chain.rpcUrl, 'evm_increaseTime', 1);
      await mine(blocks + 1);
    },
    headBlock: async () => Number(await callChain(chain.rpcUrl, 'eth_blockNumber')),
    async stop() {
      await fresh.stop();
      await proxy.stop();
      await chain.stop();
    },
  };
}
