import { USAGE_EXTENSION } from '@agent-network/contracts/invocations/usage';
import {
  closeMcp,
  findTool,
  type McpSession,
  type McpTool,
  mcpMessage,
  openMcp,
} from '../../agents/health/mcp-client.ts';
import { isObject, type Json, parseObject } from '../../lib/json/json-object.ts';
import type { PaymentProof } from '../../payments/x402/payment-proof.ts';
import type { Invocation, Outcome } from '../invocation.ts';
import { type ChunkRecorder, createChunkRecorder, type Said } from '../stream/record-chunks.ts';
import { claimOfAgent } from '../usage/usage-claim.ts';
import { type Adapter, type AgentCall, type Billed, type CallContext, CallFailedError, isStopping } from './adapter.ts';
import { completed, describeError } from './agent-answer.ts';
import { invalidAnswer, messagesOf, postForEvents, refused } from './exchange.ts';
import { billOf, payloadOf } from './pay-agent-bill.ts';

/** One call of a tool of an MCP server. */
export const mcpAdapter: Adapter = {
  async prepare(ctx, call) {
    const { target, signal } = call;
    const session = await openMcp(ctx, target, signal);
    let told = Promise.resolve();
    // A cancellation is told within the session, which therefore ends behind it; the call does not wait for either.
    const close = () => void told.then(() => closeMcp(ctx, target, session));
    try {
      const tool = await findTool(ctx, target, session, signal);
      // One for both calls of the tool: after a payment its progress comes behind what it told before.
      const recorder = call.invocation.isStreamed ? await createChunkRecorder(ctx, call) : null;
      const send = (proof: PaymentProof | null) =>
        callTool(ctx, call, { session, tool, proof, recorder }).finally(() => {
          if (signal.aborted && !isStopping(signal)) told = tellCancelled(ctx, call, session);
        });
      return Object.assign(send, { close });
    } catch (error) {
      close();
      throw error;
    }
  },
};

/** The caller's input; its task as well, where the tool has a place for it. */
function toArguments({ inputSchema }: McpTool, { task, input }: Invocation): Json {
  const properties = isObject(inputSchema.properties) ? inputSchema.properties : {};
  return Object.hasOwn(properties, 'task') && !Object.hasOwn(input, 'task') ? { ...input, task } : input;
}

interface ToolCall {
  readonly session: McpSession;
  readonly tool: McpTool;
  readonly proof: PaymentProof | null;
  /** null: progress is not stored. */
  readonly recorder: ChunkRecorder | null;
}

async function callTool(
  ctx: CallContext,
  call: AgentCall,
  { session, tool, proof, recorder }: ToolCall,
): Promise<Outcome | Billed> {
  const { invocation, target } = call;
  const _meta = {
    ...(invocation.isStreamed ? { progressToken: invocation.id } : {}),
    ...(proof === null ? {} : { 'x402/payment': payloadOf(proof) }),
  };
  const params = { name: tool.name, arguments: toArguments(tool, invocation), _meta };
  const { headers, body } = mcpMessage(session, 'tools/call', params, invocation.id);
  const reply = await postForEvents(ctx, call, { url: target.endpoint, body, headers, proof });
  if (reply.kind === 'billed') return reply;
  if (reply.kind === 'events') return followMessages(call, recorder, reply.bytes);
  const message = parseObject(reply.body.toString('utf8'));
  const isOurs = message !== undefined && message.id === invocation.id;
  if (reply.status !== 200 && !(isOurs && isObject(message.error))) return refused(reply.status, message);
  return isOurs ? readToolMessage(message) : invalidAnswer('without the result of the tool');
}

async function followMessages(
  { invocation, media }: AgentCall,
  recorder: ChunkRecorder | null,
  bytes: AsyncIterable<Buffer>,
): Promise<Outcome | Billed> {
  for await (const { messages, isTooLarge } of messagesOf(bytes, 1024, media)) {
    const read = messages.map(({ data }) => parseObject(data));
    const end = read.find((message) => isEnd(invocation, message));
    const said = (end ? read.slice(0, read.indexOf(end)) : read).flatMap(progressIn);
    if (recorder && said.length > 0 && !(await recorder.add(said)))
      throw new CallFailedError('agent_error', 'Another process has taken the request over.');
    if (end) return endOf(end);
    if (recorder?.isTooMuch())
      throw new CallFailedError('response_too_large', 'The agent told of more progress than is taken.');
    if (isTooLarge) throw new CallFailedError('response_too_large', 'The agent streamed a message of more than 1 MiB.');
  }
  return invalidAnswer('without the result of the tool');
}

/** True for the answer to the call, and for a request to the caller. */
function isEnd({ id }: Invocation, message: Json | undefined): boolean {
  if (typeof message?.method === 'string') return 'id' in message && message.method !== 'ping';
  return message?.id === id && !('method' in message);
}

function endOf(message: Json): Outcome | Billed {
  if (!('method' in message)) return readToolMessage(message);
  throw new CallFailedError('agent_needs_input', 'The agent asked for more input, which a call does not have.');
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
    ...(typeof message === 'string' ? { message: message.slice(0, 2000) } : {}),
  };
}

/** With a handshake a closed connection is no cancellation yet; without, this message is not needed. */
async function tellCancelled(ctx: CallContext, { target, invocation }: AgentCall, session: McpSession): Promise<void> {
  if (session.sessionId === null) return;
  const { headers, body } = mcpMessage(session, 'notifications/cancelled', { requestId: invocation.id });
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

const PAYMENT_REQUIRED = 402;
/** MCP error code of a tool that requires its user to open a page first. */
const URL_ELICITATION_REQUIRED = -32042;

/** The end of a tool call from its JSON-RPC response. */
function readToolMessage({ result, error }: Json): Outcome | Billed {
  if (isObject(error)) return readError(error);
  if (!isObject(result)) return invalidAnswer('without the result of the tool');
  if (result.resultType === 'input_required') return needsInput();
  const content = Array.isArray(result.content) ? result.content.filter(isObject) : [];
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  if (result.isError === true) {
    const bill = billOf(result.structuredContent) ?? billOf(parseObject(texts[0] ?? ''));
    if (bill) return bill;
    throw new CallFailedError('agent_error', `The agent failed${describeError({ message: texts.join(' ') })}.`);
  }
  const usage = claimOfAgent(isObject(result._meta) ? result._meta[USAGE_EXTENSION] : null);
  if (isObject(result.structuredContent)) return completed(result.structuredContent, usage);
  if (!Array.isArray(result.content)) return invalidAnswer('without content');
  return completed(texts.length === content.length ? { text: texts.join('\n') } : { content }, usage);
}

function readError(error: Json): Billed | never {
  const bill = error.code === PAYMENT_REQUIRED ? billOf(error.data) : null;
  if (bill) return bill;
  if (error.code === URL_ELICITATION_REQUIRED) return needsInput();
  throw new CallFailedError('agent_error', `The agent failed${describeError({ message: error.message })}.`);
}

function needsInput(): never {
  throw new CallFailedError('agent_needs_input', 'The agent asked for more input, which a call does not have.');
}
