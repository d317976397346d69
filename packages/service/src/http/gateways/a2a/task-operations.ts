import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { Id } from '@agent-network/contracts/scalars';
import { hasEnded } from '../../../calls/invocation.ts';
import { giveUpUnpaid, listUnpaid, readUnpaid, type UnpaidTask } from '../../../calls/keep-unpaid.ts';
import { isAnswerToken, readInvocations, resultTokenOf } from '../../../calls/read-invocation.ts';
import { readAnswers } from '../../../calls/turns/read-answers.ts';
import { AppError } from '../../../lib/app-error.ts';
import { type PagePosition, pageCursor, readPageCursor } from '../../../lib/page-position.ts';
import type { Store } from '../../../store/database.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { callEndpoint } from '../common/call-endpoint.ts';
import { admitRead, countRead, streamedTo } from '../common/read-room.ts';
import { type A2aCall, type A2aStream, shapeOf } from './a2a-call.ts';
import { A2aError, taskNotFound } from './errors.ts';
import { followTask, once } from './streams.ts';
import { plain, statusOf, type TaskShape, taskOf } from './tasks.ts';
import { unpaidTask } from './unpaid-tasks.ts';
import type { ListTasks, StreamResponse, WireTask } from './wire.ts';

const DEFAULT_PAGE = 50;
/** The reading of tasks with their artifacts, among large answers: the list of requests has no results. */
const TASKS = 'a2aTasks';

/** A task of the caller: a request, or a call that waits for its payment. */
type Found =
  | { readonly record: RequestRecord; readonly unpaid: null }
  | { readonly record: null; readonly unpaid: UnpaidTask };

/** A request to this agent; null: it is none of the caller's. Throws TASK_NOT_FOUND for one to another agent. */
export async function findRecord(ctx: HttpContext, call: A2aCall, taskId: string): Promise<RequestRecord | null> {
  const record = await readRecord(ctx, call, taskId);
  if (record && record.agentId !== call.agentId && record.requestedAgentId !== call.agentId) throw taskNotFound();
  return record;
}

/** A task of this agent. Throws TASK_NOT_FOUND, also for those of other callers. */
async function find(ctx: HttpContext, call: A2aCall, taskId: string): Promise<Found> {
  if (!Id.safeParse(taskId).success) throw taskNotFound();
  const record = await findRecord(ctx, call, taskId);
  if (record) return { record, unpaid: null };
  const unpaid = await readUnpaid(ctx, call.opened.caller, taskId);
  if (!unpaid || unpaid.isPaid || unpaid.agentId !== call.agentId) throw taskNotFound();
  return { record: null, unpaid };
}

/** Errors that say that the caller has no such request. Who has no key and shows no token has none. */
const isUnknown = ({ code }: AppError, { opened }: A2aCall) =>
  code === 'NOT_FOUND' ||
  code === 'VALIDATION_ERROR' ||
  (code === 'UNAUTHORIZED' && opened.caller.kind === 'anonymous');

/** The token that came with the answer of a call without a key. Who may answer may read as well. */
export function readHeaders(ctx: HttpContext, call: A2aCall, requestId: string): Record<string, string> {
  const { answerToken } = call;
  if (answerToken !== undefined && isAnswerToken(ctx, requestId, answerToken))
    return { 'x-result-token': resultTokenOf(ctx, requestId) };
  const token = call.opened.c.req.header('x-result-token');
  return token === undefined ? {} : { 'x-result-token': token };
}

export const answerHeaders = ({ answerToken }: A2aCall): Record<string, string> =>
  answerToken === undefined ? {} : { 'x-answer-token': answerToken };

async function readRecord(ctx: HttpContext, call: A2aCall, requestId: string): Promise<RequestRecord | null> {
  try {
    const read = { params: { requestId }, headers: readHeaders(ctx, call, requestId) };
    return (await callEndpoint(ctx, call.opened, 'getInvocation', read)).data;
  } catch (error) {
    if (error instanceof AppError && isUnknown(error, call)) return null;
    throw error;
  }
}

interface Wanted {
  readonly historyLength?: number | null | undefined;
}

async function shown(ctx: HttpContext, call: A2aCall, { record, unpaid }: Found, wanted: Wanted): Promise<WireTask> {
  return record ? wholeTask(ctx, record, shapeOf(ctx, call, wanted)) : unpaidTask(unpaid, shapeOf(ctx, call, wanted));
}

/** A request as a task, with the answers to its questions in its history. */
export const wholeTask = async (ctx: Store, record: RequestRecord, shape: TaskShape): Promise<WireTask> =>
  taskOf(record, { ...shape, answers: await readAnswers(ctx, record) });

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
    const headers = answerHeaders(call);
    await callEndpoint(ctx, call.opened, 'cancelInvocation', { params: { requestId: taskId }, headers });
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
  if (!record) return once({ task: await shown(ctx, call, found, {}) });
  const answers = await readAnswers(ctx, record);
  return {
    requestId: taskId,
    sent: streamedTo(call.opened, 'getInvocation'),
    open: (signal) =>
      followTask(
        ctx,
        record,
        { ...shapeOf(ctx, call, {}), answers },
        ctx.revocations.whileValid(call.opened.caller, signal),
      ),
  };
}

