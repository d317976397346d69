import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalChain } from '@agent-network/chain/local-chain';
import { until } from '../../../src/lib/concurrency/until.ts';
import { createTill } from '../../support/billing-agent.ts';
import { askDatabase } from '../../support/books.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../../support/database-proxy.ts';
import type { TestAccount, TestWallet } from '../../support/harness.ts';
import { type NodeCluster, type NodeProcess, startCluster } from '../../support/node-cluster.ts';
import type { TestDatabase } from '../../support/test-database.ts';
import { newClient } from '../../support/treasury.ts';
import { type BankAgent, startBankAgent } from './bank-agents.ts';
import { type BankChain, createBankChain } from './bank-chain.ts';
import { type ChannelClient, channelHostOf, newChannelClient } from './bank-channels.ts';
import { sendWithin } from './insist.ts';
import type { Random } from './random.ts';
import type { Tally } from './tally.ts';

export interface BankClient {
  readonly name: string;
  readonly key: string;
  readonly treasuryId: string;
  readonly wallet: TestWallet;
  readonly channel: ChannelClient;
}

/** The scene of clients and audit: a node, run in any way, with its agents and its clients. */
export interface BankScene extends Pick<NodeCluster, 'usdcOf' | 'databaseUrl' | 'walletAddress' | 'ctx'> {
  readonly tally: Tally;
  readonly owner: TestAccount;
  readonly agents: readonly BankAgent[];
  readonly clients: readonly BankClient[];
  /** One process, as a load balancer chooses. */
  baseUrl(): string;
  readonly chain: Pick<LocalChain, 'rpcUrl'>;
  readonly bankChain: BankChain;
  /** How long a client goes on asking; default two minutes. */
  readonly untilAnsweredMs?: number;
}

/** Processes of one node on one database and one chain, their agents and their clients, and what is done to them. */
export interface BankWorld extends NodeCluster, BankScene {
  readonly chain: LocalChain;
  /** The way of the processes to their database; the audit has its own. */
  readonly databaseProxy: DatabaseProxy;
  readonly seats: readonly Seat[];
}

