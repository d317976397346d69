import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { FoundAgent, McpTool, mcpAgentTools, mcpTools } from '@agent-network/contracts/mcp-tools';
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { describeAgents } from '../../../agents/search/describe-agents.ts';
import { hasEnded, isAtRest } from '../../../calls/invocation.ts';
import { AUTO } from '../../../calls/start/invocation-purchase.ts';
import { shownProgress } from '../../../calls/stream/progress.ts';
import type { StreamEvent } from '../../../calls/stream/read-stream.ts';
import { questionEvent } from '../../../calls/turns/read-answers.ts';
import { readMediaType } from '../../../files/file-facts.ts';
import { invalidFields } from '../../../lib/app-error.ts';
import { answererOf, readerOf } from '../../api/reader-of.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { type Answered, callEndpoint } from '../common/call-endpoint.ts';
import { follow } from '../common/follow.ts';
import { storeForGateway } from '../common/gateway-files.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';
import {
  followStarted,
  type Purchase,
  readStarted,
  type Started,
  settlementAtEnd,
  startPurchase,
} from '../common/purchase.ts';
import { admitRead, countRead } from '../common/read-room.ts';
import { textOf } from '../common/text-of.ts';
import { callNameOf, type UndeliveredAnswers } from '../common/undelivered-answers.ts';
import type { ToolCallContext } from './call-context.ts';
import { canElicit } from './elicitation.ts';
import type { GivenUpCalls } from './given-up.ts';
import type { AskedCall } from './request-state.ts';
import { createdTask, takesTasks } from './tasks.ts';
import { invocationResult, paymentMeta, recordResult, toolResult } from './tool-result.ts';
import { askedResult, type Resumed, resume } from './turns.ts';

/** A call of a tool, with valid arguments. */
export interface ToolCall<T extends McpTool> {
  readonly opened: GatewayRequest;
  readonly args: z.output<T['args']>;
  readonly call: ToolCallContext;
  readonly lost: UndeliveredAnswers;
  readonly givenUp: GivenUpCalls;
  /** The agent of the called endpoint; null: the endpoint of all agents. */
  readonly agentId: string | null;
}

type Runs<Tools extends Readonly<Record<string, McpTool>>> = {
  readonly [N in keyof Tools]: (
    ctx: HttpContext,
    call: ToolCall<Tools[N]>,
  ) => Promise<CallToolResult | InputRequiredResult>;
};

async function searchAgents(ctx: HttpContext, { opened, args }: ToolCall<typeof mcpTools.search_agents>) {
  const { query, capabilities, maxPrice, minReputation, online, limit, cursor } = args;
  const { data } = await callEndpoint(ctx, opened, 'searchAgents', {
    body: {
      query: {
        ...(query === undefined ? {} : { text: query }),
        ...(capabilities === undefined ? {} : { capabilities: { any: capabilities } }),
        ...(maxPrice === undefined ? {} : { rates: { perRequest: { max: maxPrice } } }),
        ...(minReputation === undefined ? {} : { reputation: { min: minReputation } }),
        ...(online ? { online } : {}),
      },
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    },
  });
  const agents = await shown(ctx, data.agents);
  const { total, nextCursor, rankedBy } = data;
  return toolResult(answered({ agents, total, nextCursor, ...(rankedBy && { rankedBy }) }));
}

async function matchAgents(ctx: HttpContext, { opened, args }: ToolCall<typeof mcpTools.match_agents>) {
  const { data } = await callEndpoint(ctx, opened, 'matchAgents', { body: args });
  const agents = await shown(
    ctx,
    data.matches.map(({ agent }) => agent),
  );
  const matches = data.matches.map(({ score, parts }, index) => ({ ...agents[index], score, parts }));
  return toolResult(answered({ matches, considered: data.considered, words: data.words }));
}

