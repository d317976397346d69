import { SaidLog } from './stream-log.ts';

/** An HTTP answer. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  /** True for a question to the caller. */
  readonly isQuestion?: true;
}

/** A run in progress as its callers share it: the output so far, from the start, and the answer. */
export interface Answering {
  readonly said: SaidLog;
  readonly answer: Promise<Answer>;
}

export type RunOnce = (signal: AbortSignal, said: SaidLog) => Promise<Answer>;

interface Run extends Answering {
  readonly abort: AbortController;
  waiting: number;
}

interface Kept {
  readonly answer: Answer;
  readonly said: SaidLog;
  readonly atMs: number;
}

interface MemoryLimits {
  readonly keepMs: number;
  readonly maxAnswers: number;
  readonly maxChars: number;
}

const defaultLimits: MemoryLimits = { keepMs: 600_000, maxAnswers: 10_000, maxChars: 64 * 1024 * 1024 };

/** Statuses after which a node repeats the call. */
const isPassing = (status: number) => status === 502 || status === 503 || status === 504;

const charsOf = ({ answer, said }: Kept) => answer.body.length + said.chars;

/**
 * Answers each key with one run: callers of a key share the current run, and get its answer for ten minutes after. Answers 502, 503 and 504
 * are not kept. Memory is bounded: the oldest answers are evicted first.
 */
export class AnswerOnce {
  readonly #running = new Map<string, Run>();
  readonly #kept = new Map<string, Kept>();
  readonly #limits: MemoryLimits;
  readonly #nowMs: () => number;
  #keptChars = 0;
  /** Called with each key that loses its answer. */
  onForgotten: (key: string) => void = () => undefined;

  constructor(limits: Partial<MemoryLimits> = {}, nowMs: () => number = () => performance.now()) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#nowMs = nowMs;
  }

  /** `run` must not reject. Its signal is aborted when the last caller of the key has hung up; `null` is a caller who never does. */
  join(key: string, hungUp: AbortSignal | null, run: RunOnce): Answering {
    const known = this.find(key);
    if (known && !this.#running.has(key)) return known;
    const shared = this.#running.get(key) ?? this.#start(key, run);
    shared.waiting += 1;
    const leave = () => {
      shared.waiting -= 1;
      if (shared.waiting === 0 && this.#running.get(key) === shared)
        shared.abort.abort(new Error('the caller hung up'));
    };
    if (hungUp?.aborted) leave();
    else hungUp?.addEventListener('abort', leave, { once: true });
    return shared;
  }

  async answer(key: string, hungUp: AbortSignal, run: RunOnce): Promise<Answer> {
    return this.join(key, hungUp, run).answer;
  }

  /** Finds the running call, or its cached answer. */
  find(key: string): Answering | undefined {
    this.forgetOld();
    const kept = this.#kept.get(key);
    return kept ? { said: kept.said, answer: Promise.resolve(kept.answer) } : this.#running.get(key);
  }

  isRunning(key: string): boolean {
    return this.#running.has(key);
  }

  abort(key: string, reason: Error): void {
    this.#running.get(key)?.abort.abort(reason);
  }

  abortAll(reason: Error): void {
    for (const run of this.#running.values()) run.abort.abort(reason);
  }

  #start(key: string, run: RunOnce): Run {
    const abort = new AbortController();
    const said = new SaidLog();
    const answer = run(abort.signal, said).then((given) => {
      said.end();
      this.#running.delete(key);
      if (!isPassing(given.status)) {
        const kept = { answer: given, said, atMs: this.#nowMs() };
        this.#kept.set(key, kept);
        this.#keptChars += charsOf(kept);
      }
      return given;
    });
    const started: Run = { answer, said, abort, waiting: 0 };
    this.#running.set(key, started);
    return started;
  }

  /** Removes answers that are too old or too many. Other methods call it themselves. */
  forgetOld(): void {
    const { keepMs, maxAnswers, maxChars } = this.#limits;
    const sinceMs = this.#nowMs() - keepMs;
    for (const [key, kept] of this.#kept) {
      if (kept.atMs > sinceMs && this.#kept.size <= maxAnswers && this.#keptChars <= maxChars) return;
      this.#kept.delete(key);
      this.#keptChars -= charsOf(kept);
      this.onForgotten(key);
    }
  }
}
