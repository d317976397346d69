import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  readonly requestDuration: Histogram<'route' | 'status'>;
  readonly invocationsEnded: Counter<'status' | 'reason'>;
  readonly settlements: Counter<'outcome'>;
  readonly nativeSignatures: Gauge;
  readonly gasBalance: Gauge<'signer'>;
  readonly unknownPayments: Gauge;
  readonly oldestUnknownSeconds: Gauge;
  readonly reservesDifference: Gauge;
  readonly moneyContradictions: Counter<'kind'>;
  readonly requestsShed: Counter;
  readonly queueRunning: Gauge;
  readonly queueRestarts: Counter;
  readonly queueOldestDueSeconds: Gauge;
  readonly registryBlock: Gauge;
  readonly registryLagBlocks: Gauge;
  readonly registryLogs: Counter<'kind'>;
  readonly registryReorgs: Counter;
  readonly networkNodes: Gauge<'status'>;
  readonly networkAgents: Gauge;
  readonly networkIgnored: Counter<'reason'>;
  readonly networkFeedFailures: Counter<'reason'>;
}

export interface HasMetrics {
  readonly metrics: Metrics;
}

/** Numbers of this process, in a registry of their own: two nodes in one process (in tests) do not mix. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    requestDuration: new Histogram({
      name: 'http_server_request_duration_seconds',
      help: 'Time from the request to its answer, by endpoint and status.',
      labelNames: ['route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    invocationsEnded: new Counter({
      name: 'invocations_ended_total',
      help: 'Invocations that ended, by state and by the reason of a failure.',
      labelNames: ['status', 'reason'],
      registers,
    }),
    settlements: new Counter({
      name: 'settlements_total',
      help: 'Payments brought onto the chain, by outcome. `unknown` ones are decided by the reconciler.',
      labelNames: ['outcome'],
      registers,
    }),
    nativeSignatures: new Gauge({
      name: 'native_signatures',
      help: '1: signatures are checked by compiled code. 0: by JavaScript, many times slower, for want of a build of secp256k1.',
      registers,
    }),
    gasBalance: new Gauge({
      name: 'gas_balance_wei',
      help: 'ETH of each key that sends transactions, in wei.',
      labelNames: ['signer'],
      registers,
    }),
    unknownPayments: new Gauge({
      name: 'unknown_payments',
      help: 'Payments that ought to be settled or failed by now; the reconciler asks the chain about them.',
      registers,
    }),
    oldestUnknownSeconds: new Gauge({
      name: 'oldest_unknown_payment_seconds',
      help: 'Age of the oldest of them; 0 without any.',
      registers,
    }),
    reservesDifference: new Gauge({
      name: 'reserves_difference_micro',
      help: 'USDC of the wallet that the books do not explain, in millionths; below zero: it is missing.',
      registers,
    }),
    moneyContradictions: new Counter({
      name: 'money_contradictions_total',
      help: 'Contradictions that the audit of the books found, by kind. Each is a fault of the node.',
      labelNames: ['kind'],
      registers,
    }),
    ...queueMetrics(registers),
    ...registryMetrics(registers),
    ...networkMetrics(registers),
  };
}

const queueMetrics = (registers: Registry[]) => ({
  requestsShed: new Counter({
    name: 'requests_shed_total',
    help: 'Requests answered with 503 at the door, as others waited too long for a database connection.',
    registers,
  }),
  queueRunning: new Gauge({
    name: 'queue_worker_running',
    help: '1 while this process runs background jobs, 0 while it is about to start them again.',
    registers,
  }),
  queueRestarts: new Counter({
    name: 'queue_worker_restarts_total',
    help: 'How often background jobs had to be started again, after a lost database connection for example.',
    registers,
  }),
  queueOldestDueSeconds: new Gauge({
    name: 'queue_oldest_due_job_seconds',
    help: 'How long the job that has waited longest is due and not taken; 0 without any.',
    registers,
  }),
});

const registryMetrics = (registers: Registry[]) => ({
  registryBlock: new Gauge({
    name: 'registry_block',
    help: 'The last block of the shared registry that was read.',
    registers,
  }),
  registryLagBlocks: new Gauge({
    name: 'registry_lag_blocks',
    help: 'How far that is behind the head of the chain.',
    registers,
  }),
  registryLogs: new Counter({
    name: 'registry_logs_total',
    help: 'Logs of the shared registry that were read, by kind; `malformed` ones are skipped, `upgraded`: its code was replaced.',
    labelNames: ['kind'],
    registers,
  }),
  registryReorgs: new Counter({
    name: 'registry_reorgs_total',
    help: 'How often blocks were read again because the chain had taken them back.',
    registers,
  }),
});

const networkMetrics = (registers: Registry[]) => ({
  networkNodes: new Gauge({
    name: 'network_nodes',
    help: 'Nodes of others that are listed here, by status.',
    labelNames: ['status'] as const,
    registers,
  }),
  networkAgents: new Gauge({
    name: 'network_agents',
    help: 'Agents of other nodes that are listed here.',
    registers,
  }),
  networkIgnored: new Counter({
    name: 'network_ignored_total',
    help: 'Entries of the shared registry that were not listed, by reason; each is counted once for a reason.',
    labelNames: ['reason'] as const,
    registers,
  }),
  networkFeedFailures: new Counter({
    name: 'network_feed_failures_total',
    help: 'Times that a node did not tell what changed of its agents, by reason.',
    labelNames: ['reason'] as const,
    registers,
  }),
});
