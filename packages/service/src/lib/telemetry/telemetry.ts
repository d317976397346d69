import type { HasMetrics } from '../metrics.ts';
import type { HasLog } from './log.ts';
/** Log lines and metrics of one process. */
export interface Telemetry extends HasLog, HasMetrics {}
