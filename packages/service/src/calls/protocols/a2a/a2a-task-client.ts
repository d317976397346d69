import { setTimeout as sleep } from 'node:timers/promises';
import type { A2aAgent } from '../../../agents/health/a2a-card-client.ts';
import { headersTo } from '../../../agents/health/upstream.ts';
import { isObject, parseObject } from '../../../lib/json/json-object.ts';
import type { GuardedResponse } from '../../../lib/net/guarded-fetch.ts';
import type { AgentOutcome, Outcome } from '../../invocation.ts';
import { claimOfAgent } from '../../usage/usage-claim.ts';
import { type AgentCall, type Billed, type CallContext, CallFailedError, isStopping } from '../adapter.ts';
import { completed, describeError, MAX_RESULT_BYTES } from '../agent-answer.ts';
import { invalidAnswer, refused } from '../exchange.ts';
import { billOf } from '../pay-agent-bill.ts';
import { deadlinePassed, isPointless, patiently, pollPauses } from '../poll.ts';
import { isAnswered, questionOf } from './a2a-question.ts';
import {
  type A2aTask,
  type BoundRequest,
  bound,
  partsOf,
  readTask,
  resultIn,
  resultOf,
  resultOfMessage,
  textsOf,
} from './a2a-wire.ts';

/** A task as of the last answer, and its outcome or bill. */
export interface FollowedTask {
  readonly outcome: AgentOutcome | Billed;
  readonly task: A2aTask;
}

/** The end of a task, or its question; null: it is still running. */
export function endOf(task: A2aTask, call: Pick<AgentCall, 'invocation' | 'answers'>): AgentOutcome | Billed | null {
  const said = describeError({ message: textsOf(partsOf(task.message)).join(' ') });
  switch (task.state) {
    case 'completed':
      return withinLimit(completed(resultOfTask(task), claimOfAgent(task.usage)));
    case 'input-required':
    case 'auth-required':
      return demandOf(task) ?? (isAnswered(call, task) ? null : questionOf(call, task));
    case 'failed':
    case 'rejected':
    case 'canceled':
      throw new CallFailedError('agent_error', `The agent ended its task as ${task.state}${said}.`);
    default:
      // Also states that this node does not know: a later version of A2A may have more of them.
      return null;
  }
}

/** An artifact may come in pieces, each of them small. */
function withinLimit(outcome: Outcome): Outcome {
  if (outcome.kind === 'completed' && Buffer.byteLength(JSON.stringify(outcome.result)) > MAX_RESULT_BYTES)
    throw new CallFailedError('response_too_large', 'The agent gave a result of more than 1 MiB.');
  return outcome;
}

/** The terms of the x402 extension in a task's status. */
function demandOf({ message }: A2aTask): Billed | null {
  const metadata = isObject(message?.metadata) ? message.metadata : {};
  return metadata['x402.payment.required'] === undefined ? null : billOf(metadata['x402.payment.required']);
}

/** The artifact `result`, if one is named so; else all artifacts, else the last message. */
function resultOfTask({ artifacts, message }: A2aTask): unknown {
  if (artifacts.length === 0) return resultOfMessage(partsOf(message));
  const named = artifacts.filter(({ artifactId }) => artifactId === 'result');
  return resultOf((named.length > 0 ? named : artifacts).map(partsOf));
}

/** Asks for a task until it ends. One that has become pointless is cancelled. */
export async function followTask(
  ctx: CallContext,
  call: AgentCall,
  agent: A2aAgent,
  task: A2aTask,
): Promise<FollowedTask> {
  let current = task;
  for (const pauseMs of pollPauses(ctx, call)) {
    const outcome = endOf(current, call);
    if (outcome?.kind === 'failed') void cancelTask(ctx, call, agent, current.id);
    if (outcome) return { outcome, task: current };
    await sleep(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
    if (isPointless(ctx, call)) break;
    current = await readTaskAgain(ctx, call, agent, current.id);
  }
  return giveUp(ctx, call, agent, current.id);
}

/** Ends a call that has become pointless. A process that stops leaves its task to the next one. */
function giveUp(ctx: CallContext, call: AgentCall, agent: A2aAgent, taskId: string): never {
  if (!isStopping(call.signal)) void cancelTask(ctx, call, agent, taskId);
  throw deadlinePassed();
}

/** The task as the agent has it now. It is cancelled if the call becomes pointless before the agent answers. */
export async function readTaskAgain(
  ctx: CallContext,
  call: AgentCall,
  agent: A2aAgent,
  taskId: string,
  historyLength: number | null = null,
): Promise<A2aTask> {
  const answer = await patiently(ctx, call, (timeoutMs) =>
    ask(ctx, call, bound.get(agent, taskId, historyLength), { timeoutMs, signal: call.signal }),
  ).catch((error: unknown) => {
    if (isPointless(ctx, call)) return giveUp(ctx, call, agent, taskId);
    throw error;
  });
  const value = parseObject(answer.body.toString('utf8'));
  if (answer.status !== 200 || isObject(value?.error)) return refused(answer.status, value);
  return readTask(resultIn(agent, value)) ?? invalidAnswer('without a task');
}

/** Cancels a task. The answer is ignored. */
export async function cancelTask(
  ctx: CallContext,
  call: Pick<AgentCall, 'target' | 'invocation'>,
  agent: A2aAgent,
  id: string,
): Promise<void> {
  await ask(ctx, call, bound.cancel(agent, id), { timeoutMs: 2000 }).catch(() => undefined);
}

const ask = (
  ctx: CallContext,
  { target, invocation, media }: Pick<AgentCall, 'target' | 'invocation'> & Partial<Pick<AgentCall, 'media'>>,
  { url, method, headers, body }: BoundRequest,
  limits: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<GuardedResponse> => {
  const request = {
    url,
    method,
    headers: {
      ...headersTo(target, url),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      accept: 'application/json',
      'x-request-id': invocation.id,
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...limits,
  };
  return media ? media.request(request) : ctx.guardedFetch.request({ ...request, maxBytes: MAX_RESULT_BYTES });
};
