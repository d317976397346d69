import { isUtf8 } from 'node:buffer';
import type { FailureReason } from '@agent-network/contracts/invocations/invocations';
import { parseUsdc, usdcPattern } from '@agent-network/contracts/money';
import { holdsInfinity, isDeeperThan, MAX_LEVELS } from '../../lib/json/json-limits.ts';
import { type Json, parseObject } from '../../lib/json/json-object.ts';
import { excerptOf } from '../../lib/net/error-text.ts';
import type { GuardedFetchError, GuardedFetchErrorKind } from '../../lib/net/guarded-fetch-error.ts';
import type { AgentOutcome, Failure, Outcome } from '../invocation.ts';
import { faultOfState, readQuestion } from '../turns/question.ts';
import type { UsageClaim } from '../usage/rate-usage.ts';
import { claimOfAgent } from '../usage/usage-claim.ts';

/** Maximum size of an agent's answer; the same as that of a caller's body. */
export const MAX_RESULT_BYTES = 1024 * 1024;
const RETRIED_STATUSES = new Set([502, 503, 504]);
/** Longer than the text shown to callers, which is cut after secrets are hidden in it. */
const MAX_MESSAGE = 1000;

export type AgentAnswer =
  | { readonly kind: 'ended'; readonly outcome: AgentOutcome; readonly isRetryable: boolean }
  /** The agent continues on its own; poll it at this address. */
  | {
      readonly kind: 'accepted';
      readonly statusUrl: string;
      readonly retryAfterS: number | null;
      readonly progress?: unknown;
    };

export const failed = (reason: FailureReason, message: string): Failure => ({ kind: 'failed', reason, message });

/** The end with a result that an adapter made of an answer. */
export const completed = (result: unknown, usage: UsageClaim | null = null): Outcome =>
  faultOf(result) ?? { kind: 'completed', result, claimedMicro: null, usage };

/** The failure of a result that would not be stored as the agent gave it; null: it would. */
function faultOf(result: unknown): Outcome | null {
  if (isDeeperThan(result, MAX_LEVELS.result)) return tooDeep;
  return holdsInfinity(result) ? tooLargeNumber : null;
}

const tooDeep = failed(
  'invalid_response',
  `The agent answered with a result nested deeper than ${MAX_LEVELS.result} levels.`,
);
const tooLargeNumber = failed('invalid_response', 'The agent answered with a number that is too large for a double.');
const notUtf8 = failed('invalid_response', 'The agent answered with text that is not UTF-8.');

const ended = (outcome: AgentOutcome, isRetryable = false): AgentAnswer => ({ kind: 'ended', outcome, isRetryable });

/** Classifies an answer of the agent (docs/design.md, section 4, "agent contract: call"). */
export function readAnswer(answer: { status: number; body: Buffer }): AgentAnswer {
  const value = parseObject(answer.body.toString('utf8'));
  if (answer.status === 202) return readAccepted(value);
  if (answer.status !== 200) {
    const outcome = failed('agent_error', `The agent answered ${answer.status}${describeError(value?.error)}.`);
    return ended(outcome, RETRIED_STATUSES.has(answer.status));
  }
  return ended(isUtf8(answer.body) ? readEnd(value) : notUtf8);
}

/** The outcome of an answer: a result, or a question to the caller. */
const readEnd = (value: Json | undefined): AgentOutcome =>
  value?.status === 'input_required' && !('result' in value) ? readAsked(value) : readResult(value);

/** A question in an answer, or in a stream's event `input_required`. */
export function readAsked({ input, state }: Json): AgentOutcome {
  const read = readQuestion(input);
  const fault = 'fault' in read ? read.fault : faultOfState(state);
  if ('fault' in read || fault !== null) return failed('invalid_response', `The agent asked a question ${fault}.`);
  return { kind: 'asks', question: read.question, ...(state === undefined ? {} : { state }), handle: null };
}

