import { parseUsdc } from '@agent-network/contracts/money';
import { AgentError } from './agent-error.ts';
import type { Answer } from './answer-once.ts';
import { collect } from './collect.ts';
import type { CallContent } from './parse-call.ts';
import type { SaidLog } from './said.ts';

export interface AgentCall extends Omit<CallContent, 'kind'> {
  /** Aborted when the deadline passes, the last caller hangs up, the request is cancelled or the agent closes. */
  readonly signal: AbortSignal;
  /** States what this call costs, in USDC; without it the agent's price is charged. A node never charges more than its price. */
  charge(cost: string): void;
}

/**
 * Does the work and returns the result. A generator yields pieces of the result, and `progress(…)`, which reach a caller who
 * follows at once; what it returns is the result, or all pieces together when it returns nothing.
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

async function runHandle(handle: HandleCall, call: CallContent, signal: AbortSignal, said: SaidLog): Promise<Answer> {
  if (call.deadline && call.deadline.getTime() <= Date.now()) throw pastDeadline();
  const startedMs = performance.now();
  const deadline = new AbortController();
  const started: { timer?: NodeJS.Timeout } = {};
  let cost: string | undefined;
  const { kind: _kind, ...content } = call;
  const stop = AbortSignal.any([signal, deadline.signal]);
  const charge = (amount: string) => {
    parseUsdc(amount);
    cost = amount;
  };
  try {
    const work = Promise.resolve()
      .then(() => handle({ ...content, signal: stop, charge }))
      .then((given) => collect(given, said, stop));
    const result = (await Promise.race([work, throwAtDeadline(call.deadline, deadline, started)])) ?? null;
    const completionTime = `${((performance.now() - startedMs) / 1000).toFixed(2)}s`;
    const body = JSON.stringify({ result, cost, completion_time: completionTime, agent_id: call.agentId });
    if (Buffer.byteLength(body) > maxResultBytes)
      throw new AgentError('result_too_large', 'The result is larger than 1 MiB', 500);
    return { status: 200, body };
  } finally {
    clearTimeout(started.timer);
  }
}

/**
 * Runs `handle` for one call and turns whatever comes of it into an answer; never rejects. An `AgentError` is shown to the
 * caller; any other error is told to `onError` only.
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
