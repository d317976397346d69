import { GIVE_UP_AFTER_MS } from './retry-schedule.ts';

/** Health of an endpoint: failing since, paused until, disabled. */
export interface EndpointHealth {
  readonly status: 'enabled' | 'disabled';
  readonly disabledReason: string | null;
  readonly failingSince: Date | null;
  readonly pausedUntil: Date | null;
}

/** Results of attempts at an endpoint. */
export interface Findings {
  readonly isAnswering: boolean;
  readonly isGone: boolean;
  readonly pauseUntil: Date | null;
}

/** The health after further attempts. 410 disables it at once, five days of nothing but failures as well. */
export function nextHealth(before: EndpointHealth, found: Findings, now: Date): EndpointHealth {
  if (before.status === 'disabled') return before;
  if (found.isGone) return disabled(before, 'The endpoint answered 410 Gone.');
  const pausedUntil = found.pauseUntil ?? before.pausedUntil;
  if (found.isAnswering) return { ...before, pausedUntil, failingSince: null };
  const failingSince = before.failingSince ?? now;
  if (now.getTime() - failingSince.getTime() >= GIVE_UP_AFTER_MS)
    return disabled({ ...before, failingSince }, 'Every attempt of the last five days failed.');
  return { ...before, pausedUntil, failingSince };
}

const disabled = (before: EndpointHealth, disabledReason: string): EndpointHealth => ({
  ...before,
  status: 'disabled',
  disabledReason,
  pausedUntil: null,
});
