import { setTimeout as sleep } from 'node:timers/promises';
import {
  closeMcp,
  findTool,
  type McpSession,
  type McpTool,
  mcpMessage,
  openMcp,
} from '../../../agents/health/mcp-client.ts';
import { isObject, type Json, parseObject } from '../../../lib/json/json-object.ts';
import type { PaymentProof } from '../../../payments/x402/payment-proof.ts';
import { whileAway } from '../../../store/while-away.ts';
import type { AgentOutcome, Invocation } from '../../invocation.ts';
import { readProgressData } from '../../stream/progress.ts';
import { type ChunkRecorder, createChunkRecorder, type Said } from '../../stream/record-chunks.ts';
import {
  type Adapter,
  type AgentCall,
  type Billed,
  type CallContext,
  CallFailedError,
  isStopping,
  keyOf,
} from '../adapter.ts';
import { failed } from '../agent-answer.ts';
import { invalidAnswer, messagesOf, postForEvents, refused } from '../exchange.ts';
import { payloadOf } from '../pay-agent-bill.ts';
import { isPointless, pauseInTime } from '../poll.ts';
import { recordHandle } from '../upstream-call-store.ts';
import { needsInput, questionOf, responsesTo } from './mcp-question.ts';
import { readError, readResult } from './mcp-result.ts';
import { answerTask, cancelTask, followTask, interactive, isTaskId, isUnanswered } from './mcp-task-client.ts';

/** One call of a tool of an MCP server; answers to its questions are the same call again, or go to its task. */
export const mcpAdapter: Adapter = {
  async prepare(ctx, call) {
    const { target, signal } = call;
    const last = call.answers.at(-1);
    const taskId = last?.handle ?? null;
    if (taskId !== null) return () => answerTask(ctx, call, taskId);
    const opened = await openMcp(ctx, target, signal);
    const session = call.invocation.inputTimeoutS === null ? opened : { ...opened, capabilities: interactive };
    let told = Promise.resolve();
    // A cancellation is told within the session, which therefore ends behind it; the call does not wait for either.
    const close = () => void told.then(() => closeMcp(ctx, target, session));
    try {
      const tool = await findTool(ctx, target, session, signal);
      // One for both calls of the tool: after a payment its progress comes behind what it told before.
      const recorder = call.invocation.isStreamed ? await createChunkRecorder(ctx, call) : null;
      // Kept over a payment: the server goes on where it asked for that.
      const made: ToolCall = { session, tool, recorder, more: last ? responsesTo(last) : {}, sent: 0 };
      const send = (proof: PaymentProof | null) =>
        callTool(ctx, call, made, proof).finally(() => {
          if (signal.aborted && !isStopping(signal)) told = tellCancelled(ctx, call, session);
        });
      return Object.assign(send, { close });
    } catch (error) {
      close();
      throw error;
    }
  },
  async resume(ctx, call, taskId) {
    if (call.answers.length > 0 && (await isUnanswered(ctx, call, taskId))) return 'unsent';
    const outcome = await followTask(ctx, call, taskId);
    return outcome.kind === 'billed' ? unpaidTask : outcome;
  },
  cancel: cancelTask,
};

const unpaidTask = failed('agent_needs_input', 'The agent asked for its payment in a task, which cannot be paid.');

/** The caller's input; its task as well, where the tool has a place for it. */
function toArguments({ inputSchema }: McpTool, { task, input }: Invocation): Json {
  const properties = isObject(inputSchema.properties) ? inputSchema.properties : {};
  return Object.hasOwn(properties, 'task') && !Object.hasOwn(input, 'task') ? { ...input, task } : input;
}

interface ToolCall {
  readonly session: McpSession;
  readonly tool: McpTool;
  /** null: progress is not stored. */
  readonly recorder: ChunkRecorder | null;
  /** Parameters beside those of the call: answers, and what the server wants back. */
  more: Json;
  /** Calls of the tool in this turn. Each has an id of its own. */
  sent: number;
}

/** Calls of one turn of a server that only wants its state back. */
const MAX_ROUNDS = 10;
const FIRST_ROUND_PAUSE_MS = 100;

type ToolEnd = AgentOutcome | Billed;
/** The server has done nothing yet, and is called again with its state. */
type ToolAnswer = ToolEnd | { readonly kind: 'again'; readonly requestState: string } | TaskMade;
interface TaskMade {
  readonly kind: 'task';
  readonly taskId: string;
}

