import { AgentSearch } from '@agent-network/contracts/agents/agent-search';
import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import type { z } from 'zod';
import { describeAgents } from '../../../agents/search/describe-agents.ts';
import { searchAgents, searchTextOf } from '../../../agents/search/search-agents.ts';
import { shownProblems } from '../../../lib/app-error.ts';
import { newId } from '../../../lib/id.ts';
import { problemsOf, problemText } from '../../../lib/json/problem-text.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { callEndpoint } from '../common/call-endpoint.ts';
import { type A2aCall, type A2aStream, withAnswerToken } from './a2a-call.ts';
import { a2aUrlOf, CARD_PATH } from './cards.ts';
import { A2aError, type FieldViolation, invalidParam, taskNotFound } from './errors.ts';
import { createPush, deletePush, listPushes, readPush } from './push-configs.ts';
import { sendMessage, streamMessage } from './send-message.ts';
import { once } from './streams.ts';
import { cancelTask, findTask, listTasks, subscribeToTask } from './task-operations.ts';
import type { OperationName } from './versions.ts';
import type { SendMessage, WireMessage } from './wire.ts';
import * as wire from './wire.ts';

/** Answer of an operation: a value, or a stream. */
export type Answer = { readonly value: unknown } | { readonly stream: A2aStream<wire.StreamResponse> };

type Run = (ctx: HttpContext, call: A2aCall, given: unknown) => Promise<Answer>;

const operation =
  <S extends z.ZodType>(
    schema: S,
    run: (ctx: HttpContext, call: A2aCall, params: z.output<S>) => Promise<Answer>,
  ): Run =>
  (ctx, call, given) =>
    run(ctx, call, validParams(schema, given));

function validParams<S extends z.ZodType>(schema: S, given: unknown): z.output<S> {
  const parsed = schema.safeParse(given ?? {}, { error: problemText });
  if (parsed.success) return parsed.data;
  const violations = shownProblems(problemsOf(parsed.error, 'params')).map(
    ({ path, message }): FieldViolation => ({ field: path, description: message }),
  );
  const [first] = violations;
  throw new A2aError('INVALID_PARAMS', `Invalid parameters: ${first?.field} ${first?.description}.`, { violations });
}

const none = (reason: ConstructorParameters<typeof A2aError>[0], message: string) => async (): Promise<never> => {
  throw new A2aError(reason, message);
};

const noExtendedCard = none(
  'UNSUPPORTED_OPERATION',
  'This agent has no extended card: its public one says everything.',
);

const metadataOf = ({ message, metadata }: SendMessage) => ({ ...metadata, ...message.metadata });

/** The operations of an agent's gateway, with the parameters of 1.0. */
export const agentOperations: Readonly<Record<OperationName, Run>> = {
  SendMessage: operation(wire.SendMessage, async (ctx, call, params) => ({
    value: { task: await sendMessage(ctx, withAnswerToken(call, metadataOf(params)), params) },
  })),
  SendStreamingMessage: operation(wire.SendMessage, async (ctx, call, params) => ({
    stream: await streamMessage(ctx, withAnswerToken(call, metadataOf(params)), params),
  })),
  GetTask: operation(wire.GetTask, async (ctx, call, params) => ({
    value: await findTask(ctx, call, params.id, params),
  })),
  ListTasks: operation(wire.ListTasks, async (ctx, call, params) => ({ value: await listTasks(ctx, call, params) })),
  CancelTask: operation(wire.CancelTask, async (ctx, call, params) => ({
    value: await cancelTask(ctx, withAnswerToken(call, params.metadata), params.id),
  })),
  SubscribeToTask: operation(wire.TaskId, async (ctx, call, { id }) => ({
    stream: await subscribeToTask(ctx, call, id),
  })),
  CreateTaskPushNotificationConfig: operation(wire.CreatePushConfig, async (ctx, call, params) => ({
    value: await createPush(ctx, call, params),
  })),
  GetTaskPushNotificationConfig: operation(wire.GetPushConfig, async (ctx, call, { taskId, id }) => ({
    value: await readPush(ctx, call, taskId, id),
  })),
  ListTaskPushNotificationConfigs: operation(wire.PushConfigsOf, async (ctx, call, { taskId }) => ({
    value: await listPushes(ctx, call, taskId),
  })),
  DeleteTaskPushNotificationConfig: operation(wire.PushConfigId, async (ctx, call, { taskId, id }) => ({
    value: await deletePush(ctx, call, taskId, id),
  })),
  GetExtendedAgentCard: noExtendedCard,
};

