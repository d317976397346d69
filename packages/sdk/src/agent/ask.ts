/** A question to the caller, as `ask` takes it. */
export interface AgentQuestion {
  /** The agent's own id of the question, by which it finds the answer; default: none. */
  readonly id?: string;
  /** The question, in words; at most 4 KiB. */
  readonly message: string;
  /** JSON Schema of an object that the answer has to fit; at most 16 KiB, without fields for secrets. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** An https address on a public host, where the person does something. */
  readonly url?: string;
  /** `approval`: the caller is asked to agree; default: `input`, or `link` where there is a `url`. */
  readonly kind?: 'input' | 'approval';
  /** Seconds after which an answer is of no use. */
  readonly timeout?: number;
}

/** The caller's answer to a question. */
export interface CallerAnswer {
  /** The agent's id of the question; null: it had none. */
  readonly id: string | null;
  readonly action: 'accept' | 'decline';
  readonly input: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** Marks the return value of `handle` as a question. */
export class Ask {
  readonly question: AgentQuestion;
  readonly state: unknown;

  constructor(question: AgentQuestion, state: unknown) {
    this.question = question;
    this.state = state;
  }
}

/**
 * Return this from `handle` to ask the caller. The work stops there: with the answer, `handle` is called again, with all `answers` so far and
 * the `state` as it was given here (JSON, at most 16 KiB), so nothing has to be remembered between. Only calls with `interactive` can be asked:
 * others fail with `agent_needs_input`. At most 8 times in a call.
 */
export const ask = (question: AgentQuestion, state?: unknown): Ask => new Ask(question, state);