/** Listed agents as a search shows them, with their descriptions. */
async function shown(ctx: HttpContext, listed: readonly AgentListItem[]): Promise<FoundAgent[]> {
  const descriptions = await describeAgents(
    ctx,
    listed.map(({ id }) => id),
  );
  return listed.map(({ id, name, capabilities, rates, reputation, status, verified }) => ({
    agentId: id,
    name,
    description: descriptions.get(id)?.description ?? '',
    capabilities,
    price: rates.perRequest,
    reputation,
    online: status === 'online',
    verified,
  }));
}

const answered = (data: unknown): Answered<unknown> => ({ data, json: JSON.stringify(data) });

type InvokeArgs = z.output<(typeof mcpAgentTools)['invoke']['args']>;
type InvokeCall = Omit<ToolCall<McpTool>, 'args'> & {
  readonly args: InvokeArgs & { readonly capabilities?: string[] | undefined };
};

/**
 * Buys, then waits for the end as long as the client wants. If the agent asks, asks the client. Without an end, returns a task to clients
 * that support it, else the current record.
 */
async function invoke(
  ctx: HttpContext,
  toolCall: InvokeCall,
  { agentId, tool }: { readonly agentId: string; readonly tool: string },
): Promise<CallToolResult | InputRequiredResult> {
  const { opened, args, call } = toolCall;
  const { task, maxCost, input, capability, capabilities, context, quoteId, waitSeconds, idempotencyKey } = args;
  const isAwaited = waitSeconds > 0;
  const startMs = performance.now();
  const asked = { opened, call, tool, agentId: toolCall.agentId, args };
  const purchase = {
    ...{ agentId, quoteId, idempotencyKey, isAwaited },
    payment: call.mcpReq._meta?.['x402/payment'],
    isStreamed: isAwaited && progressOf(call) !== undefined,
    body: {
      ...{ task, maxCost },
      ...(input === undefined ? {} : { input }),
      ...(capability === undefined ? {} : { capability }),
      ...(capabilities === undefined ? {} : { capabilities }),
      ...(context === undefined ? {} : { context }),
    },
  };
  const resumed = await resume(ctx, asked);
  const bought = resumed
    ? await watchResumed(ctx, toolCall, purchase, resumed)
    : await startOrFind(ctx, toolCall, purchase);
  // The payment was awaited before: its time is part of what the client waits for.
  const waitMs = resumed?.isLeft ? 0 : Math.max(0, waitSeconds * 1000 - (performance.now() - startMs));
  return invoked(ctx, asked, bought, { waitMs, resumed }).finally(bought.answered);
}

async function invoked(
  ctx: HttpContext,
  asked: AskedCall,
  { started, lose }: Bought,
  { waitMs, resumed }: { readonly waitMs: number; readonly resumed: Resumed | null },
): Promise<CallToolResult | InputRequiredResult> {
  const { opened, call, tool } = asked;
  const following = { waitMs, signal: call.mcpReq.signal, tell: progressOf(call), after: resumed?.after };
  const record = await followStarted(ctx, opened, started, following).catch((error) => {
    lose();
    throw error;
  });
  // Tasks are read with a key.
  const isTask = takesTasks(call) && opened.caller.kind !== 'anonymous';
  if (hasEnded(record.data.status))
    return invocationResult(record, await settlementAtEnd(ctx, opened, started, `mcp://tool/${tool}`));
  const { settlement } = started;
  if (isTask) return { ...createdTask(ctx, record.data), ...paymentMeta(settlement) };
  const problem = resumed?.problem ?? null;
  const question = resumed?.isLeft
    ? null
    : await askedResult(ctx, asked, { record: record.data as RequestRecord, problem, settlement });
  if (!question) return invocationResult(record, settlement);
  // Until the client has answered, the same call is the same purchase.
  lose();
  return question;
}

interface Bought {
  readonly started: Started;
  /** Marks the answer as undelivered. */
  readonly lose: () => void;
  /** Marks the call as answered. */
  readonly answered: () => void;
}

const nothing = () => undefined;

/** The name of a call that neither a key nor a payment marks as a new purchase; null: one does. */
async function nameOf(
  ctx: HttpContext,
  { opened: { caller } }: InvokeCall,
  { agentId, body, quoteId, payment, idempotencyKey }: Purchase,
): Promise<string | null> {
  const isNamed = payment !== undefined || idempotencyKey !== undefined;
  return caller.kind === 'anonymous' || isNamed ? null : callNameOf(ctx, caller, agentId, [body, quoteId]);
}