const noTask = none('TASK_NOT_FOUND', "The node's own agent answers at once: it has no tasks.");

const noPush = none(
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  "The node's own agent answers at once: it sends no notifications.",
);

const MAX_AGENTS = 10;
const MAX_TASK = 10_000;

/** The operations of the node's own agent, which answers with a message. */
export const nodeOperations: Readonly<Record<OperationName, Run>> = {
  ...agentOperations,
  SendMessage: operation(wire.SendMessage, async (ctx, call, params) => ({
    value: { message: await findAgents(ctx, call, params) },
  })),
  SendStreamingMessage: operation(wire.SendMessage, async (ctx, call, params) => ({
    stream: once({ message: await findAgents(ctx, call, params) }),
  })),
  GetTask: operation(wire.GetTask, noTask),
  ListTasks: operation(wire.ListTasks, async () => ({
    value: { tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 },
  })),
  CreateTaskPushNotificationConfig: noPush,
  GetTaskPushNotificationConfig: noPush,
  ListTaskPushNotificationConfigs: noPush,
  DeleteTaskPushNotificationConfig: noPush,
  CancelTask: operation(wire.TaskId, noTask),
  SubscribeToTask: operation(wire.TaskId, noTask),
};

/** Agents that are close to a task in meaning, the closest first; none where searches are by words. */
async function closeTo(ctx: HttpContext, task: string): Promise<AgentListItem[]> {
  const search = AgentSearch.safeParse({ query: { text: searchTextOf(task), online: true }, limit: MAX_AGENTS });
  if (!search.success) return [];
  const { agents, rankedBy } = await searchAgents(ctx, search.data);
  return rankedBy === 'meaning' ? (agents.value as AgentListItem[]) : [];
}

/** The node's own agent: finds agents that are online by the text of a message. */
async function findAgents(ctx: HttpContext, { opened }: A2aCall, { message }: SendMessage): Promise<WireMessage> {
  if (message.taskId !== undefined) throw taskNotFound();
  const text = message.parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join(' ');
  const task = text.trim().slice(0, MAX_TASK).toWellFormed();
  if (task === '') throw invalidParam('message.parts', 'must contain text that describes the task');
  const { data } = await callEndpoint(ctx, opened, 'matchAgents', { body: { task, limit: MAX_AGENTS } });
  const matching = data.matches.map(({ agent }) => agent);
  const close = await closeTo(ctx, task);
  const closeIds = new Set(close.map(({ id }) => id));
  const found = [...close, ...matching.filter(({ id }) => !closeIds.has(id))].slice(0, MAX_AGENTS);
  const descriptions = await describeAgents(
    ctx,
    found.map(({ id }) => id),
  );
  const agents = found.map(({ id, name, capabilities, rates, reputation }) => ({
    ...{
      agentId: id,
      name,
      description: descriptions.get(id)?.description ?? '',
      capabilities,
      price: rates.perRequest,
      reputation,
    },
    url: a2aUrlOf(ctx.baseUrl, id),
    agentCard: a2aUrlOf(ctx.baseUrl, id) + CARD_PATH,
  }));
  return {
    messageId: newId('req'),
    contextId: message.contextId ?? `ctx_${newId('req').slice(4)}`,
    role: 'ROLE_AGENT',
    parts: [
      { text: agents.map(({ name, agentCard }) => `${name}: ${agentCard}`).join('\n') || 'No agent found.' },
      { data: { agents } },
    ],
  };
}
