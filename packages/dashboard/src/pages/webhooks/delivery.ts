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

/** "200", "500", "no answer: connection refused"; in words what an attempt came to. */
export function attemptText({ status, error }: Pick<Attempt, 'status' | 'error'>): string {
  if (status === null) return `no answer: ${error ?? 'unknown'}`;
  return error === null ? `HTTP ${status}` : `HTTP ${status}: ${error}`;
}

export const isTaken = ({ status }: Pick<Attempt, 'status'>): boolean =>
  status !== null && status >= 200 && status < 300;
