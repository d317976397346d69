import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { Id } from '@agent-network/contracts/scalars';
import { hasEnded } from '../../../calls/invocation.ts';
import { giveUpUnpaid, listUnpaid, readUnpaid, type UnpaidTask } from '../../../calls/keep-unpaid.ts';
import { readInvocations } from '../../../calls/read-invocation.ts';
import { AppError } from '../../../lib/app-error.ts';
import { type PagePosition, pageCursor, readPageCursor } from '../../../lib/page-position.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { callEndpoint } from '../common/call-endpoint.ts';
import { admitRead, countRead, streamedTo } from '../common/read-room.ts';
import { type A2aCall, type A2aStream, shapeOf } from './a2a-call.ts';
import { A2aError, taskNotFound } from './errors.ts';
import { followTask, once } from './streams.ts';
import { plain, statusOf, taskOf } from './tasks.ts';
import { unpaidTask } from './unpaid-tasks.ts';
import type { ListTasks, StreamResponse, WireTask } from './wire.ts';

const DEFAULT_PAGE = 50;
/** The reading of tasks with their artifacts, among large answers: the list of requests has no results. */
const TASKS = 'a2aTasks';

/** A task of the caller: a request, or a call that waits for its payment. */
type Found =
  | { readonly record: RequestRecord; readonly unpaid: null }
  | { readonly record: null; readonly unpaid: UnpaidTask };

/** A task of this agent. Throws TASK_NOT_FOUND, also for those of other callers. */
async function find(ctx: HttpContext, call: A2aCall, taskId: string): Promise<Found> {
  if (!Id.safeParse(taskId).success) throw taskNotFound();
  const record = await readRecord(ctx, call, taskId);
  if (record) {
    if (record.agentId !== call.agentId && record.requestedAgentId !== call.agentId) throw taskNotFound();
    return { record, unpaid: null };
  }
  const unpaid = await readUnpaid(ctx, call.opened.caller, taskId);
  if (!unpaid || unpaid.isPaid || unpaid.agentId !== call.agentId) throw taskNotFound();
  return { record: null, unpaid };
}

/** Errors that say that the caller has no such request. Who has no key and shows no token has none. */
const isUnknown = ({ code }: AppError, { opened }: A2aCall) =>
  code === 'NOT_FOUND' ||
  code === 'VALIDATION_ERROR' ||
  (code === 'UNAUTHORIZED' && opened.caller.kind === 'anonymous');

/** The token that came with the answer of a call without a key. */
const tokenOf = ({ opened }: A2aCall): Record<string, string> => {
  const token = opened.c.req.header('x-result-token');
  return token === undefined ? {} : { 'x-result-token': token };
};

async function readRecord(ctx: HttpContext, call: A2aCall, requestId: string): Promise<RequestRecord | null> {
  try {
    const read = { params: { requestId }, headers: tokenOf(call) };
    return (await callEndpoint(ctx, call.opened, 'getInvocation', read)).data;
  } catch (error) {
    if (error instanceof AppError && isUnknown(error, call)) return null;
    throw error;
  }
}

interface Wanted {
  readonly historyLength?: number | null | undefined;
}

function shown(ctx: HttpContext, call: A2aCall, { record, unpaid }: Found, wanted: Wanted): WireTask {
  const shape = shapeOf(ctx, call, wanted);
  return record ? taskOf(record, shape) : unpaidTask(unpaid, shape);
}

export const findTask = async (ctx: HttpContext, call: A2aCall, taskId: string, wanted: Wanted): Promise<WireTask> =>
  shown(ctx, call, await find(ctx, call, taskId), wanted);

/** Cancels a task. Throws TASK_NOT_CANCELABLE when it has ended. */
export async function cancelTask(ctx: HttpContext, call: A2aCall, taskId: string): Promise<WireTask> {
  const found = await find(ctx, call, taskId);
  const ended = () => new A2aError('TASK_NOT_CANCELABLE', 'The task has ended: it cannot be cancelled.');
  if (found.unpaid) {
    if (found.unpaid.ended) throw ended();
    // Paid or ended meanwhile: it is another task now.
    if (!(await giveUpUnpaid(ctx, taskId, 'cancelled'))) return cancelTask(ctx, call, taskId);
    return shown(ctx, call, { record: null, unpaid: { ...found.unpaid, ended: 'cancelled' } }, {});
  }
  if (hasEnded(found.record.status)) throw ended();
  try {
    await callEndpoint(ctx, call.opened, 'cancelInvocation', { params: { requestId: taskId } });
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFLICT') throw ended();
    throw error;
  }
  return findTask(ctx, call, taskId, {});
}

