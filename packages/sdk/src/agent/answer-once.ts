/** What is sent back over HTTP. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Run {
  readonly answer: Promise<Answer>;
  readonly abort: AbortController;
  waiting: number;
}

interface Kept {
  readonly answer: Answer;
  readonly atMs: number;
}

interface MemoryLimits {
  readonly keepMs: number;
  readonly maxAnswers: number;
  readonly maxChars: number;
}

const defaultLimits: MemoryLimits = { keepMs: 600_000, maxAnswers: 10_000, maxChars: 64 * 1024 * 1024 };

/** A node repeats a call that was answered so, to have it done after all. */
const isPassing = (status: number) => status === 502 || status === 503 || status === 504;

/**
 * Answers each key with one run: callers of a key share the run that is on, and get its answer for ten minutes after.
 * Answers 502, 503 and 504 are not kept. Memory is bounded; the oldest answers are forgotten first.
 */
export class AnswerOnce {
  readonly #running = new Map<string, Run>();
  readonly #kept = new Map<string, Kept>();
  readonly #limits: MemoryLimits;
  readonly #nowMs: () => number;
  #keptChars = 0;

  constructor(limits: Partial<MemoryLimits> = {}, nowMs: () => number = () => performance.now()) {
    this.#limits = { ...defaultLimits, ...limits };
    this.#nowMs = nowMs;
  }

  /** `run` must not reject. Its signal is aborted when the last caller of the key has hung up. */
  async answer(key: string, hungUp: AbortSignal, run: (signal: AbortSignal) => Promise<Answer>): Promise<Answer> {
    this.#forget();
    const kept = this.#kept.get(key);
    if (kept) return kept.answer;
    const shared = this.#running.get(key) ?? this.#start(key, run);
    shared.waiting += 1;
    const leave = () => {
      shared.waiting -= 1;
      if (shared.waiting === 0 && this.#running.get(key) === shared)
        shared.abort.abort(new Error('the caller hung up'));
    };
    if (hungUp.aborted) leave();
    else hungUp.addEventListener('abort', leave, { once: true });
    return shared.answer;
  }

  abortAll(reason: Error): void {
    for (const run of this.#running.values()) run.abort.abort(reason);
  }

  #start(key: string, run: (signal: AbortSignal) => Promise<Answer>): Run {
    const abort = new AbortController();
    const answer = run(abort.signal).then((given) => {
      this.#running.delete(key);
      if (!isPassing(given.status)) {
        this.#kept.set(key, { answer: given, atMs: this.#nowMs() });
        this.#keptChars += given.body.length;
      }
      return given;
    });
    const started: Run = { answer, abort, waiting: 0 };
    this.#running.set(key, started);
    return started;
  }

  #forget(): void {
    const { keepMs, maxAnswers, maxChars } = this.#limits;
    const sinceMs = this.#nowMs() - keepMs;
    for (const [key, { answer, atMs }] of this.#kept) {
      if (atMs > sinceMs && this.#kept.size <= maxAnswers && this.#keptChars <= maxChars) return;
      this.#kept.delete(key);
      this.#keptChars -= answer.body.length;
    }
  }
}
