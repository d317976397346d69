import { parseUsdc } from '@agent-network/contracts/money';
import { AgentError } from './agent-error.ts';
import type { Answer } from './answer-once.ts';
import { Ask, type CallerAnswer } from './ask.ts';
import type { CallContent } from './parse-call.ts';
import { isProgress, type SaidLog } from './stream-log.ts';

/** Maximum events that a node accepts from one stream. */
const maxSaid = 10_000;
const maxSaidChars = 64 * 1024;
const maxAllChars = 8 * 1024 * 1024;

const isGenerator = (value: unknown): value is AsyncGenerator<unknown> | Generator<unknown> =>
  typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function';

function say(said: SaidLog, value: unknown): void {
  const data = JSON.stringify(isProgress(value) ? value.report : value) ?? 'null';
  if (data.length > maxSaidChars || said.count >= maxSaid || said.chars + data.length > maxAllChars)
    throw new AgentError('result_too_large', 'The agent said more than a stream may hold', 500);
  said.add({ event: isProgress(value) ? 'progress' : 'chunk', data });
}

const together = (pieces: readonly unknown[]): unknown =>
  pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : pieces;

/**
 * The result of `handle`'s return value. Pieces of a generator are sent as they come; if it returns nothing, together they are the result:
 * one text when all are texts, else a list. An aborted generator is closed at once.
 */
async function collect(given: unknown, said: SaidLog, signal: AbortSignal): Promise<unknown> {
  if (!isGenerator(given)) return given;
  const pieces: unknown[] = [];
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => undefined);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await Promise.race([given.next(), aborted]);
      if (done) return value === undefined && pieces.length > 0 ? together(pieces) : value;
      say(said, value);
      if (!isProgress(value)) pieces.push(value);
    }
  } catch (error) {
    // Not awaited: a hanging generator would delay the answer.
    void Promise.resolve(given.return(undefined)).catch(() => undefined);
    throw error;
  }
}

export interface AgentCall extends Omit<CallContent, 'kind'> {
  /** Aborted when the deadline passes, the last caller hangs up, the request is cancelled or the agent closes. */
  readonly signal: AbortSignal;
  /** Sets the cost of this call, in USDC; without it the agent's price is charged. A node never charges more than its price. */
  charge(cost: string): void;
  /**
   * Says what this call used, which an agent with a price by usage is paid by: `{ units: [{ unit, quantity }], model? }`, or the `usage` of a
   * model's API as it is. The last one counts. Throws a TypeError for anything but an object.
   */
  used(usage: Usage): void;
  /** The caller's answer to the question with this id; undefined: it has not been asked. */
  answer(id: string): CallerAnswer | undefined;
}

/** Usage of a call, in the node's form or as a model's API has it. */
export type Usage =
  | {
      readonly units: readonly { readonly unit: string; readonly quantity: string | number }[];
      readonly model?: string;
    }
  | Readonly<Record<string, unknown>>;

/**
 * Does the work and returns the result, or a question to the caller (`ask`). A generator yields pieces of the result, and `progress(…)`, which callers who follow get at once.
 * Its return value is the result, or all pieces together when it returns nothing.
 */
export type HandleCall = (call: AgentCall) => unknown;

const maxResultBytes = 1024 * 1024;
const longestTimerMs = 2 ** 31 - 1;

/** Formats an error for the node. */
export const errorAnswer = (error: AgentError): Answer => ({
  status: error.status,
  body: JSON.stringify({ error: { code: error.code, message: error.message } }),
});

const pastDeadline = () => new AgentError('deadline_exceeded', 'The deadline has passed', 504);

function throwAtDeadline(deadline: Date | null, abort: AbortController, started: { timer?: NodeJS.Timeout }) {
  return new Promise<never>((_resolve, reject) => {
    if (!deadline) return;
    const leftMs = Math.max(0, Math.min(deadline.getTime() - Date.now(), longestTimerMs));
    started.timer = setTimeout(() => {
      const error = pastDeadline();
      abort.abort(error);
      reject(error);
    }, leftMs);
  });
}

/** Formats a question for the node. */
const questionAnswer = ({ question, state }: Ask): Answer => ({
  status: 200,
  body: JSON.stringify({ status: 'input_required', input: question, ...(state === undefined ? {} : { state }) }),
  isQuestion: true,
});

async function runHandle(handle: HandleCall, call: CallContent, signal: AbortSignal, said: SaidLog): Promise<Answer> {
  if (call.deadline && call.deadline.getTime() <= Date.now()) throw pastDeadline();
  const startedMs = performance.now();
  const deadline = new AbortController();
  const started: { timer?: NodeJS.Timeout } = {};
  let cost: string | undefined;
  let usage: Usage | undefined;
  const { kind: _kind, ...content } = call;
  const stop = AbortSignal.any([signal, deadline.signal]);
  const charge = (amount: string) => {
    parseUsdc(amount);
    cost = amount;
  };
  const used = (told: Usage) => {
    if (typeof told !== 'object' || told === null) throw new TypeError('usage is an object');
    usage = told;
  };
  const answer = (id: string) => content.answers.findLast((each) => each.id === id);
  try {
    const work = Promise.resolve()
      .then(() => handle({ ...content, signal: stop, charge, used, answer }))
      .then((given) => collect(given, said, stop));
    const result = (await Promise.race([work, throwAtDeadline(call.deadline, deadline, started)])) ?? null;
    if (result instanceof Ask) return questionAnswer(result);
    const completionTime = `${((performance.now() - startedMs) / 1000).toFixed(2)}s`;
    const body = JSON.stringify({ result, cost, usage, completion_time: completionTime, agent_id: call.agentId });
    if (Buffer.byteLength(body) > maxResultBytes)
      throw new AgentError('result_too_large', 'The result is larger than 1 MiB', 500);
    return { status: 200, body };
  } finally {
    clearTimeout(started.timer);
  }
}

/**
 * Runs `handle` for one call and turns its outcome into an answer; never rejects. The caller sees an `AgentError`; any other error goes to
 * `onError` only.
 */
export async function runCall(
  handle: HandleCall,
  call: CallContent,
  signal: AbortSignal,
  said: SaidLog,
  onError: (error: unknown, requestId: string) => void,
): Promise<Answer> {
  try {
    return await runHandle(handle, call, signal, said);
  } catch (error) {
    if (error instanceof AgentError) return errorAnswer(error);
    if (signal.aborted) return errorAnswer(new AgentError('aborted', 'The call was stopped', 503));
    onError(error, call.requestId);
    return errorAnswer(new AgentError('internal_error', 'The agent failed', 500));
  }
}
