import { USAGE_EXTENSION } from '@agent-network/contracts/invocations/usage';
import type { A2aAgent } from '../../../agents/health/a2a-card-client.ts';
import { urlBelow } from '../../../agents/health/upstream.ts';
import { isObject, type Json, scalarText } from '../../../lib/json/json-object.ts';
import type { Invocation } from '../../invocation.ts';
import { isHandle } from '../upstream-call-store.ts';

/** Messages of A2A 1.0 and 0.3, which differ in names and shapes only. */
export interface A2aDialect {
  readonly methods: { readonly send: string; readonly stream: string; readonly get: string; readonly cancel: string };
  readonly headers: Readonly<Record<string, string>>;
  /** Parameters of a message that asks for its task at once, without waiting for the result. */
  toParams(message: A2aMessage): Json;
}

export interface A2aMessage {
  readonly id: string;
  readonly text: string;
  readonly data: Json | null;
  /** The task that it belongs to; null: it begins one. */
  readonly task: Pick<A2aTask, 'id' | 'contextId'> | null;
  readonly metadata: Json | null;
}

export const dialects: Record<'1.0' | '0.3', A2aDialect> = {
  '1.0': {
    methods: { send: 'SendMessage', stream: 'SendStreamingMessage', get: 'GetTask', cancel: 'CancelTask' },
    headers: { 'a2a-version': '1.0' },
    toParams: ({ id, text, data, task, metadata }) => ({
      message: {
        messageId: id,
        role: 'ROLE_USER',
        parts: [{ text }, ...(data === null ? [] : [{ data }])],
        ...idsOf(task),
        ...(metadata === null ? {} : { metadata }),
      },
      configuration: { returnImmediately: true },
    }),
  },
  '0.3': {
    methods: { send: 'message/send', stream: 'message/stream', get: 'tasks/get', cancel: 'tasks/cancel' },
    headers: {},
    toParams: ({ id, text, data, task, metadata }) => ({
      message: {
        kind: 'message',
        messageId: id,
        role: 'user',
        parts: [{ kind: 'text', text }, ...(data === null ? [] : [{ kind: 'data', data }])],
        ...idsOf(task),
        ...(metadata === null ? {} : { metadata }),
      },
      configuration: { blocking: false },
    }),
  },
};

const idsOf = (task: A2aMessage['task']): Json =>
  task === null ? {} : { taskId: task.id, ...(task.contextId === null ? {} : { contextId: task.contextId }) };

export const firstMessage = ({ id, task, context, input }: Invocation): A2aMessage => ({
  id,
  text: context === null || context === '' ? task : `${context}\n\n${task}`,
  data: Object.keys(input).length === 0 ? null : input,
  task: null,
  metadata: null,
});

/** A task as both versions have it, with the state in words of its own. */
export interface A2aTask {
  readonly id: string;
  readonly contextId: string | null;
  /** `completed`, `input-required` and so on. */
  readonly state: string;
  /** The message of its status. */
  readonly message: Json | null;
  /** The time of its status, as the agent says; an empty text: none. */
  readonly at: string;
  readonly artifacts: readonly Json[];
  /** Ids of its messages, as far as the agent tells them. */
  readonly messageIds: readonly string[];
  /** The usage that the agent states, unread; null: none. */
  readonly usage: unknown;
}

const resting = new Set(['completed', 'failed', 'canceled', 'rejected', 'input-required', 'auth-required']);

/** True when a task waits for input or has ended. Unknown states count as running. */
export const hasRested = ({ state }: A2aTask): boolean => resting.has(state);

/** Contents of an answer or of a stream's event. */
export type A2aSaid =
  | { readonly kind: 'task'; readonly task: A2aTask }
  | { readonly kind: 'message'; readonly parts: readonly Json[]; readonly usage: unknown }
  | {
      readonly kind: 'status';
      readonly taskId: string;
      readonly state: string;
      readonly message: Json | null;
      readonly at: string;
      readonly usage: unknown;
    }
  | { readonly kind: 'artifact'; readonly taskId: string; readonly artifact: Json; readonly isAppended: boolean };

/** Reads a result of either version; null: it is none. */
export function readSaid(result: unknown): A2aSaid | null {
  if (!isObject(result)) return null;
  const { kind } = result;
  if (kind === 'task' || isObject(result.task)) {
    const task = readTask(kind === 'task' ? result : result.task);
    return task && { kind: 'task', task };
  }
  const message = kind === 'message' ? result : result.message;
  if (isObject(message)) return { kind: 'message', parts: partsOf(message), usage: usageIn(message) };
  const status = kind === 'status-update' ? result : result.statusUpdate;
  if (isObject(status) && isObject(status.status))
    return {
      ...{ kind: 'status', taskId: idOf(status.taskId), ...readStatus(status.status) },
      usage: usageIn(status) ?? usageIn(status.status.message),
    };
  const update = kind === 'artifact-update' ? result : result.artifactUpdate;
  if (isObject(update) && isObject(update.artifact))
    return {
      kind: 'artifact',
      taskId: idOf(update.taskId),
      artifact: update.artifact,
      isAppended: update.append === true,
    };
  return null;
}

/** An empty one where the event names none that could be asked for. */
const idOf = (taskId: unknown): string => (isHandle(taskId) ? taskId : '');

