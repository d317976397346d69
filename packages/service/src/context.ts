import { caip2ByChain, usdcByChain, v1NetworkByChain } from '@agent-network/chain/addresses';
import { createAuthenticator } from './access/authenticate.ts';
import { createRateLimiter } from './access/rate-limiter.ts';
import { checkDueAgents } from './agents/check-agents.ts';
import { createListingReader } from './agents/discover-agents.ts';
import { createAgentFinder } from './agents/find-agent.ts';
import type { Config } from './config.ts';
import { openDatabase } from './db/database.ts';
import { createCourier } from './events/courier.ts';
import type { Subject } from './events/subjects.ts';
import type { HttpContext } from './http/http-context.ts';
import { createWalletSignatures } from './identity/wallet-signature-client.ts';
import { createAcceptor } from './invocations/accept-invocations.ts';
import { createBeginner } from './invocations/begin-invocations.ts';
import { createChangeHub } from './invocations/change-hub.ts';
import { createFinisher } from './invocations/finish-invocations.ts';
import { readSubject } from './invocations/read-subject.ts';
import { createBacklog } from './invocations/run-queued.ts';
import { createRunner } from './invocations/runner.ts';
import type { JobContext } from './jobs.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { createGuardedFetch } from './lib/guarded-fetch.ts';
import type { Log } from './lib/log.ts';
import { createMetrics } from './lib/metrics.ts';
import { createSecrets } from './lib/secrets.ts';
import { createSimulator } from './payments/authorize-payment.ts';
import { createSeenTreasuries } from './payments/treasury.ts';
import type { ChainInfo } from './payments/x402/chain-info.ts';
import { createNodeWallet } from './payments/x402/node-wallet.ts';
import { createSettler } from './payments/x402/settler.ts';
import { createUsdcClient } from './payments/x402/usdc-client.ts';
import { type Heartbeat, startHeartbeat } from './queue/heartbeat.ts';

export type NodeContext = HttpContext & JobContext & { readonly heartbeat: Heartbeat };

export interface ContextParts {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly chainRpcUrl: string;
  readonly baseUrl: string;
  readonly settlementPrivateKey: `0x${string}`;
  readonly secretKey: string;
  readonly log: Log;
  readonly isReady: () => boolean;
  readonly clock?: Clock;
  readonly checksAnswers?: boolean;
}

/** The composition root: the only place that constructs things. Throws when the chain is not the configured one. */
export async function createContext(parts: ContextParts): Promise<NodeContext> {
  const { config, log } = parts;
  const clock = parts.clock ?? systemClock;
  const token = usdcByChain[config.chainId].toLowerCase();
  const usdc = createUsdcClient({ rpcUrl: parts.chainRpcUrl, token });
  const wallet = createNodeWallet(parts.settlementPrivateKey);
  const chain = await readChain(config, usdc, token, wallet.address);
  const db = openDatabase(parts.databaseUrl, { max: config.databaseConnections, log });
  const heartbeat = await startHeartbeat({ db, log }, { label: config.nodeLabel });
  const base = {
    db,
    log,
    clock,
    chain,
    usdc,
    wallet,
    heartbeat,
    metrics: createMetrics(),
    processId: () => heartbeat.processId(),
    secrets: createSecrets(parts.secretKey),
    guardedFetch: createGuardedFetch({
      allowPrivate: config.allowPrivateEndpoints,
      userAgent: 'agent-network',
      connections: 512,
    }),
    rateLimiter: createRateLimiter({ db, clock }),
    authenticator: createAuthenticator({ db, clock }),
    changeHub: createChangeHub(),
    runner: createRunner({ maxRunning: config.maxRunning }),
    acceptor: createAcceptor({ db, clock }),
    beginner: createBeginner({ db, clock }),
    listing: createListingReader({ db }),
    agentFinder: createAgentFinder({ db }),
    simulator: createSimulator({ usdc }),
    walletSignatures: createWalletSignatures({ rpcUrl: parts.chainRpcUrl }),
    seenTreasuries: createSeenTreasuries(),
    planLimits: config.planLimits,
    nodeLabel: config.nodeLabel,
    baseUrl: parts.baseUrl,
    keyMode: config.chainId === 8453 ? ('live' as const) : ('test' as const),
    checksAnswers: parts.checksAnswers ?? false,
    isReady: parts.isReady,
    readSubject: (subject: Subject) => readSubject({ db }, subject),
  };
  const settler = createSettler(base);
  const courier = createCourier(base);
  const finisher = createFinisher({ ...base, courier });
  const backlog = createBacklog({ ...base, finisher });
  base.runner.onRoom(() => {
    if (backlog.isWaiting())
      void backlog.pump().catch((error) => log.error({ err: error }, 'taking queued requests failed'));
  });
  const agentChecks = createNudge(() => checkDueAgents(base), log);
  return { ...base, settler, finisher, backlog, agentChecks, courier };
}

async function readChain(
  config: Config,
  usdc: ReturnType<typeof createUsdcClient>,
  token: string,
  wallet: string,
): Promise<ChainInfo> {
  const chainId = await usdc.chainId();
  if (chainId !== config.chainId)
    throw new Error(`CHAIN_RPC_URL is of chain ${chainId}, but CHAIN_ID says ${config.chainId}.`);
  const { name, version, domainSeparator } = await usdc.readToken();
  return {
    chainId,
    caip2: caip2ByChain[config.chainId],
    name: v1NetworkByChain[config.chainId],
    token,
    tokenName: name,
    tokenVersion: version,
    domainSeparator,
    wallet,
  };
}

/** Runs work soon after being asked, once however often it is asked meanwhile. */
function createNudge(work: () => Promise<void>, log: Log): { nudge(): void } {
  let isDue = false;
  const run = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    isDue = false;
    await work();
  };
  return {
    nudge() {
      if (isDue) return;
      isDue = true;
      run().catch((error) => log.error({ err: error }, 'checking agents failed'));
    },
  };
}