/** The place of one process, which is taken by another when it dies. */
export interface Seat {
  readonly current: NodeProcess | null;
  /** kill -9; another takes its place after a while. */
  kill(restAfterMs: number): void;
  /** Asks it to end; another takes its place. Resolves when somebody sits on it. */
  restart(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Takes the seat if it is free; resolves when somebody sits on it. */
  untilTaken(): Promise<void>;
}

const PRICE = '0.01';
export const FUNDS = '50.00';
export const FUNDS_MICRO = 50_000_000n;
export const WALLET_MICRO = 1_000_000_000n;
const START_AGAIN_MS = 300;
/** Channels are claimed now and again while all else goes on. */
const CLAIMS = { CHANNEL_MIN_DEPOSIT: '0.01', CHANNEL_CLAIM_THRESHOLD: '0.03', CHANNEL_CLAIM_INTERVAL_SECONDS: '2' };

export interface BankParts {
  readonly seed: string;
  readonly random: Random;
  readonly tally: Tally;
  readonly processes: number;
  readonly clients: number;
  readonly agents: number;
  readonly chain?: LocalChain;
  readonly database?: TestDatabase;
  /** Further settings of each process; default: its database by way of the proxy. */
  readonly seatEnv?: (index: number) => NodeJS.ProcessEnv;
  /** The program of each process, asked at each start; default: that of the code here. */
  readonly seatProgram?: (index: number) => string | undefined;
  /** Where clients reach the node; default: any of its processes. */
  readonly front?: string;
}

export async function startBankWorld(parts: BankParts): Promise<BankWorld> {
  const { random, tally } = parts;
  // Processes that do not start while the chain is disturbed would tell it at length.
  const cluster = await startCluster({ ...parts, stderr: 'ignore' });
  const databaseProxy = await startDatabaseProxy(cluster.databaseUrl);
  const seatEnv = parts.seatEnv ?? (() => ({ DATABASE_URL: databaseProxy.url }));
  const start = (index: number) => () =>
    cluster.startProcess({ ...CLAIMS, ...seatEnv(index) }, parts.seatProgram?.(index));
  const seats = await Promise.all(Array.from({ length: parts.processes }, (_, index) => takeSeat(start(index), tally)));
  const baseUrl = () => {
    if (parts.front) return parts.front;
    const taken = seats.flatMap(({ current }) => (current ? [current.baseUrl] : []));
    return taken.length === 0 ? 'http://127.0.0.1:9' : random.pick(taken);
  };
  const host = {
    ...cluster,
    request: (method: string, path: string, options = {}) => sendUntilTaken(baseUrl, method, path, options),
  };
  const owner = await cluster.newAccount();
  const bankChain = createBankChain(cluster);
  const agents = await Promise.all(
    Array.from({ length: parts.agents }, (_, index) => {
      const till = index === 0 ? createTill({ ...cluster, rpcUrl: cluster.chain.rpcUrl, ...bankChain }) : undefined;
      return startBankAgent(host, { owner, seed: `${parts.seed} ${index}`, perRequest: PRICE, till });
    }),
  );
  const channelHost = await channelHostOf(cluster);
  const clients = await Promise.all(
    Array.from({ length: parts.clients }, async (_, index): Promise<BankClient> => {
      const { key, treasuryId } = await newClient(host, FUNDS);
      const channel = newChannelClient(channelHost);
      await cluster.chain.fund([{ address: channel.wallet.address, ethWei: 0n, usdcMicro: WALLET_MICRO }]);
      const wallet = await cluster.newWallet(WALLET_MICRO);
      return { name: `client ${index}`, key, treasuryId, wallet, channel };
    }),
  );
  await untilItReads(cluster);
  return {
    ...cluster,
    bankChain,
    tally,
    owner,
    agents,
    clients,
    baseUrl,
    databaseProxy,
    seats,
    async stop() {
      for (const seat of seats) seat.thaw();
      await Promise.all(agents.map((agent) => agent.die()));
      await cluster.stop();
      await databaseProxy.stop();
    },
  };
}

/** Retries requests that a busy machine refused without starting them, so that agents and clients join as soon as there is room. */
async function sendUntilTaken(baseUrl: () => string, ...[method, path, options]: Asked): ReturnType<typeof sendWithin> {
  const taken = async () => {
    const answer = await sendWithin(baseUrl(), method, path, options);
    return answer.status === 503 && answer.body?.error?.details?.outcome === 'nothing' ? null : answer;
  };
  const answer = await until(taken, { timeoutMs: 60_000, firstMs: 100, maxMs: 1000 });
  return answer ?? sendWithin(baseUrl(), method, path, options);
}

type Asked = Parameters<typeof sendWithin> extends [string, ...infer Rest] ? Rest : never;

/** Waits until the node reads the chain, as earlier transfers belong to its operator. */
export async function untilItReads({ databaseUrl }: Pick<NodeCluster, 'databaseUrl'>): Promise<void> {
  const read = async () => ((await askDatabase(databaseUrl, 'select 1 from transfer_point')).length > 0 ? true : null);
  if (!(await until(read, { timeoutMs: 60_000, firstMs: 50, maxMs: 200 }))) throw new Error('no transfer is read');
}

async function takeSeat(start: () => Promise<NodeProcess>, tally: Tally): Promise<Seat> {
  let current: NodeProcess | null = await start();
  let taking: Promise<void> | null = null;

  /** A process that cannot reach chain or database does not start; it is started until it does. */
  async function take(restMs: number): Promise<void> {
    await sleep(restMs);
    while (!current) {
      current = await start().catch(async () => {
        tally.count('faults', 'a process could not start');
        await sleep(START_AGAIN_MS);
        return null;
      });
    }
    taking = null;
  }

  return {
    get current() {
      return current;
    },
    kill(restMs) {
      if (!current) return;
      void current.kill();
      current = null;
      taking = take(restMs);
    },
    async restart() {
      const before = current;
      await before?.terminate();
      current = null;
      taking = take(0);
      await taking;
    },
    freeze: () => void current?.child.kill('SIGSTOP'),
    thaw: () => void current?.child.kill('SIGCONT'),
    untilTaken: () => taking ?? Promise.resolve(),
  };
}