async function callTool(
  ctx: CallContext,
  call: AgentCall,
  made: ToolCall,
  proof: PaymentProof | null,
): Promise<ToolEnd> {
  for (let round = 0; ; round++) {
    const answer = await callToolOnce(ctx, call, made, proof);
    if (answer.kind === 'task') {
      await whileAway(call.signal, () => recordHandle(ctx.db, call.invocation, answer.taskId));
      return followTask(ctx, call, answer.taskId);
    }
    if (answer.kind !== 'again') return answer;
    if (round >= MAX_ROUNDS || isPointless(ctx, call))
      return invalidAnswer('again and again that it is to be called again');
    made.more = { requestState: answer.requestState };
    const leftMs = call.invocation.deadline.getTime() - ctx.clock.now().getTime();
    const pauseMs = pauseInTime(FIRST_ROUND_PAUSE_MS * 2 ** round, leftMs);
    await sleep(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
  }
}

async function callToolOnce(
  ctx: CallContext,
  call: AgentCall,
  made: ToolCall,
  proof: PaymentProof | null,
): Promise<ToolAnswer> {
  const { invocation, target } = call;
  const { session, tool, recorder, more } = made;
  made.sent += 1;
  const id = made.sent === 1 ? keyOf(invocation) : `${keyOf(invocation)} ${made.sent}`;
  const _meta = {
    ...(invocation.isStreamed ? { progressToken: id } : {}),
    ...(proof === null ? {} : { 'x402/payment': payloadOf(proof) }),
  };
  const params = { name: tool.name, arguments: toArguments(tool, invocation), ...more, _meta };
  const { headers, body } = mcpMessage(session, 'tools/call', params, id);
  const reply = await postForEvents(ctx, call, { url: target.endpoint, body, headers, proof });
  if (reply.kind === 'billed') return reply;
  if (reply.kind === 'events') return followMessages(call, id, recorder, reply.bytes);
  const message = parseObject(reply.body.toString('utf8'));
  const isOurs = message !== undefined && message.id === id;
  if (reply.status !== 200 && !(isOurs && isObject(message.error))) return refused(reply.status, message);
  return isOurs ? readToolMessage(call, message) : invalidAnswer('without the result of the tool');
}

async function followMessages(
  call: AgentCall,
  id: string,
  recorder: ChunkRecorder | null,
  bytes: AsyncIterable<Buffer>,
): Promise<ToolAnswer> {
  for await (const { messages, isTooLarge } of messagesOf(bytes, 1024, call.media)) {
    const read = messages.map(({ data }) => parseObject(data));
    const end = read.find((message) => isEnd(id, message));
    const said = (end ? read.slice(0, read.indexOf(end)) : read).flatMap(progressIn);
    if (recorder && said.length > 0 && !(await recorder.add(said)))
      throw new CallFailedError('agent_error', 'Another process has taken the request over.');
    if (end) return 'method' in end ? needsInput : readToolMessage(call, end);
    if (recorder?.isTooMuch())
      throw new CallFailedError('response_too_large', 'The agent told of more progress than is taken.');
    if (isTooLarge) throw new CallFailedError('response_too_large', 'The agent streamed a message of more than 1 MiB.');
  }
  return invalidAnswer('without the result of the tool');
}

/** True for the answer to the call, and for a request to the caller. */
function isEnd(id: string, message: Json | undefined): boolean {
  if (typeof message?.method === 'string') return 'id' in message && message.method !== 'ping';
  return message?.id === id && !('method' in message);
}

/** A progress notification as an event of the request; none: another message. */
const progressIn = (message: Json | undefined): Said[] =>
  message?.method === 'notifications/progress' && isObject(message.params)
    ? [{ type: 'invocation.status', data: statusOf(message.params) }]
    : [];

function statusOf({ progress, total, message }: Json): Json {
  return {
    ...(typeof progress === 'number' ? { progress } : {}),
    ...(typeof total === 'number' ? { total } : {}),
    ...readProgressData({
      ...(typeof progress === 'number' && typeof total === 'number' && total > 0 ? { fraction: progress / total } : {}),
      ...(typeof message === 'string' ? { message } : {}),
    }),
  };
}

/** With a handshake a closed connection is no cancellation yet; without, this message is not needed. */
async function tellCancelled(ctx: CallContext, { target, invocation }: AgentCall, session: McpSession): Promise<void> {
  if (session.sessionId === null) return;
  const { headers, body } = mcpMessage(session, 'notifications/cancelled', { requestId: keyOf(invocation) });
  const request = {
    url: target.endpoint,
    method: 'POST',
    headers: {
      ...target.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
    timeoutMs: 2000,
    maxBytes: 65_536,
  };
  await ctx.guardedFetch.request(request).catch(() => undefined);
}

/** The end of a tool call from its JSON-RPC response, or what the server wants before. */
function readToolMessage(call: AgentCall, { result, error }: Json): ToolAnswer {
  if (isObject(error)) return readError(error);
  if (!isObject(result)) return invalidAnswer('without the result of the tool');
  if (result.resultType === 'task')
    return isTaskId(result.taskId)
      ? { kind: 'task', taskId: result.taskId }
      : invalidAnswer('without the id of its task');
  if (result.resultType !== 'input_required') return readResult(result);
  const { inputRequests, requestState } = result;
  if (inputRequests === undefined && typeof requestState === 'string') return { kind: 'again', requestState };
  return questionOf(call, result, null);
}
