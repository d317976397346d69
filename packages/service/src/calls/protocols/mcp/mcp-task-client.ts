import { setTimeout as sleep } from 'node:timers/promises';
import { askMcp, MCP_STATELESS, type McpSession } from '../../../agents/health/mcp-client.ts';
import { isObject, type Json, parseObject } from '../../../lib/json/json-object.ts';
import type { AgentOutcome } from '../../invocation.ts';
import { type AgentCall, type Billed, type CallContext, CallFailedError, isStopping, keyOf } from '../adapter.ts';
import { MAX_RESULT_BYTES } from '../agent-answer.ts';
import { invalidAnswer, refused } from '../exchange.ts';
import { deadlinePassed, patiently, pollPauses } from '../poll.ts';
import { answeredKeys, questionOf, responsesTo } from './mcp-question.ts';
import { readError, readResult } from './mcp-result.ts';

/** The tasks extension: a server may answer a call with a task, which is asked for until it ends. */
const TASKS = 'io.modelcontextprotocol/tasks';
/** Longest pause between questions for a task. */
const MAX_PAUSE_MS = 10_000;

/** Capabilities of an interactive call. `sampling` and `roots` are nothing that a caller could give. */
export const interactive: Json = { elicitation: { form: {}, url: {} }, extensions: { [TASKS]: {} } };

/** Only servers without a handshake have tasks of this extension. */
const session: McpSession = { version: MCP_STATELESS, sessionId: null, capabilities: interactive };

/** True for an id that fits into a header as well. */
export const isTaskId = (id: unknown): id is string => typeof id === 'string' && /^[\x21-\x7e]{1,500}$/.test(id);

/** Sends an answer to a task, and follows it. An answer that comes twice counts once: in a task each key is used once. */
export async function answerTask(ctx: CallContext, call: AgentCall, taskId: string): Promise<AgentOutcome | Billed> {
  const last = call.answers.at(-1);
  const { inputResponses } = last ? responsesTo(last) : {};
  await ask(ctx, call, 'tasks/update', { taskId, inputResponses });
  return followTask(ctx, call, taskId);
}

/** Asks for a task until it ends or waits for its caller. One that has become pointless is cancelled. */
export async function followTask(ctx: CallContext, call: AgentCall, taskId: string): Promise<AgentOutcome | Billed> {
  for (const pauseMs of pollPauses(ctx, call)) {
    const task = await ask(ctx, call, 'tasks/get', { taskId });
    const end = endOf(call, task);
    if (end?.kind === 'failed') void cancelTask(ctx, call, taskId);
    if (end) return end;
    const wishMs = typeof task.pollIntervalMs === 'number' ? Math.min(MAX_PAUSE_MS, task.pollIntervalMs) : 0;
    await sleep(Math.max(pauseMs, wishMs), undefined, { signal: call.signal }).catch(() => undefined);
  }
  if (!isStopping(call.signal)) void cancelTask(ctx, call, taskId);
  throw deadlinePassed();
}

/** The requests of a task that have no answer yet; null: it does not wait. A server may show an answered one for a while. */
function openRequests({ answers }: AgentCall, { status, inputRequests }: Json): Json | null {
  if (status !== 'input_required') return null;
  const answered = answeredKeys(answers);
  const open = Object.entries(isObject(inputRequests) ? inputRequests : {}).filter(([key]) => !answered.has(key));
  return open.length === 0 ? null : Object.fromEntries(open);
}

/** null: it is still running. */
function endOf(call: AgentCall, task: Json): AgentOutcome | Billed | null {
  switch (task.status) {
    case 'completed':
      return isObject(task.result) ? readResult(task.result) : invalidAnswer('without the result of the tool');
    case 'failed':
      return isObject(task.error) ? readError(task.error) : invalidAnswer('without the error of the tool');
    case 'cancelled':
      throw new CallFailedError('agent_error', 'The agent ended its task as cancelled.');
    default: {
      const open = openRequests(call, task);
      return open && questionOf(call, { inputRequests: open }, String(task.taskId));
    }
  }
}

/** True while a task still waits for the last answer: it has not come there, or not been taken yet. */
export async function isUnanswered(ctx: CallContext, call: AgentCall, taskId: string): Promise<boolean> {
  const task = await ask(ctx, call, 'tasks/get', { taskId });
  const last = answeredKeys(call.answers.slice(-1));
  const open = task.status === 'input_required' && isObject(task.inputRequests) ? Object.keys(task.inputRequests) : [];
  return open.some((key) => last.has(key));
}

async function ask(ctx: CallContext, call: AgentCall, method: string, params: Json): Promise<Json> {
  const { target, media, signal } = call;
  const id = `${keyOf(call.invocation)} ${method}`;
  const outbound = { guardedFetch: { ...ctx.guardedFetch, request: media.request } };
  let message: Json | undefined;
  const answer = await patiently(ctx, call, async (timeoutMs) => {
    const asked = await askMcp(
      outbound,
      target,
      session,
      { method, params, id },
      { timeoutMs, maxBytes: MAX_RESULT_BYTES, signal },
    );
    message = asked.message;
    return asked.answer;
  });
  if (!isObject(message?.result)) return refused(answer.status, message ?? parseObject(answer.body.toString('utf8')));
  return { ...message.result, taskId: params.taskId };
}

/** Cancels a task. The answer is ignored. */
export async function cancelTask(
  ctx: CallContext,
  { target }: Pick<AgentCall, 'target'>,
  taskId: string,
): Promise<void> {
  const limits = { timeoutMs: 2000, maxBytes: 65_536, signal: undefined };
  const message = { method: 'tasks/cancel', params: { taskId }, id: 'cancel' };
  await askMcp(ctx, target, session, message, limits).catch(() => undefined);
}
