import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  readonly requestDuration: Histogram<'route' | 'status'>;
  readonly invocationsEnded: Counter<'status' | 'reason'>;
  readonly settlements: Counter<'outcome'>;
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
  };
}
