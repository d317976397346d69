import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testUsdcAbi } from '@agent-network/chain/artifacts';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import type { Plan } from '@agent-network/contracts/access/access';
import { scopes as allScopes, type Scope } from '@agent-network/contracts/access/scopes';
import { type Dispatcher, request } from 'undici';
import { encodeFunctionData } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { issueApiKey } from '../../src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../src/accounts/open-account.ts';
import type { NodeContext } from '../../src/compose/context.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import type { DashboardBuild } from '../../src/http/site/dashboard-build.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { type Log, silentLog } from '../../src/lib/telemetry/log.ts';
import { type RunningNode, startNode } from '../../src/node.ts';
import { DatabaseAwayError } from '../../src/store/database-away.ts';
import { SMALLEST } from './smallest-amounts.ts';
import { createTestDatabase } from './test-database.ts';
import { WAIT_MS } from './until.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export interface RequestOptions {
  readonly key?: string | undefined;
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly text?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
}

export interface TestAccount {
  readonly accountId: string;
  readonly address: string;
  readonly key: string;
}

export type TestWallet = ReturnType<typeof privateKeyToAccount>;

export interface Harness {
  readonly ctx: NodeContext;
  readonly baseUrl: string;
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  /** Removed by `stop`. */
  readonly dataDir: string;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** A new account with a key; enterprise and all scopes unless said otherwise. */
  newAccount(options?: { plan?: Plan; scopes?: readonly Scope[]; isWalletProven?: boolean }): Promise<TestAccount>;
  /** A new wallet that holds test USDC on the chain. */
  newWallet(usdcMicro?: bigint): Promise<TestWallet>;
  usdcOf(address: string): Promise<bigint>;
  stop(): Promise<void>;
}

export interface HarnessOptions {
  readonly env?: Record<string, string>;
  readonly clock?: Clock;
  /** The machine's clock, put wrong; the node's time is still the database's. */
  readonly ownClock?: Clock;
  readonly syncWaitMs?: number;
  /** Default 0: a read sees what the test has written before it, through whatever connection. */
  readonly maxAgeMs?: number;
  /** True to write to the shared registry, as nodes do in local mode. Default: false, because those writes run beside the test. */
  readonly registers?: boolean;
  /**
   * True to follow the shared registry as closely as nodes in local mode do. Default: as `registers`, since unused reading slows down the
   * rest.
   */
  readonly followsRegistry?: boolean;
  readonly log?: Log;
  readonly dashboard?: DashboardBuild;
  /** Networks beside the node's own chain. */
  readonly furtherNetworks?: Config['furtherNetworks'];
}

/** On a machine that is busy with something else, what writes waits for its turn, and is not refused. */
export const PATIENT = { MAX_QUEUE_MS: '30000' };

/** The free plan as it is on a chain with real money. */
export const FREE_PLAN = { FREE_REQUESTS_PER_HOUR: '100', FREE_INVOCATIONS_PER_HOUR: '10' };