/** The outcome of a result object, from an answer or from a stream's `result` event. */
export function readResult(value: Json | undefined): Outcome {
  if (value === undefined) return failed('invalid_response', 'The agent\'s answer has no "result" field.');
  if (!('result' in value)) return failed('invalid_response', `Expected {"result": ...}; got ${shapeOf(value)}.`);
  const fault = faultOf(value.result);
  if (fault) return fault;
  const { cost } = value;
  if (cost !== undefined && cost !== null && !(typeof cost === 'string' && usdcPattern.test(cost)))
    return failed('invalid_response', 'The agent returned a cost that is not a USDC amount.');
  const claimedMicro = typeof cost === 'string' ? parseUsdc(cost) : null;
  return { kind: 'completed', result: value.result, claimedMicro, usage: claimOfAgent(value.usage) };
}

const MAX_FIELDS = 5;

/** An object of the agent by the names of its first fields, since their values may be long or secret. */
function shapeOf(value: Json): string {
  const names = Object.keys(value);
  if (names.length === 0) return 'an object without fields';
  const shown = names.slice(0, MAX_FIELDS).map((name) => excerptOf(name.slice(0, 40)));
  const more = names.length > MAX_FIELDS ? ' and more' : '';
  return `an object with the ${names.length === 1 ? 'field' : 'fields'} ${shown.join(', ')}${more}`;
}

/** Classifies an answer to a status poll. */
export function readProgress(answer: { status: number; body: Buffer }): AgentAnswer {
  const value = parseObject(answer.body.toString('utf8'));
  if (answer.status === 200 && value?.status === 'failed')
    return ended(failed('agent_error', `The agent failed${describeError(value.error)}.`));
  if (answer.status === 200 && value?.status === 'processing' && !('result' in value)) return readAccepted(value);
  return readAnswer(answer);
}

function readAccepted(value: Json | undefined): AgentAnswer {
  const retryAfter = value?.retry_after;
  const retryAfterS = typeof retryAfter === 'number' && retryAfter >= 0 ? retryAfter : null;
  const statusUrl = typeof value?.status_url === 'string' ? value.status_url : '';
  return { kind: 'accepted', statusUrl, retryAfterS, progress: value?.progress };
}

/** The agent's error text, truncated and without control characters: it reaches people's terminals. */
export function describeError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, message } = error as { code?: unknown; message?: unknown };
  const text = [code, message].filter((part) => typeof part === 'string').join(': ');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing control characters is the point
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, ' ').toWellFormed();
  return clean === '' ? '' : `: ${clean.slice(0, MAX_MESSAGE)}`;
}

const failureOf: Record<GuardedFetchErrorKind, { reason: FailureReason; message: string }> = {
  timeout: { reason: 'deadline_exceeded', message: 'The agent did not answer before the deadline.' },
  aborted: { reason: 'deadline_exceeded', message: 'The call was aborted before the agent answered.' },
  too_large: { reason: 'response_too_large', message: 'The agent answered with more than 1 MiB.' },
  redirect: { reason: 'agent_redirected', message: 'The agent answered with a redirect, which is not followed.' },
  encoding: { reason: 'invalid_response', message: 'The agent sent a compressed answer, which is not accepted.' },
  reset: { reason: 'agent_unreachable', message: 'The agent closed the connection without an answer.' },
  connect: { reason: 'agent_unreachable', message: 'The agent could not be reached.' },
  // One message for an unresolvable name and for a refused address: a difference would map a private network.
  dns: { reason: 'agent_unreachable', message: 'The agent could not be reached.' },
  blocked: { reason: 'agent_unreachable', message: 'The agent could not be reached.' },
  invalid_url: { reason: 'agent_unreachable', message: "The agent's endpoint is not a URL that can be called." },
};

/** Classifies a call that got no answer. */
export const readFailure = (
  error: GuardedFetchError,
): Extract<AgentAnswer, { kind: 'ended' }> & { readonly outcome: Failure } => ({
  kind: 'ended',
  outcome: { kind: 'failed', ...failureOf[error.kind] },
  isRetryable: error.isRetryable,
});
