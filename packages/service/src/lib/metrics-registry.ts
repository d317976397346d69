import { Counter, Gauge, type OpenMetricsContentType, type Registry } from 'prom-client';

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
  registryLogs: new Counter({
    name: 'registry_logs_total',
    help: 'Logs of the shared registry that were read, by kind; `malformed`: skipped; `upgraded`: the contract was replaced.',
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