export function readTask(value: unknown): A2aTask | null {
  if (!isObject(value) || !isHandle(value.id) || !isObject(value.status)) return null;
  return {
    id: value.id,
    contextId: typeof value.contextId === 'string' ? value.contextId : null,
    ...readStatus(value.status),
    artifacts: Array.isArray(value.artifacts) ? value.artifacts.filter(isObject) : [],
    messageIds: Array.isArray(value.history)
      ? value.history.filter(isObject).map((each) => scalarText(each.messageId))
      : [],
    usage: usageIn(value) ?? usageIn(value.status.message),
  };
}

/** The usage in the metadata of a task, an event or a message. */
const usageIn = (owner: unknown): unknown =>
  isObject(owner) && isObject(owner.metadata) ? (owner.metadata[USAGE_EXTENSION] ?? null) : null;

const readStatus = ({ state, message, timestamp }: Json) => ({
  state: scalarText(state)
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-'),
  message: isObject(message) ? message : null,
  at: scalarText(timestamp),
});

export const partsOf = (owner: Json | null): Json[] =>
  Array.isArray(owner?.parts) ? owner.parts.filter(isObject) : [];

export const textsOf = (parts: readonly Json[]): string[] =>
  parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));

const isData = (part: Json) => 'data' in part && part.data !== undefined && part.kind !== 'file';

/** Adjacent texts as one: an artifact may come in pieces that end in the middle of a word. */
function joinTexts(parts: readonly Json[]): Json[] {
  const joined: { part: Json; texts: string[] }[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part.text !== 'string') joined.push({ part, texts: [] });
    else if (last && last.texts.length > 0) last.texts.push(part.text);
    else joined.push({ part, texts: [part.text] });
  }
  return joined.map(({ part, texts }) => (texts.length > 1 ? { ...part, text: texts.join('') } : part));
}

/**
 * The result of parts: a single part of data, or a text if all are texts; anything else is kept as it is. Texts of one group, such as an
 * artifact, are joined; groups are lines.
 */
export function resultOf(groups: readonly (readonly Json[])[]): unknown {
  const parts = groups.flat();
  const [data, another] = parts.filter(isData);
  const texts = textsOf(parts);
  if (data && !another && parts.length - texts.length === 1 && areSaidIn(texts, data.data)) return data.data;
  if (texts.length < parts.length) return { parts: groups.flatMap(joinTexts) };
  return { text: groups.map((group) => textsOf(group).join('')).join('\n') };
}

/** The result of a message. Each of its texts is a line. */
export const resultOfMessage = (parts: readonly Json[]): unknown => resultOf(parts.map((part) => [part]));

/** True when the data contains all texts, as some agents send both. */
function areSaidIn(texts: readonly string[], data: unknown): boolean {
  const values = new Set(isObject(data) ? Object.values(data) : []);
  return texts.every((text) => values.has(text));
}

/** A request to an agent, in the binding of its interface. */
export interface BoundRequest {
  readonly url: string;
  readonly method: 'POST' | 'GET';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json | undefined;
}

const TYPES = 'application/a2a+json, application/json';

const headersOf = ({ binding, version }: A2aAgent) => ({
  ...(binding === 'HTTP+JSON' ? { accept: TYPES } : {}),
  ...dialects[version].headers,
});

/** Operations of tasks and messages: each names the tenant, in its path or among its parameters. */
export const bound = {
  message: (agent: A2aAgent, id: string, message: A2aMessage, isStreamed: boolean): BoundRequest => {
    const { methods, toParams } = dialects[agent.version];
    const path = isStreamed ? '/message:stream' : '/message:send';
    return request(agent, { id, rpc: isStreamed ? methods.stream : methods.send, path, params: toParams(message) });
  },
  /** `historyLength`: messages of the task that are wanted with it; null: as the agent likes. */
  get: (agent: A2aAgent, taskId: string, historyLength: number | null = null): BoundRequest => {
    const { methods } = dialects[agent.version];
    const wanted = historyLength === null ? {} : { historyLength };
    const path = `/tasks/${encodeURIComponent(taskId)}`;
    return request(agent, { rpc: methods.get, path, params: { id: taskId, ...wanted }, query: wanted });
  },
  cancel: (agent: A2aAgent, taskId: string): BoundRequest => {
    const { methods } = dialects[agent.version];
    const path = `/tasks/${encodeURIComponent(taskId)}:cancel`;
    return request(agent, { rpc: methods.cancel, path, params: { id: taskId } });
  },
};

interface Operation {
  readonly id?: string;
  /** Name of the method of JSON-RPC. */
  readonly rpc: string;
  readonly path: string;
  readonly params: Json;
  /** Parameters of the GET that HTTP+JSON has for it; absent: it has a POST. */
  readonly query?: Readonly<Record<string, number>>;
}

function request(agent: A2aAgent, { id, rpc, path, params, query }: Operation): BoundRequest {
  const { url, binding, tenant } = agent;
  const headers = headersOf(agent);
  if (binding === 'JSONRPC') {
    const named = tenant === null ? params : { ...params, tenant };
    return { url, method: 'POST', headers, body: { jsonrpc: '2.0', id: id ?? 1, method: rpc, params: named } };
  }
  const at = new URL(urlBelow(url, (tenant === null ? '' : `/${encodeURIComponent(tenant)}`) + path));
  for (const [name, value] of Object.entries(query ?? {})) at.searchParams.set(name, `${value}`);
  return { url: at.href, method: query ? 'GET' : 'POST', headers, body: query ? undefined : params };
}

/** The payload of an answer or event; HTTP+JSON has no envelope. */
export const resultIn = ({ binding }: Pick<A2aAgent, 'binding'>, value: Json | undefined): unknown =>
  binding === 'JSONRPC' ? value?.result : value;
