import { nextAttemptAt, retryAfter } from './retry-schedule.ts';

/** What came back from an endpoint. */
export interface EndpointAnswer {
  /** null when there was no answer. */
  readonly status: number | null;
  readonly error: string | null;
  /** The beginning of the answer's body. */
  readonly response: string | null;
  readonly retryAfter: string | null;
  readonly durationMs: number;
}

export interface Verdict {
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly nextAttemptAt: Date | null;
  /** The receiver wants no more of it, ever. */
  readonly isGone: boolean;
  /** The receiver wants to be left alone until then. */
  readonly pauseUntil: Date | null;
}

const GONE = 410;
const ASKS_TO_WAIT = new Set<number | null>([429, 503]);

/** Judges an answer: 2xx is delivered, 410 never, all else is tried again while the schedule lasts. `tries` includes this one. */
export function judge(answer: EndpointAnswer, tries: number, now: Date, random: number): Verdict {
  const { status } = answer;
  if (status !== null && status >= 200 && status < 300)
    return { state: 'delivered', nextAttemptAt: null, isGone: false, pauseUntil: null };
  if (status === GONE) return { state: 'failed', nextAttemptAt: null, isGone: true, pauseUntil: null };
  const pauseUntil = ASKS_TO_WAIT.has(status) ? retryAfter(answer.retryAfter, now) : null;
  const next = nextAttemptAt(tries, now, random, pauseUntil);
  return { state: next ? 'pending' : 'failed', nextAttemptAt: next, isGone: false, pauseUntil };
}
