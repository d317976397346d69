import type { Metrics } from '../metrics.ts';
import type { Log } from './log.ts';
/** Log lines and metrics of one process. */
export interface Telemetry {
  readonly log: Log;
  readonly metrics: Metrics;
}
