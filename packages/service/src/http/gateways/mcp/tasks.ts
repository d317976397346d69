import { openStatuses, type RequestRecord } from '@agent-network/contracts/invocations/invocations';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { AppError } from '../../../lib/app-error.ts';
import { DAY_MS } from '../../../lib/duration.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { type Answered, callEndpoint } from '../common/call-endpoint.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';
import type { ToolCallContext } from './call-context.ts';
import { elicitationsOf } from './elicitation.ts';
import { withResultFiles } from './result-files.ts';
import { invocationResult } from './tool-result.ts';
import { answerResponse } from './turns.ts';

/** The tasks extension: a running request is a task with the same id. */
export const TASKS = 'io.modelcontextprotocol/tasks';
const POLL_MS = 1000;

/** True if the client takes a task in place of a result; only clients of 2026-07-28 on can say so. */
export function takesTasks({ mcpReq }: ToolCallContext): boolean {
  const declared = mcpReq.envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  return declared?.extensions?.[TASKS] !== undefined;
}

type TaskState = Pick<RequestRecord, 'requestId' | 'status' | 'createdAt'> &
  Partial<Pick<RequestRecord, 'completedAt' | 'inputRequest' | 'turns'>>;

const statusOf = (status: RequestRecord['status']) =>
  status === 'input_required'
    ? status
    : openStatuses.includes(status)
      ? 'working'
      : status === 'cancelled'
        ? 'cancelled'
        : 'completed';

const taskOf = (ctx: HttpContext, { requestId, status, createdAt, completedAt, inputRequest, turns }: TaskState) => ({
  taskId: requestId,
  status: statusOf(status),
  statusMessage: status,
  createdAt,
  lastUpdatedAt: completedAt ?? inputRequest?.createdAt ?? turns?.at(-1)?.answeredAt ?? createdAt,
  ttlMs: ctx.retention.resultDays * DAY_MS,
  pollIntervalMs: POLL_MS,
});

/** Result of a call with a request that is still running. */
export const createdTask = (ctx: HttpContext, record: TaskState) => ({
  ...taskOf(ctx, record),
  resultType: 'task',
  content: [],
});

const params = z.looseObject({ taskId: z.string() });

/** Has a server answer `tasks/get`, `tasks/update` and `tasks/cancel`. */
export function serveTasks(ctx: HttpContext, opened: GatewayRequest, server: Server): void {
  const handle = (
    method: string,
    answer: (requestId: string, call: ServerContext) => Promise<Record<string, unknown>>,
  ) =>
    server.setRequestHandler(method, { params }, async ({ taskId }, call) => {
      requireTasks(call, method);
      return answer(taskId, call).catch(asProtocolError);
    });
  const read = (requestId: string) => callEndpoint(ctx, opened, 'getInvocation', { params: { requestId } });
  handle('tasks/get', async (requestId, call) => detailOf(ctx, call, await read(requestId)));
  handle('tasks/update', async (requestId, { mcpReq }) => {
    const question = (await read(requestId)).data.inputRequest;
    const response = question && mcpReq.inputResponses?.[question.inputId];
    // Others are of questions that were answered before, or of none.
    if (question && response !== undefined)
      await answerResponse(ctx, opened, { requestId, question, response }).catch((error) => {
        if (!(error instanceof AppError && answeredCodes.has(error.code))) throw error;
      });
    return {};
  });
  handle('tasks/cancel', async (requestId) => {
    await callEndpoint(ctx, opened, 'cancelInvocation', { params: { requestId } }).catch((error) => {
      // It has ended: a cancellation is a wish.
      if (!(error instanceof AppError && error.code === 'CONFLICT')) throw error;
    });
    return {};
  });
}

function requireTasks(call: ServerContext, method: string): void {
  if (call.mcpReq.envelope === undefined)
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `Method not found: ${method}`);
  if (!takesTasks(call))
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } });
}

/** Errors of an answer that `tasks/update` ignores, as the protocol has it. */
const answeredCodes: ReadonlySet<string> = new Set(['INPUT_ALREADY_ANSWERED', 'INPUT_NOT_REQUIRED', 'INPUT_EXPIRED']);

async function detailOf(ctx: HttpContext, call: ServerContext, answered: Answered<RequestRecord>) {
  const task = taskOf(ctx, answered.data);
  const { agentId, inputRequest: question } = answered.data;
  if (question) {
    const inputRequests = await elicitationsOf(ctx, call, { agentId, question });
    if (inputRequests) return { ...task, inputRequests };
    return { ...task, inputRequests: {}, statusMessage: `${task.statusMessage}: answer with answer_invocation` };
  }
  return task.status === 'completed'
    ? { ...task, result: await withResultFiles(ctx, invocationResult(answered, null)) }
    : task;
}

function asProtocolError(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  const isUnknown = error.code === 'NOT_FOUND' || error.code === 'VALIDATION_ERROR';
  throw new ProtocolError(isUnknown ? ProtocolErrorCode.InvalidParams : -32_000, error.message, { code: error.code });
}
