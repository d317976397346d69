import type { Delivery } from '@agent-network/contracts/webhooks';

type Attempt = Delivery['attempts'][number];

const SOONEST_MS = 1000;
const LATEST_MS = 10_000;

/** Polling interval: until the next attempt is due, with a maximum. Attempts emit no events of their own. */
export function nextLookMs(deliveries: readonly Pick<Delivery, 'status' | 'nextAttemptAt'>[], nowMs: number): number {
  const waits = deliveries
    .filter(({ status }) => status === 'pending')
    .map(({ nextAttemptAt }) => (nextAttemptAt === null ? 0 : Date.parse(nextAttemptAt) - nowMs));
  return Math.min(Math.max(Math.min(...waits) + SOONEST_MS, SOONEST_MS), LATEST_MS);
}

/** Outcome of an attempt in words: "HTTP 500", "no answer: connection refused". */
export function attemptText({ status, error }: Pick<Attempt, 'status' | 'error'>): string {
  if (status === null) return `no answer: ${error ?? 'unknown'}`;
  return error === null ? `HTTP ${status}` : `HTTP ${status}: ${error}`;
}

export const isTaken = ({ status }: Pick<Attempt, 'status'>): boolean =>
  status !== null && status >= 200 && status < 300;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAX_HOURS = 48;
/** A chart of less has no axis to read. */
const MIN_STEPS = 12;

interface DeliverySeries {
  readonly stepMs: number;
  readonly timesMs: readonly number[];
  readonly taken: readonly number[];
  readonly refused: readonly number[];
  /** Share of all attempts that were taken; null: there were none. */
  readonly successRate: number | null;
}

/** Attempts of these deliveries by hour, or by day (UTC) where they span more than two days, without gaps. */
export function deliverySeries(deliveries: readonly Pick<Delivery, 'attempts'>[]): DeliverySeries {
  const attempts = deliveries.flatMap((each) => each.attempts);
  const moments = attempts.map(({ at }) => Date.parse(at));
  if (moments.length === 0) return { stepMs: HOUR_MS, timesMs: [], taken: [], refused: [], successRate: null };
  const [first, last] = [Math.min(...moments), Math.max(...moments)];
  const stepMs = last - first > MAX_HOURS * HOUR_MS ? DAY_MS : HOUR_MS;
  const end = Math.floor(last / stepMs);
  const count = Math.max(end - Math.floor(first / stepMs) + 1, MIN_STEPS);
  const from = end - count + 1;
  const countOf = (wanted: boolean) => {
    const counts = new Array<number>(count).fill(0);
    for (const attempt of attempts) {
      const at = Math.floor(Date.parse(attempt.at) / stepMs) - from;
      if (isTaken(attempt) === wanted) counts[at] = (counts[at] ?? 0) + 1;
    }
    return counts;
  };
  return {
    stepMs,
    timesMs: Array.from({ length: count }, (_, at) => (from + at) * stepMs),
    taken: countOf(true),
    refused: countOf(false),
    successRate: attempts.filter(isTaken).length / attempts.length,
  };
}
