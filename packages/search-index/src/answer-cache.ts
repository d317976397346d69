interface Limits {
  readonly count: number;
  readonly bytes: number;
}

const usual: Limits = { count: 512, bytes: 64 << 20 };

/**
 * LRU cache of the answers to questions since the last change of the index: one that many ask costs nothing but its page. Bounded in number
 * and bytes.
 */
export class AnswerCache<T> {
  readonly #answers = new Map<string, { readonly answer: T; readonly bytes: number }>();
  readonly #limits: Limits;
  #bytes = 0;

  constructor(limits: Limits = usual) {
    this.#limits = limits;
  }

  /** `bytesOf`: the memory that only this answer holds. */
  get(question: string, answer: () => T, bytesOf: (answer: T) => number): T {
    const known = this.#answers.get(question);
    if (known) {
      this.#answers.delete(question);
      this.#answers.set(question, known);
      return known.answer;
    }
    const found = answer();
    const bytes = bytesOf(found) + question.length * 2;
    this.#answers.set(question, { answer: found, bytes });
    this.#bytes += bytes;
    for (const [oldest, each] of this.#answers) {
      if (this.#answers.size <= this.#limits.count && this.#bytes <= this.#limits.bytes) break;
      this.#answers.delete(oldest);
      this.#bytes -= each.bytes;
    }
    return found;
  }

  /** After a change of the index. */
  clear(): void {
    if (this.#answers.size === 0) return;
    this.#answers.clear();
    this.#bytes = 0;
  }
}
