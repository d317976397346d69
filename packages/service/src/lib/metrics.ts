import { Counter, collectDefaultMetrics, Gauge, Histogram, type OpenMetricsContentType, Registry } from 'prom-client';
import { figure, moneyMetrics, networkMetrics, registryMetrics } from './metrics-of-rooms.ts';

export interface Metrics {
  /** The metrics for Prometheus: in OpenMetrics, with exemplars, or in its older text format. */
  readonly exposition: (format: 'openmetrics' | 'text') => Promise<{ readonly type: string; readonly text: string }>;
  readonly requestDuration: Histogram<'route' | 'gateway' | 'face' | 'status'>;
  readonly invocationsEnded: Counter<'status' | 'reason'>;
  readonly invocationsCharged: Counter;
  readonly invocationsRefunded: Counter<'way'>;
  readonly settlements: Counter<'outcome'>;
  readonly channelRefusals: Counter<'reason'>;
  readonly nativeSignatures: Gauge;
  readonly gasBalance: Gauge<'signer' | 'network'>;
  readonly gasLow: Gauge<'signer' | 'network'>;
  readonly gasSpent: Gauge<'network'>;
  readonly gasCapReached: Gauge<'network'>;
  readonly settlementHalted: Gauge<'network'>;
  readonly heldPayouts: Gauge;
  readonly unknownPayments: Gauge;
  readonly oldestUnknownSeconds: Gauge;
  readonly reservesDifference: Gauge<'network'>;
  /** Further networks; a process is not ready without the default one. */
  readonly networkOpen: Gauge<'network'>;
  readonly reservesChecked: Gauge<'network'>;
  readonly booksLoss: Gauge<'network'>;
  readonly moneyContradictions: Counter<'kind'>;
  readonly channelsOpen: Gauge<'network'>;
  readonly channelUnclaimed: Gauge<'network'>;
  readonly channelClaimsOverdue: Gauge<'network'>;
  readonly channelWithdrawals: Gauge<'network'>;
  readonly channelOldestUnclaimedSeconds: Gauge<'network'>;
  readonly channelClaims: Counter<'outcome'>;
  readonly channelClaimed: Counter;
  readonly channelClaimGas: Histogram;
  readonly channelLoss: Counter;
  readonly requestsShed: Counter<'reason' | 'priority'>;
  readonly queueTime: Histogram;
  /** Seconds that this machine is ahead of the `database`, and the node's time ahead of the latest block of the `chain`. */
  readonly clockOffset: Gauge<'reference' | 'network'>;
  readonly databaseHole: Gauge;
  readonly databaseTimeline: Gauge;
  readonly databaseStandbys: Gauge<'kind'>;
  readonly databaseServersRefused: Gauge<'reason'>;
  readonly requestsRefused: Counter<'kind'>;
  readonly recurringFailures: Counter<'name'>;
  readonly readModelLag: Gauge;
  readonly registryBlock: Gauge;
  readonly registryLagBlocks: Gauge;
  readonly chainGateStalled: Gauge<'gate' | 'network'>;
  readonly chainGateAge: Gauge<'gate' | 'network'>;
  readonly registryLogs: Counter<'kind'>;
  readonly registryReorgs: Counter;
  readonly networkNodes: Gauge<'status'>;
  readonly networkAgents: Gauge;
  readonly networkIgnored: Counter<'reason'>;
  readonly networkFeedFailures: Counter<'reason'>;
}

/** Figures of one network each. */
const figures = [
  ...(['gasBalance', 'gasLow', 'gasSpent', 'gasCapReached', 'settlementHalted', 'clockOffset'] as const),
  ...(['reservesDifference', 'reservesChecked', 'booksLoss', 'channelsOpen', 'channelUnclaimed'] as const),
  ...(['chainGateStalled', 'chainGateAge'] as const),
  ...(['channelOldestUnclaimedSeconds', 'channelClaimsOverdue', 'channelWithdrawals'] as const),
];

/** The metrics for a further network: the figures that are of one network have the label `network`. */
export const metricsOn = (metrics: Metrics, network: string): Metrics => ({
  ...metrics,
  ...Object.fromEntries(figures.map((name) => [name, labelled(metrics[name] as unknown as Gauge<'network'>, network)])),
});

