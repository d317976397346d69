import type { PushRoom, PushRow } from './push-store.ts';

/** Messages on their way from this process that hold up others. One that takes longer than `SLOW_MS` holds up nobody. */
const MAX_PROMPT = 64;
/** Of these, those that are taken at a time of accounts with a receiver that hung lately. */
const MAX_LATE = 16;
/** Messages of receivers that hang, in all: beyond it the oldest is cut off and repeated later. */
const MAX_HANGING = 256;
/** Messages of one account. */
const MAX_EACH = 4;
/** A receiver that takes longer hangs, and has one message at a time until it answers in time or is forgotten. */
const SLOW_MS = 1000;
const REMEMBERED_MS = 5 * 60_000;
const MAX_REMEMBERED = 2000;

/** One attempt: `signal` aborts when the message is cut off. */
export type Attempt = <T>(send: (signal: AbortSignal) => Promise<T>) => Promise<T>;

interface Underway {
  readonly row: Pick<PushRow, 'accountId' | 'receiver'>;
  readonly cut: AbortController;
  isHanging: boolean;
}

/**
 * The lanes of pushes: a queue for each receiver of an account, accounts in turn, and those that hang apart, so that they delay only
 * themselves. Kept in memory: a new process learns anew who hangs.
 */
export function createPushLanes(nowMs: () => number = () => performance.now()) {
  const underway = new Map<Promise<void>, Underway>();
  /** Receivers that hung, with their account; the longest ago first. */
  const hung = new Map<string, { readonly accountId: string; readonly untilMs: number }>();

  const noteHanging = (one: Underway) => {
    const { accountId, receiver } = one.row;
    one.isHanging = true;
    hung.delete(receiver);
    hung.set(receiver, { accountId, untilMs: nowMs() + REMEMBERED_MS });
    const [oldest] = hung.keys();
    if (hung.size > MAX_REMEMBERED && oldest !== undefined) hung.delete(oldest);
    const hanging = [...underway.values()].filter(({ isHanging }) => isHanging);
    if (hanging.length > MAX_HANGING) hanging[0]?.cut.abort();
  };

  const attemptOf =
    (one: Underway): Attempt =>
    async (send) => {
      const timer = setTimeout(noteHanging, SLOW_MS, one).unref();
      const startMs = nowMs();
      try {
        return await send(one.cut.signal);
      } finally {
        clearTimeout(timer);
        if (nowMs() - startMs < SLOW_MS) hung.delete(one.row.receiver);
      }
    };

  return {
    room(): PushRoom {
      for (const [receiver, { untilMs }] of hung) if (untilMs <= nowMs()) hung.delete(receiver);
      const all = [...underway.values()];
      const prompt = Math.max(0, MAX_PROMPT - all.filter(({ isHanging }) => !isHanging).length);
      const counts = Map.groupBy(all, ({ row }) => row.accountId);
      const hanging = [...hung.keys()];
      const taken = new Set(all.map(({ row }) => row.receiver));
      return {
        prompt,
        late: Math.min(prompt, MAX_LATE),
        each: MAX_EACH,
        busy: [...counts].flatMap(([accountId, each]) => (each.length >= MAX_EACH ? [accountId] : [])),
        lateAccounts: [...new Set([...hung.values()].map(({ accountId }) => accountId))],
        hanging,
        shut: hanging.filter((receiver) => taken.has(receiver)),
      };
    },
    run(row: PushRow, work: (attempt: Attempt) => Promise<void>): void {
      const one = { row, cut: new AbortController(), isHanging: hung.has(row.receiver) };
      const tracked: Promise<void> = work(attemptOf(one)).finally(() => underway.delete(tracked));
      underway.set(tracked, one);
    },
    ended: (): Promise<unknown> => Promise.all(underway.keys()),
  };
}
