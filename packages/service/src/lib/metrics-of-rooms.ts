import { Counter, Gauge, type OpenMetricsContentType, type Registry } from 'prom-client';

/** Creates a gauge per network. The default network has series without a label, which are 0 until set. */
export function figure(options: { name: string; help: string; registers: Registry<OpenMetricsContentType>[] }) {
  const gauge = new Gauge({ ...options, labelNames: ['network'] as const });
  gauge.set(0);
  return gauge;
}

export const registryMetrics = (registers: Registry<OpenMetricsContentType>[]) => ({
  readModelLag: new Gauge({
    name: 'registry_read_model_lag_seconds',
    help: 'Age of the registry in memory after the last attempt to refresh it, every five seconds; it grows while the database is away.',
    registers,
  }),
  registryBlock: new Gauge({
    name: 'registry_block',
    help: 'Last block of the shared registry that was read.',
    registers,
  }),
  registryLagBlocks: new Gauge({
    name: 'registry_lag_blocks',
    help: 'Blocks between the last block read and the head of the chain.',
    registers,
  }),
  chainGateStalled: new Gauge({
    name: 'chain_gate_stalled',
    help: '1: this block of the chain, or the reading up to it, stands still (GET /network has the reason); 0: it moves.',
    labelNames: ['gate', 'network'],
    registers,
  }),
  chainGateAge: new Gauge({
    name: 'chain_gate_age_seconds',
    help: 'Time since a block of the chain, or the reading up to it, last rose.',
    labelNames: ['gate', 'network'],
    registers,
  }),
  registryLogs: new Counter({
    name: 'registry_logs_total',
    help: 'Logs of the shared registry that were read, by kind; `malformed`: skipped; `upgraded`: the contract was replaced; `late`: tokens of logs that the RPC node had left out.',
    labelNames: ['kind'],
    registers,
  }),
  registryReorgs: new Counter({
    name: 'registry_reorgs_total',
    help: 'Chain reorganisations after which blocks were read again.',
    registers,
  }),
});

export const networkMetrics = (registers: Registry<OpenMetricsContentType>[]) => ({
  networkNodes: new Gauge({
    name: 'network_nodes',
    help: 'Listed nodes of other operators, by status.',
    labelNames: ['status'] as const,
    registers,
  }),
  networkAgents: new Gauge({
    name: 'network_agents',
    help: 'Listed agents of other nodes.',
    registers,
  }),
  networkIgnored: new Counter({
    name: 'network_ignored_total',
    help: 'Entries of the shared registry that are not listed, by reason; each counts once per reason.',
    labelNames: ['reason'] as const,
    registers,
  }),
  networkFeedFailures: new Counter({
    name: 'network_feed_failures_total',
    help: 'Failed polls of other nodes for changed agents, by reason.',
    labelNames: ['reason'] as const,
    registers,
  }),
});

/** Charges, settlements, payouts and books. */
export const moneyMetrics = (registers: Registry<OpenMetricsContentType>[]) => ({
  invocationsCharged: new Counter({
    name: 'invocation_charged_micro_total',
    help: 'Charged for invocations that ended, in micro-USDC, the fee of the node included.',
    enableExemplars: true,
    registers,
  }),
  invocationsRefunded: new Counter({
    name: 'invocation_refunded_micro_total',
    help: 'Given back of the prices of invocations that ended, in micro-USDC, by its way.',
    labelNames: ['way'] as const,
    enableExemplars: true,
    registers,
  }),
  settlements: new Counter({
    name: 'settlements_total',
    help: 'Settlements on chain, by outcome. The reconciler resolves `unknown` ones.',
    labelNames: ['outcome'] as const,
    registers,
  }),
  settlementHalted: figure({
    name: 'settlement_halted',
    help: '1 while the token moves nothing from or to the wallet of this node (paused, or the wallet is blacklisted), else 0.',
    registers,
  }),
  heldPayouts: new Gauge({
    name: 'held_payouts',
    help: 'Payouts (withdrawals, refunds) that the token refuses: held, and tried again with growing pauses.',
    registers,
  }),
  unknownPayments: new Gauge({
    name: 'unknown_payments',
    help: 'Overdue payments, neither settled nor failed; the reconciler looks them up on the chain.',
    registers,
  }),
  oldestUnknownSeconds: new Gauge({
    name: 'oldest_unknown_payment_seconds',
    help: 'Age of the oldest overdue payment; 0 without any.',
    registers,
  }),
  reservesDifference: figure({
    name: 'reserves_difference_micro',
    help: 'Wallet balance less the balance that the books expect, in micro-USDC; negative: USDC is missing.',
    registers,
  }),
  networkOpen: new Gauge({
    name: 'payment_network_open',
    help: '1: the node can be paid on this further network; 0: its chain does not answer, or contradicts the books.',
    labelNames: ['network'] as const,
    registers,
  }),
  reservesChecked: figure({
    name: 'reserves_checked_timestamp_seconds',
    help: 'When this process last compared the wallet with the books; before that, when it started.',
    registers,
  }),
  booksLoss: figure({
    name: 'books_loss_micro',
    help: 'Losses of the node in its books, in micro-USDC, at the last comparison of wallet and books by this process; none before its first.',
    registers,
  }),
  moneyContradictions: new Counter({
    name: 'money_contradictions_total',
    help: 'Contradictions found by the audit of the books, by kind. Each is a fault of the node.',
    labelNames: ['kind'] as const,
    registers,
  }),
});