/** The stream of a task that has not ended. */
export async function subscribeToTask(
  ctx: HttpContext,
  call: A2aCall,
  taskId: string,
): Promise<A2aStream<StreamResponse>> {
  const found = await find(ctx, call, taskId);
  const { record, unpaid } = found;
  if (record ? hasEnded(record.status) : unpaid.ended)
    throw new A2aError('UNSUPPORTED_OPERATION', 'The task has ended: there is nothing to follow. Read it.');
  if (!record) return once({ task: shown(ctx, call, found, {}) });
  return {
    requestId: taskId,
    sent: streamedTo(call.opened, 'getInvocation'),
    open: (signal) =>
      followTask(ctx, record, shapeOf(ctx, call, {}), ctx.revocations.whileValid(call.opened.caller, signal)),
  };
}

export interface TaskPage {
  readonly tasks: readonly WireTask[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** The caller's tasks of this agent, newest first. Those that wait for their payment are listed by that state only. */
export async function listTasks(ctx: HttpContext, call: A2aCall, wanted: ListTasks): Promise<TaskPage> {
  const { contextId, pageSize, pageToken, statusTimestampAfter } = wanted;
  const status = wanted.status && statusOf(wanted.status);
  const isOfRequests = wanted.status === undefined || status !== undefined;
  const { data } = await callEndpoint(ctx, call.opened, 'listInvocations', {
    query: {
      agentId: call.agentId,
      limit: String(isOfRequests ? (pageSize ?? DEFAULT_PAGE) : 1),
      ...(status === undefined ? {} : { status }),
      ...(contextId === undefined ? {} : { contextId }),
      ...(statusTimestampAfter === undefined ? {} : { changedAfter: statusTimestampAfter }),
      ...(pageToken === undefined ? {} : { cursor: pageToken }),
    },
  });
  if (!isOfRequests) return unpaidPage(ctx, call, wanted);
  const { caller } = call.opened;
  if (caller.kind === 'anonymous') throw taskNotFound();
  const ids = data.requests.map(({ requestId }) => requestId);
  const withArtifacts = wanted.includeArtifacts === true;
  if (withArtifacts) admitRead(call.opened, TASKS);
  const records = await readInvocations(ctx, caller, ids, { withResults: withArtifacts });
  const last = records.at(-1);
  const isCut = records.length < ids.length;
  const page = {
    tasks: records.map((record) => taskOf(plain(record), { ...shapeOf(ctx, call, wanted), withArtifacts })),
    nextPageToken:
      isCut && last ? pageCursor({ createdAt: new Date(last.createdAt), id: last.requestId }) : (data.nextCursor ?? ''),
    pageSize: records.length,
    totalSize: data.total,
  };
  if (withArtifacts) countRead(call.opened, TASKS, JSON.stringify(page));
  return page;
}

async function unpaidPage(ctx: HttpContext, call: A2aCall, wanted: ListTasks): Promise<TaskPage> {
  const { contextId, pageSize = DEFAULT_PAGE, pageToken, statusTimestampAfter } = wanted;
  const waiting =
    wanted.status === 'TASK_STATE_INPUT_REQUIRED' ? await listUnpaid(ctx, call.opened.caller, call.agentId) : [];
  const after = statusTimestampAfter && Date.parse(statusTimestampAfter);
  const found = waiting
    .map((unpaid) => ({ unpaid, task: shown(ctx, call, { record: null, unpaid }, wanted) }))
    .filter(({ task }) => contextId === undefined || task.contextId === contextId)
    .filter(({ task }) => !after || Date.parse(task.status.timestamp) >= after);
  const position = pageToken === undefined ? null : readPageCursor(pageToken);
  const left = position ? found.filter(({ unpaid }) => isBehind(unpaid, position)) : found;
  const page = left.slice(0, pageSize);
  const last = page.at(-1);
  return {
    tasks: page.map(({ task }) => task),
    nextPageToken: last && page.length < left.length ? pageCursor(last.unpaid) : '',
    pageSize: page.length,
    totalSize: found.length,
  };
}

/** In the order of `listUnpaid`. */
const isBehind = ({ createdAt, id }: UnpaidTask, position: PagePosition): boolean => {
  const byTime = createdAt.getTime() - position.createdAt.getTime();
  return byTime < 0 || (byTime === 0 && id > position.id);
};