/** Starts a purchase. If neither a key nor a payment marks it as a new one, first looks for an identical one with an undelivered answer. */
async function startOrFind(ctx: HttpContext, toolCall: InvokeCall, purchase: Purchase): Promise<Bought> {
  const { opened, call, lost, givenUp, args } = toolCall;
  const isInteractive = args.interactive ?? canElicit(call);
  const asking = {
    ...purchase,
    body: { ...(purchase.body as object), ...(isInteractive ? { interactive: true } : {}) },
  };
  const name = await nameOf(ctx, toolCall, purchase);
  if (name === null) return { started: await startPurchase(ctx, opened, asking), lose: nothing, answered: nothing };
  const first = await lost.take(name);
  const starting = first === null ? startPurchase(ctx, opened, asking) : readStarted(ctx, opened, first);
  const requestId = first === null ? starting.then(({ first: { data } }) => data.requestId) : Promise.resolve(first);
  const lose = lost.watch(opened, name, requestId);
  const answered = givenUp.record(opened, call.mcpReq.id, lose);
  // A purchase that was found and could not be read is still to be found.
  if (first !== null) starting.catch(lose);
  return { started: await starting, lose, answered };
}

/** The client has the question of this purchase. It is undelivered again if the client leaves before this answer. */
async function watchResumed(
  ctx: HttpContext,
  toolCall: InvokeCall,
  purchase: Purchase,
  { started }: Resumed,
): Promise<Bought> {
  const { opened, call, lost, givenUp } = toolCall;
  const name = await nameOf(ctx, toolCall, purchase);
  if (name === null) return { started, lose: nothing, answered: nothing };
  const { requestId } = started.first.data;
  await lost.drop(name, requestId);
  const lose = lost.watch(opened, name, Promise.resolve(requestId));
  return { started, lose, answered: givenUp.record(opened, call.mcpReq.id, lose) };
}

async function getInvocation(ctx: HttpContext, { opened, args, call }: ToolCall<typeof mcpTools.get_invocation>) {
  const { requestId, waitSeconds, resultToken } = args;
  const headers: Record<string, string> = resultToken === undefined ? {} : { 'x-result-token': resultToken };
  const first = await callEndpoint(ctx, opened, 'getInvocation', { params: { requestId }, headers });
  if (hasEnded(first.data.status) || waitSeconds === 0) return recordResult(first);
  const reader = await readerOf(ctx, opened.caller, { requestId, headers });
  const following = { waitMs: waitSeconds * 1000, signal: call.mcpReq.signal, tell: progressOf(call) };
  const record = await follow(ctx, reader, requestId, following);
  countRead(opened, 'getInvocation', record.json);
  return recordResult(record);
}

const cancelInvocation = async (ctx: HttpContext, { opened, args }: ToolCall<typeof mcpTools.cancel_invocation>) => {
  const { requestId, answerToken } = args;
  return toolResult(
    await callEndpoint(ctx, opened, 'cancelInvocation', { params: { requestId }, headers: tokenHeaders(answerToken) }),
  );
};

const tokenHeaders = (answerToken: string | undefined): Record<string, string> =>
  answerToken === undefined ? {} : { 'x-answer-token': answerToken };

/** Answers the question of a request, then waits for its end or its next question. */
async function answerInvocation(ctx: HttpContext, { opened, args, call }: ToolCall<typeof mcpTools.answer_invocation>) {
  const { requestId, waitSeconds, answerToken, ...answer } = args;
  const after = await questionEvent(ctx, requestId, answer.inputId);
  const headers = tokenHeaders(answerToken);
  const first = await callEndpoint(ctx, opened, 'answerInput', { params: { requestId }, headers, body: answer });
  if (isAtRest(first.data.status)) {
    // The answer came before: this only reads.
    admitRead(opened, 'getInvocation');
    countRead(opened, 'getInvocation', first.json);
  }
  if (isAtRest(first.data.status) || waitSeconds === 0) return recordResult(first);
  const reader = await answererOf(ctx, opened.caller, { requestId, headers });
  const following = { waitMs: waitSeconds * 1000, signal: call.mcpReq.signal, tell: progressOf(call), after };
  return recordResult(await follow(ctx, reader, requestId, following));
}

