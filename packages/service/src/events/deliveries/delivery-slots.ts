/** Concurrent runs of one kind of delivery in a process. */
export interface SlotBounds {
  /** Maximum runs to receivers that answer in time. */
  readonly prompt: number;
  /** Share of the prompt runs for accounts with a receiver that hung recently. */
  readonly late: number;
  /** Runs for one account. */
  readonly each: number;
  /** Maximum runs to hanging receivers, besides the prompt ones; beyond it the oldest is cut off. null: hanging runs keep their slots. */
  readonly hanging: number | null;
}

/** Account and endpoint that a run sends to. */
export interface Receiver {
  readonly accountId: string;
  /** Unique among all accounts. */
  readonly receiver: string;
}

/** Work that may be taken now: accounts without a hanging receiver go first. */
export interface FreeSlots {
  readonly prompt: number;
  readonly late: number;
  /** Accounts that have as many runs as one may have. */
  readonly busy: readonly string[];
  readonly lateAccounts: readonly string[];
  /** Receivers that hung recently. */
  readonly hanging: readonly string[];
  /** Receivers of the current runs. */
  readonly underway: readonly string[];
}

/** A receiver that takes longer counts as hanging, until it answers in time or its entry is removed. */
const SLOW_MS = 1000;
const REMEMBERED_MS = 5 * 60_000;
const MAX_REMEMBERED = 2000;

/** Times one attempt. */
export type Timed = <T>(send: () => Promise<T>) => Promise<T>;

interface Run extends Receiver {
  readonly cut: AbortController;
  isHanging: boolean;
}

/**
 * Slots for deliveries: hanging receivers are served separately, so that they delay only their own account. Kept in memory: a new process
 * has to find them again.
 */
export function createDeliverySlots(bounds: SlotBounds, nowMs: () => number = () => performance.now()) {
  const runs = new Map<Promise<unknown>, Run>();
  /** Receivers that hung, with their account; the longest ago first. */
  const hung = new Map<string, { readonly accountId: string; readonly untilMs: number }>();

  const recordHanging = (run: Run) => {
    const { accountId, receiver } = run;
    run.isHanging = true;
    hung.delete(receiver);
    hung.set(receiver, { accountId, untilMs: nowMs() + REMEMBERED_MS });
    const [oldest] = hung.keys();
    if (hung.size > MAX_REMEMBERED && oldest !== undefined) hung.delete(oldest);
    const hanging = [...runs.values()].filter(({ isHanging }) => isHanging);
    if (bounds.hanging !== null && hanging.length > bounds.hanging) hanging[0]?.cut.abort();
  };

  const timedOf =
    (run: Run): Timed =>
    async (send) => {
      const timer = setTimeout(recordHanging, SLOW_MS, run).unref();
      const startMs = nowMs();
      try {
        return await send();
      } finally {
        clearTimeout(timer);
        if (nowMs() - startMs < SLOW_MS) hung.delete(run.receiver);
      }
    };

  return {
    free(): FreeSlots {
      for (const [receiver, { untilMs }] of hung) if (untilMs <= nowMs()) hung.delete(receiver);
      const all = [...runs.values()];
      const holding = all.filter(({ isHanging }) => bounds.hanging === null || !isHanging);
      const lateAccounts = new Set([...hung.values()].map(({ accountId }) => accountId));
      const prompt = Math.max(0, bounds.prompt - holding.length);
      const late = bounds.late - holding.filter(({ accountId }) => lateAccounts.has(accountId)).length;
      const ofAccount = Map.groupBy(all, ({ accountId }) => accountId);
      return {
        prompt,
        late: Math.max(0, Math.min(prompt, late)),
        busy: [...ofAccount].flatMap(([accountId, own]) => (own.length >= bounds.each ? [accountId] : [])),
        lateAccounts: [...lateAccounts],
        hanging: [...hung.keys()],
        underway: [...new Set(all.map(({ receiver }) => receiver))],
      };
    },
    /** Occupies a slot while `work` runs. `cut` aborts when the run is cut off. */
    run<T>(to: Receiver, work: (timed: Timed, cut: AbortSignal) => Promise<T>): Promise<T> {
      const { accountId, receiver } = to;
      const run = { accountId, receiver, cut: new AbortController(), isHanging: hung.has(receiver) };
      const tracked: Promise<T> = work(timedOf(run), run.cut.signal).finally(() => runs.delete(tracked));
      runs.set(tracked, run);
      return tracked;
    },
    ended: (): Promise<unknown> => Promise.all(runs.keys()),
  };
}
