import { nextAttemptAt, retryAfter } from './retry-schedule.ts';

/** An endpoint's answer, or its failure. */
export interface EndpointAnswer {
  /** null: no answer. */
  readonly status: number | null;
  readonly error: string | null;
  /** The beginning of the answer's body. */
  readonly response: string | null;
  readonly retryAfter: string | null;
  readonly durationMs: number;
}

/** An attempt that reached no endpoint. */
export const unanswered = (error: string): EndpointAnswer => ({
  status: null,
  error,
  response: null,
  retryAfter: null,
  durationMs: 0,
});

export interface AttemptVerdict {
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly nextAttemptAt: Date | null;
  /** The receiver refuses all further deliveries. */
  readonly isGone: boolean;
  /** The receiver asks for a pause until then. */
  readonly pauseUntil: Date | null;
}

const GONE = 410;
const ASKS_TO_WAIT = new Set<number | null>([429, 503]);

/**
 * Classifies an answer: 2xx is delivered, 410 ends for good, anything else is retried while the schedule lasts. `tries` includes this one.
 */
export function judge(answer: EndpointAnswer, tries: number, now: Date, random: number): AttemptVerdict {
  const { status } = answer;
  if (status !== null && status >= 200 && status < 300)
    return { state: 'delivered', nextAttemptAt: null, isGone: false, pauseUntil: null };
  if (status === GONE) return { state: 'failed', nextAttemptAt: null, isGone: true, pauseUntil: null };
  const pauseUntil = ASKS_TO_WAIT.has(status) ? retryAfter(answer.retryAfter, now) : null;
  const next = nextAttemptAt(tries, now, random, pauseUntil);
  return { state: next ? 'pending' : 'failed', nextAttemptAt: next, isGone: false, pauseUntil };
}