/** A whole node in this process: its own database, its own chain, real HTTP; every answer is checked against its schema. */
export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'agent-network-harness-'));
  const { config: configured, secrets } = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: database.url,
    LOG_LEVEL: 'silent',
    // Each costs the server a process, and plans every statement anew: with the default, opening them is a third of the start.
    DATABASE_CONNECTIONS: '5',
    // Reading texts for the search by meaning takes processor time: tests that are about it switch it on.
    SEARCH_BY: 'words',
    ...PATIENT,
    ...SMALLEST,
    ...FREE_PLAN,
    ...(options.registers ? {} : { REGISTRAR_PRIVATE_KEY: '' }),
    ...((options.followsRegistry ?? options.registers) ? {} : { REGISTRY_POLL_MS: '2000' }),
    ...options.env,
  });
  const { clock, ownClock, syncWaitMs, dashboard, maxAgeMs = 0, furtherNetworks = [] } = options;
  const config = { ...configured, furtherNetworks };
  const changed = {
    maxAgeMs,
    ...(clock ? { clock } : {}),
    ...(ownClock ? { ownClock } : {}),
    ...(dashboard ? { dashboard } : {}),
    ...(syncWaitMs === undefined ? {} : { syncWaitMs }),
  };
  const start = () => startNode({ config, secrets, log: options.log ?? silentLog, checksAnswers: true, ...changed });
  // A hook has no second try of its own: on a busy machine the server may take longer than a connection waits.
  let node: RunningNode | null = await start().catch((error) => {
    if (error instanceof DatabaseAwayError) return start();
    throw error;
  });
  const { baseUrl } = node;
  const rpcUrl = config.chainRpcUrl ?? node.local?.chainRpcUrl() ?? '';
  const running = (): NodeContext => {
    if (!node) throw new Error('this node was stopped');
    return node.ctx;
  };
  return {
    get ctx() {
      return running();
    },
    baseUrl,
    databaseUrl: database.url,
    rpcUrl,
    dataDir,
    request: (method, path, options) => send(baseUrl, method, path, options),
    newAccount: (account) => newAccount(running(), account),
    newWallet: (usdcMicro = 1_000_000_000n) => newWallet(rpcUrl, running().chain.token, usdcMicro),
    usdcOf: (address) => running().usdc.balanceOf(address),
    async stop() {
      await node?.stop();
      // Test files, and so their harnesses, are kept until the worker ends; a node has 20 MB.
      node = null;
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Sends by undici, which takes a third of the processor time of `fetch`; redirects are not followed. Retries requests that a node refused
 * without starting them because the machine was busy, as clients should.
 */
export async function send(
  baseUrl: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const endMs = performance.now() + WAIT_MS;
  for (;;) {
    const answer = await sendOnce(baseUrl, method, path, options);
    if (!wasKept(answer) || performance.now() > endMs) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const KEPT: readonly unknown[] = [
  'The node is overloaded. Nothing was done; repeat the request later.',
  'The registry view is temporarily out of date. Repeat the request.',
];
const wasKept = ({ status, body }: Answer): boolean => status === 503 && KEPT.includes(body?.error?.message);

/** Sends like `send`, but returns the first answer. */
export async function sendOnce(
  baseUrl: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const body = options.text ?? (options.body === undefined ? null : JSON.stringify(options.body));
  const headers = {
    ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
    ...(body === null ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  };
  const answer = await request(baseUrl + path, { method: method as Dispatcher.HttpMethod, headers, body });
  return { status: answer.statusCode, headers: headersOf(answer), body: parse(await answer.body.text()) };
}

function headersOf({ headers }: Dispatcher.ResponseData): Headers {
  const pairs = Object.entries(headers).flatMap(([name, value = '']) => [value].flat().map((each) => [name, each]));
  return new Headers(pairs as [string, string][]);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Puts an account and a key into the database of a node. */
export async function newAccount(
  ctx: Parameters<typeof openAccount>[0] & Parameters<typeof issueApiKey>[0],
  { plan = 'enterprise', scopes = allScopes, isWalletProven = true }: Parameters<Harness['newAccount']>[0] = {},
): Promise<TestAccount> {
  const { address } = privateKeyToAccount(generatePrivateKey());
  const account = await openAccount(ctx, { address, plan, isWalletProven });
  const key = await issueApiKey(ctx, { accountId: account.accountId, name: 'test', scopes, expiresAt: null });
  return { ...account, key: key.apiKey };
}

export async function newWallet(
  rpcUrl: string,
  token: string,
  usdcMicro: bigint,
  privateKey = generatePrivateKey(),
): Promise<TestWallet> {
  const wallet = privateKeyToAccount(privateKey);
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args: [wallet.address, usdcMicro] });
  // One of its own for each wallet: calls at the same time would take each other's nonce.
  const minter = privateKeyToAccount(generatePrivateKey()).address;
  await callChain(rpcUrl, 'anvil_impersonateAccount', minter);
  const hash = await callChain(rpcUrl, 'eth_sendTransaction', { from: minter, to: token, data, gasPrice: '0x0' });
  while (!(await callChain(rpcUrl, 'eth_getTransactionReceipt', hash)))
    await new Promise((resolve) => setImmediate(resolve));
  return wallet;
}
