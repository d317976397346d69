import { MINUTE_MS } from '../../lib/duration.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';

/** Refused requests of callers without a valid key, or without the right to do this. */
export interface RefusalLog {
  record(refusal: Refusal): void;
}

export interface Refusal {
  readonly kind: 'unauthorized' | 'forbidden';
  readonly route: string;
  readonly gateway: string;
  readonly requestId: string;
  readonly address: string;
}

/** Lines in a minute; a stranger who tries keys must not fill the disk. Every refusal is counted. */
const LINES_PER_MINUTE = 60;

/** Writes refusals to the security stream of the log, up to a maximum per minute; the next line contains the number of missing ones. */
export function createRefusalLog({ log, metrics }: Telemetry, nowMs = () => performance.now()): RefusalLog {
  let sinceMs = nowMs();
  let written = 0;
  let unwritten = 0;
  return {
    record({ kind, ...refusal }) {
      metrics.requestsRefused.inc({ kind });
      const now = nowMs();
      if (now - sinceMs >= MINUTE_MS) [sinceMs, written] = [now, 0];
      if (written >= LINES_PER_MINUTE) {
        unwritten++;
        return;
      }
      written++;
      log.warn({ stream: 'security', kind, ...refusal, ...(unwritten > 0 ? { unwritten } : {}) }, 'request refused');
      unwritten = 0;
    },
  };
}