export interface TaskPage {
  readonly tasks: readonly WireTask[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** A task in the order of the list. */
interface Listed extends PagePosition {
  readonly task: WireTask;
}

/**
 * The caller's tasks of this agent, newest first. Those that wait for their payment are listed by that state only. `totalSize` counts the
 * tasks that wait for any kind of answer together.
 */
export async function listTasks(ctx: HttpContext, call: A2aCall, wanted: ListTasks): Promise<TaskPage> {
  const { contextId, pageSize = DEFAULT_PAGE, pageToken, statusTimestampAfter } = wanted;
  const status = wanted.status && statusOf(wanted.status);
  const isOfRequests = wanted.status === undefined || status !== undefined;
  const { data } = await callEndpoint(ctx, call.opened, 'listInvocations', {
    query: {
      agentId: call.agentId,
      limit: String(isOfRequests ? pageSize : 1),
      ...(status === undefined ? {} : { status }),
      ...(contextId === undefined ? {} : { contextId }),
      ...(statusTimestampAfter === undefined ? {} : { changedAfter: statusTimestampAfter }),
      ...(pageToken === undefined ? {} : { cursor: pageToken }),
    },
  });
  const unpaid = wanted.status === 'TASK_STATE_INPUT_REQUIRED' ? await unpaidTasks(ctx, call, wanted) : [];
  const withArtifacts = wanted.includeArtifacts === true && isOfRequests;
  if (withArtifacts) admitRead(call.opened, TASKS);
  const { requests, end } = isOfRequests
    ? await requestTasks(ctx, call, wanted, { ids: data.requests.map(({ requestId }) => requestId), ...data })
    : { requests: [], end: null };
  const position = pageToken === undefined ? null : readPageCursor(pageToken);
  const found = [...requests, ...unpaid.filter((each) => isBetween(each, position, end))].sort(byPosition);
  const page = found.slice(0, pageSize);
  const last = page.length < found.length ? page.at(-1) : end;
  const shownPage = {
    tasks: page.map(({ task }) => task),
    nextPageToken: last ? pageCursor(last) : '',
    pageSize: page.length,
    totalSize: (isOfRequests ? data.total : 0) + unpaid.length,
  };
  if (withArtifacts) countRead(call.opened, TASKS, JSON.stringify(shownPage));
  return shownPage;
}

/** The tasks of these requests in the wanted state. `end`: the last one that was looked at; null: there are no more. */
async function requestTasks(
  ctx: HttpContext,
  call: A2aCall,
  wanted: ListTasks,
  { ids, nextCursor }: { readonly ids: readonly string[]; readonly nextCursor: string | null },
): Promise<{ readonly requests: Listed[]; readonly end: PagePosition | null }> {
  const { caller } = call.opened;
  if (caller.kind === 'anonymous') throw taskNotFound();
  const withArtifacts = wanted.includeArtifacts === true;
  const records = await readInvocations(ctx, caller, ids, { withResults: withArtifacts });
  const all = records.map((record) => ({
    ...{ id: record.requestId, createdAt: new Date(record.createdAt) },
    task: taskOf(plain(record), { ...shapeOf(ctx, call, wanted), withArtifacts }),
  }));
  const hasMore = records.length < ids.length || nextCursor !== null;
  const requests = all.filter(({ task }) => wanted.status === undefined || task.status.state === wanted.status);
  return { requests, end: (hasMore ? all.at(-1) : null) ?? null };
}

async function unpaidTasks(ctx: HttpContext, call: A2aCall, wanted: ListTasks): Promise<Listed[]> {
  const { contextId, statusTimestampAfter } = wanted;
  const after = statusTimestampAfter && Date.parse(statusTimestampAfter);
  const shape = shapeOf(ctx, call, wanted);
  return (await listUnpaid(ctx, call.opened.caller, call.agentId))
    .map((unpaid) => ({ id: unpaid.id, createdAt: unpaid.createdAt, task: unpaidTask(unpaid, shape) }))
    .filter(({ task }) => contextId === undefined || task.contextId === contextId)
    .filter(({ task }) => !after || Date.parse(task.status.timestamp) >= after);
}

/** The order of lists: newest first, then by id. */
const byPosition = (a: PagePosition, b: PagePosition): number =>
  b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? -1 : 1);

const isBetween = (each: PagePosition, from: PagePosition | null, to: PagePosition | null): boolean =>
  (from === null || byPosition(from, each) < 0) && (to === null || byPosition(each, to) < 0);
