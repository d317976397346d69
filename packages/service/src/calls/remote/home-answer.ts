import {
  type FailureReason,
  failureReasons,
  openStatuses,
  requestStatuses,
} from '@agent-network/contracts/invocations/invocations';
import { parseUsdc, usdcPattern } from '@agent-network/contracts/money';
import { isObject, type Json, parseObject, scalarText } from '../../lib/json/json-object.ts';
import type { GuardedResponse } from '../../lib/net/guarded-fetch.ts';
import type { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import type { AgentOutcome, Failure, Outcome } from '../invocation.ts';
import { describeError, failed, readAsked, readResult } from '../protocols/agent-answer.ts';

/** A request as reported by its home node. */
export interface HomeRecord {
  readonly homeRequestId: string;
  readonly status: (typeof requestStatuses)[number];
  readonly result: unknown;
  /** The usage that it states, unread. */
  readonly usage: unknown;
  /** The question that it waits for, unread. */
  readonly inputRequest: unknown;
  /** Part of the payment that it refunds; 0 while the request is open. */
  readonly refundMicro: bigint;
  readonly error: { readonly code: unknown; readonly message: unknown } | null;
  readonly completedAt: Date | null;
}

/** Classification of a home node's answer to a call. */
export type HomeAnswer =
  | { readonly kind: 'told'; readonly record: HomeRecord }
  /** The home asks for payment first. */
  | { readonly kind: 'billed'; readonly homeRequestId: string | null; readonly answer: GuardedResponse }
  /** The home is already processing this call. */
  | { readonly kind: 'busy' }
  /** Retry. `isPatient`: until the deadline. `outcome`: the end if time runs out. */
  | { readonly kind: 'again'; readonly afterMs: number | null; readonly isPatient: boolean; readonly outcome: Failure }
  | { readonly kind: 'refused'; readonly outcome: Failure };

const isId = (value: unknown): value is string => typeof value === 'string' && /^[\x21-\x7e]{1,100}$/.test(value);

export function readHomeAnswer(answer: GuardedResponse): HomeAnswer {
  const body = parseObject(answer.body.toString('utf8'));
  const error = isObject(body?.error) ? body.error : {};
  const { status } = answer;
  if (status === 200) {
    const record = readHomeRecord(body?.data);
    return record ? { kind: 'told', record } : refuse('invalid_response', 'answered with no request record');
  }
  if (status === 402) {
    const memo = isObject(error.payment) ? error.payment.memo : null;
    return { kind: 'billed', homeRequestId: isId(memo) ? memo : null, answer };
  }
  if (status === 409) return { kind: 'busy' };
  if (status === 429) return unasked(again(answer, error, true));
  if (error.code === 'PAYMENT_PENDING') return again(answer, error, true);
  if (error.code === 'AGENT_UNAVAILABLE') return refuse('agent_unreachable', 'cannot reach it', error);
  if (status >= 500) return again(answer, error, false);
  if (status === 401 || status === 403)
    return unasked(refuse('agent_unreachable', 'does not take calls of this node', error));
  if (status === 404) return refuse('agent_removed', 'does not have it', error);
  if (isAbout(error, /^maxCost$/)) return refuse('bill_too_high', 'asks more than its listed price', error);
  if (status === 400 && isAbout(error, /^(input|capability)(\.|$)/))
    return refuse('input_invalid', 'does not take the input', error);
  return refuse('agent_error', `answered ${status}`, error);
}

/** Classifies a call that got no answer. Its arrival is unknown; the Idempotency-Key identifies it. */
export function readHomeFailure(error: GuardedFetchError): Exclude<HomeAnswer, { kind: 'told' }> {
  switch (error.kind) {
    case 'too_large':
      return refuse('response_too_large', 'sent an answer above the size limit');
    case 'redirect':
      return refuse('agent_redirected', 'answered with a redirect, which is not followed');
    case 'encoding':
      return refuse('invalid_response', 'sent a compressed answer, which is not accepted');
    case 'blocked':
    case 'invalid_url':
      return refuse('agent_unreachable', 'could not be reached');
    default: {
      const outcome = failed('agent_unreachable', "The agent's home node could not be reached.");
      return { kind: 'again', afterMs: null, isPatient: false, outcome };
    }
  }
}

type Reason = Parameters<typeof failed>[0];

const refuse = (reason: Reason, what: string, error?: Json): Extract<HomeAnswer, { kind: 'refused' }> => ({
  kind: 'refused',
  outcome: failed(reason, `The agent's home node ${what}${describeError(error)}.`),
});

/** Marks a failure between home and node, which does not count against the agent. */
const unasked = <Answer extends { readonly outcome: Failure }>(answer: Answer): Answer => ({
  ...answer,
  outcome: { ...answer.outcome, isUnasked: true },
});

function again({ headers }: GuardedResponse, error: Json, isPatient: boolean): Extract<HomeAnswer, { kind: 'again' }> {
  const seconds = Number(headers['retry-after']);
  const afterMs = seconds >= 0 && seconds <= 86_400 ? seconds * 1000 : null;
  const outcome = failed(
    'agent_unreachable',
    `The agent's home node does not accept calls now${describeError(error)}.`,
  );
  return { kind: 'again', afterMs, isPatient, outcome };
}

function isAbout({ details }: Json, field: RegExp): boolean {
  const fields = isObject(details) ? details.fields : null;
  return Array.isArray(fields) && fields.some((each) => isObject(each) && field.test(scalarText(each.path)));
}

/** A record, or the short form of an accepted request; null for anything else. */
export function readHomeRecord(value: unknown): HomeRecord | null {
  if (!isObject(value) || !isId(value.requestId)) return null;
  const status = requestStatuses.find((each) => each === value.status);
  if (status === undefined) return null;
  const { refund, error, completedAt } = value;
  return {
    homeRequestId: value.requestId,
    status,
    result: value.result,
    usage: value.usage,
    inputRequest: value.inputRequest,
    refundMicro: typeof refund === 'string' && usdcPattern.test(refund) ? parseUsdc(refund) : 0n,
    error: isObject(error) ? { code: error.code, message: error.message } : null,
    completedAt:
      typeof completedAt === 'string' && !Number.isNaN(Date.parse(completedAt)) ? new Date(completedAt) : null,
  };
}

/** Reasons that only this node can give: it was not paid, or it has lost the call. From a home node they are ignored. */
const ofThisNode: ReadonlySet<FailureReason> = new Set(['payment_failed', 'node_restored']);

/** The local outcome of a request that has ended at its home node; null: still open. Its cost was billed: there is no other. */
export function outcomeOf({ status, result, usage, error }: HomeRecord): Outcome | null {
  if (openStatuses.includes(status)) return null;
  if (status === 'completed') return readResult({ result, cost: '0', usage });
  if (status === 'cancelled') return failed('agent_error', "The request was cancelled at the agent's home node.");
  const reason = failureReasons.find((each) => each === error?.code && !ofThisNode.has(each)) ?? 'agent_error';
  return failed(reason, `The request failed at the agent's home node${describeError(error)}.`);
}

/** Time before the expiry of a question at its home in which an answer is passed on. */
const PASSED_ON_S = 10;

/** The question that a request waits for at its home node. */
export function questionOf(
  { inputRequest }: Pick<HomeRecord, 'inputRequest'>,
  homeRequestId: string,
  now: Date,
): AgentOutcome {
  if (!isObject(inputRequest) || !isId(inputRequest.inputId))
    return failed('invalid_response', "The agent's home node asked a question that cannot be read.");
  const { inputId, message, schema, url, kind, expiresAt } = inputRequest;
  const leftS = (Date.parse(scalarText(expiresAt)) - now.getTime()) / 1000;
  const timeout = leftS > 2 * PASSED_ON_S ? leftS - PASSED_ON_S : leftS;
  const asked = readAsked({ input: { id: inputId, message, schema, url, kind, ...(timeout > 0 ? { timeout } : {}) } });
  return asked.kind === 'asks' ? { ...asked, handle: homeRequestId } : asked;
}
