import { withResolvers } from './with-resolvers.ts';

/** A stream event of an agent at work, its data as JSON. */
export interface Said {
  readonly event: 'chunk' | 'progress';
  readonly data: string;
}

/** Marks a generator's value as a report of progress rather than a piece of the answer. */
class Progress {
  readonly report: Readonly<Record<string, unknown>>;

  constructor(report: Readonly<Record<string, unknown>>) {
    this.report = report;
  }
}

/** Yield this from a generator `handle` to report progress to callers who follow. It is not part of the result. */
export const progress = (report: Readonly<Record<string, unknown>>): Progress => new Progress(report);

export const isProgress = (value: unknown): value is Progress => value instanceof Progress;

/** The stream events of one run, replayed to late readers and followed by current ones. */
export class SaidLog {
  readonly #said: Said[] = [];
  #isOver = false;
  #more = withResolvers<void>();
  /** UTF-16 units of all data: the memory of the log. */
  chars = 0;

  add(said: Said): void {
    this.#said.push(said);
    this.chars += said.data.length;
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  get count(): number {
    return this.#said.length;
  }

  /** Yields all events from the first, until the run ends. */
  async *follow(): AsyncGenerator<Said> {
    for (let next = 0; ; ) {
      const said = this.#said[next];
      if (said) {
        next += 1;
        yield said;
      } else if (this.#isOver) return;
      else await this.#more.promise;
    }
  }

  #wake(): void {
    this.#more.resolve();
    this.#more = withResolvers<void>();
  }
}