/** Stores a small file, for clients that have no other way to the node than their tools. */
async function uploadFile(ctx: HttpContext, { opened, args }: ToolCall<typeof mcpTools.upload_file>) {
  const { name, mediaType, data } = args;
  const type = readMediaType(mediaType);
  if (type === null) throw invalidFields([{ path: 'mediaType', message: 'must be a media type such as image/png' }]);
  const stored = await storeForGateway(ctx, opened, { bytes: Buffer.from(data, 'base64'), mediaType: type, name });
  return toolResult(answered(stored));
}

/** Most bytes of progress in one call: a client that does not read them must not fill the memory. */
const MAX_BYTES = 256 * 1024;
const MAX_CHARS = 2000;
/** Bytes of a notification, without its message. */
const FRAME_BYTES = 160;

/** Implementations of the tools of `/mcp`. */
export const runTools: Runs<typeof mcpTools> = {
  search_agents: searchAgents,
  match_agents: matchAgents,
  async get_agent(ctx, { opened, args }) {
    const { data } = await callEndpoint(ctx, opened, 'getAgent', { params: { id: args.agentId } });
    return toolResult(answered({ agent: data }));
  },
  async quote_invocation(ctx, { opened, args: { agentId, ...body } }) {
    return toolResult(await callEndpoint(ctx, opened, 'quoteInvocation', { params: { agentId }, body }));
  },
  invoke_agent: (ctx, call) => invoke(ctx, call, { agentId: call.args.agentId, tool: 'invoke_agent' }),
  invoke_best: (ctx, call) => invoke(ctx, call, { agentId: AUTO, tool: 'invoke_best' }),
  get_invocation: getInvocation,
  answer_invocation: answerInvocation,
  cancel_invocation: cancelInvocation,
  upload_file: uploadFile,
  get_balance: async (ctx, { opened }) => toolResult(await callEndpoint(ctx, opened, 'getBalance', {})),
};

/** Implementations of the tools of one agent's endpoint. */
export const runAgentTools: Runs<typeof mcpAgentTools> = {
  invoke: (ctx, call) => invoke(ctx, call, { agentId: call.agentId ?? '', tool: 'invoke' }),
  get_invocation: getInvocation,
  answer_invocation: answerInvocation,
  cancel_invocation: cancelInvocation,
  upload_file: uploadFile,
};

/** Sends each event of a request as a progress notification, in percent, if the client asked for any. */
function progressOf({
  mcpReq: { _meta, notify },
}: ToolCallContext): ((event: StreamEvent) => Promise<void>) | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined || !notify) return undefined;
  let progress = 0;
  let bytesLeft = MAX_BYTES;
  return async (event) => {
    const reported =
      event.type === 'invocation.status' ? shownProgress({ data: event.data, at: new Date().toISOString() }) : null;
    const message = (reported?.message ?? messageOf(event)).slice(0, MAX_CHARS);
    bytesLeft -= Buffer.byteLength(message) + FRAME_BYTES;
    if (bytesLeft < 0) return;
    const { fraction } = reported ?? {};
    const percent = fraction === undefined ? 0 : 100 * fraction;
    // It has to rise with each notification; only what the agent reports moves it.
    progress = percent > progress ? percent : progress + LEAST_RISE;
    const params = { progressToken, progress, ...(fraction === undefined ? {} : { total: 100 }), message };
    // A client that has gone does not end the work.
    await notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

const LEAST_RISE = 1e-6;

function messageOf({ type, data }: StreamEvent): string {
  const { requestId: _, ...fields } = data as Readonly<Record<string, unknown>>;
  if (type === 'invocation.chunk') return textOf(fields.chunk ?? fields.value ?? fields);
  return typeof fields.status === 'string' ? fields.status : textOf(fields);
}