function labelled(gauge: Gauge<'network'>, network: string): Gauge<'network'> {
  const own = Object.create(gauge) as Gauge<'network'>;
  own.set = (first: number | object, value?: number) =>
    typeof first === 'number' ? gauge.set({ network }, first) : gauge.set({ ...first, network }, value ?? 0);
  own.setToCurrentTime = (labels: object = {}) => gauge.setToCurrentTime({ ...labels, network });
  return own;
}

/** A figure of one network; undefined: of the default network. */
export const figureOf = async (gauge: Gauge<'network'>, network?: string): Promise<number> =>
  (await gauge.get()).values.find(({ labels }) => labels.network === network)?.value ?? 0;

type OpenRegistry = Registry<OpenMetricsContentType>;

/** Creates the metrics of this process in their own registry: two nodes in one process (in tests) do not mix. */
export function createMetrics(): Metrics {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    exposition: (format) => expose(registry, format),
    requestDuration: new Histogram({
      name: 'http_server_request_duration_seconds',
      help: 'Time from the request to its answer, by endpoint, gateway and status; `face` is the former name of `gateway`.',
      labelNames: ['route', 'gateway', 'face', 'status'],
      enableExemplars: true,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    invocationsEnded: new Counter({
      name: 'invocations_ended_total',
      help: 'Invocations that ended, by state and by the reason of a failure.',
      labelNames: ['status', 'reason'],
      registers,
    }),
    ...moneyMetrics(registers),
    channelRefusals: new Counter({
      name: 'x402_channel_refusals_total',
      help: 'Vouchers, deposits and refunds of x402 channels that were refused, by code of the scheme; also `malformed`, `unsupported_scheme`, `invalid_offer`, `used_for_another_request`, `refunded_too_often`.',
      labelNames: ['reason'],
      registers,
    }),
    nativeSignatures: new Gauge({
      name: 'native_signatures',
      help: '1: signatures are checked by native code. 0: by JavaScript, many times slower, because secp256k1 has no native build.',
      registers,
    }),
    gasBalance: new Gauge({
      name: 'gas_balance_wei',
      help: 'ETH balance of each sending key, in wei.',
      labelNames: ['signer', 'network'],
      registers,
    }),
    gasLow: new Gauge({
      name: 'gas_low',
      help: '1 while a sending key holds less than twenty full transactions cost at the fees of now, else 0.',
      labelNames: ['signer', 'network'],
      registers,
    }),
    gasSpent: figure({
      name: 'gas_spent_day_wei',
      help: 'Wei that the sending keys have spent on gas in 24 hours; 0 without GAS_PER_DAY.',
      registers,
    }),
    gasCapReached: figure({
      name: 'gas_cap_reached',
      help: '1 while the sending keys have spent GAS_PER_DAY in 24 hours, else 0.',
      registers,
    }),
    ...channelMetrics(registers),
    ...databaseMetrics(registers),
    ...queueMetrics(registers),
    ...registryMetrics(registers),
    ...networkMetrics(registers),
  };
}

const channelMetrics = (registers: OpenRegistry[]) => ({
  channelsOpen: figure({
    name: 'channels_open',
    help: 'Payment channels that hold more than was charged.',
    registers,
  }),
  channelUnclaimed: figure({
    name: 'channel_unclaimed_micro',
    help: 'Charged by vouchers and not claimed on chain yet, in micro-USDC.',
    registers,
  }),
  channelClaimsOverdue: figure({
    name: 'channel_claims_overdue',
    help: 'Channels whose vouchers should have been claimed ten minutes ago, or five minutes after their payer began to withdraw.',
    registers,
  }),
  channelWithdrawals: figure({
    name: 'channel_withdrawals',
    help: 'Channels that owe something while their payer withdraws.',
    registers,
  }),
  channelOldestUnclaimedSeconds: figure({
    name: 'channel_oldest_unclaimed_seconds',
    help: 'Age of the oldest charge that is not claimed, of channels whose claim is worth its gas; 0 without any.',
    registers,
  }),
  channelClaims: new Counter({
    name: 'channel_claims_total',
    help: 'Transactions that claimed vouchers or refunded a channel, by outcome; `refused`: channels whose claim the contract refuses.',
    labelNames: ['outcome'] as const,
    registers,
  }),
  channelClaimed: new Counter({
    name: 'channel_claimed_micro_total',
    help: 'Claimed on chain by this process, in micro-USDC.',
    registers,
  }),
  channelClaimGas: new Histogram({
    name: 'channel_claim_gas',
    help: 'Gas of a transaction that claims vouchers.',
    buckets: [100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000],
    registers,
  }),
  channelLoss: new Counter({
    name: 'channel_loss_micro_total',
    help: 'Charged by vouchers that can not be claimed any more, in micro-USDC. Any is an alarm.',
    registers,
  }),
});

const databaseMetrics = (registers: OpenRegistry[]) => ({
  clockOffset: new Gauge({
    name: 'clock_offset_seconds',
    help: "How far this machine's clock is ahead of the database's, and the node's time, which is the database's, ahead of the latest block.",
    labelNames: ['reference', 'network'],
    registers,
  }),
  databaseHole: new Gauge({
    name: 'database_hole',
    help: '1 while this process refuses the database, because it lacks acknowledged commits; an operator has to decide.',
    registers,
  }),
  databaseTimeline: new Gauge({
    name: 'database_timeline',
    help: 'Timeline of the database server in use; it rises with each failover.',
    registers,
  }),
  databaseStandbys: new Gauge({
    name: 'database_standbys',
    help: 'Standbys that the primary streams to: any, or synchronous (known to members of pg_monitor only).',
    labelNames: ['kind'],
    registers,
  }),
  databaseServersRefused: new Gauge({
    name: 'database_servers_refused',
    help: 'Connections that this process ended because their server is a standby, or has a hole.',
    labelNames: ['reason'],
    registers,
  }),
});

const queueMetrics = (registers: OpenRegistry[]) => ({
  requestsShed: new Counter({
    name: 'requests_shed_total',
    help: 'Requests refused with 503 before anything was done, by reason: `queue_time`, `full`, `deadline`: those that write waited too long to be started, were too many, or would have come too late; `database`: others waited too long for a connection.',
    labelNames: ['reason', 'priority'] as const,
    registers,
  }),
  queueTime: new Histogram({
    name: 'http_queue_seconds',
    help: 'Time that requests which write waited to be started.',
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  }),
  requestsRefused: new Counter({
    name: 'requests_refused_total',
    help: 'Requests refused for who sent them, by kind: `unauthorized` without a good key, `forbidden` without the right.',
    labelNames: ['kind'] as const,
    registers,
  }),
  recurringFailures: new Counter({
    name: 'recurring_failures_total',
    help: 'Runs of recurring jobs in this process that failed, by name; the log has the error.',
    labelNames: ['name'] as const,
    registers,
  }),
});

async function expose(registry: OpenRegistry, format: 'openmetrics' | 'text') {
  const text = await registry.metrics();
  return format === 'openmetrics'
    ? { type: Registry.OPENMETRICS_CONTENT_TYPE, text }
    : { type: Registry.PROMETHEUS_CONTENT_TYPE, text: toPlainText(text) };
}

/**
 * OpenMetrics text as Prometheus text: counters are described under the names of their samples, and exemplars and the mark of the end are
 * left out. prom-client writes a registry in one format only, and exemplars only in OpenMetrics.
 */
function toPlainText(openMetrics: string): string {
  const lines = openMetrics.split('\n').filter((line) => line !== '# EOF');
  const counters = new Set(lines.flatMap((line) => /^# TYPE (\S+) counter$/.exec(line)?.[1] ?? []));
  return lines.map((line) => withoutExemplar(named(line, counters))).join('\n');
}

const named = (line: string, counters: ReadonlySet<string>): string =>
  line.replace(/^# (HELP|TYPE) (\S+)/, (whole, what, name) => (counters.has(name) ? `# ${what} ${name}_total` : whole));

const withoutExemplar = (line: string): string =>
  line.startsWith('#') ? line : line.replace(/ # \{[^{}]*\} \S+ \S+$/, '');
