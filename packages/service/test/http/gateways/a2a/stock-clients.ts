import { randomUUID } from 'node:crypto';
import { Message, Task, TaskState } from '@a2a-js/sdk';
import * as current from '@a2a-js/sdk/client';
import type * as wire03 from 'a2a-sdk-v03';
import * as before from 'a2a-sdk-v03/client';

// biome-ignore lint/suspicious/noExplicitAny: what a client gives, as it is
type Any = any;

/** A client's message, for clients of every version. */
export interface Said {
  readonly text?: string;
  readonly data?: Record<string, unknown>;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly messageId?: string;
  readonly metadata?: Record<string, unknown>;
  readonly isImmediate?: boolean;
}

/** A task as a client of any version sees it. `state` as 0.3 names it. */
export interface Seen {
  readonly id: string;
  readonly contextId: string;
  readonly state: string;
  /** Text of the result artifact. */
  readonly text: string | undefined;
  readonly data: Any;
  /** Metadata of the message of the status. */
  readonly metadata: Any;
  readonly ours: Any;
  /** Parts of the message of the status, by their kinds. */
  readonly asked: readonly (readonly [kind: string, content: unknown])[];
  /** Roles and ids of the messages of the history. */
  readonly history: readonly (readonly [role: string, messageId: string])[];
  readonly answerToken: string | undefined;
}

/** A stock client, unmodified, with one interface for all versions. */
export interface StockClient {
  send(said: Said): Promise<Seen>;
  /** Kinds of the events, with the text of artifacts and the states of tasks. */
  stream(said: Said): AsyncIterable<readonly [kind: string, what: string, id: string]>;
  follow(id: string): AsyncIterable<readonly [kind: string, what: string, id: string]>;
  get(id: string, headers?: Record<string, string>): Promise<Seen>;
  cancel(id: string, answerToken?: string): Promise<Seen>;
  /** Adds a push configuration, reads it, lists it and removes it; answers the addresses as read and as listed. */
  configurePush(taskId: string, url: string): Promise<readonly [read: string, listed: readonly string[]]>;
}

type Connect = (url: string, headers?: Record<string, string>) => Promise<StockClient>;

const withHeaders =
  (headers: Record<string, string>): typeof fetch =>
  (input, init) =>
    fetch(input, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers } });

const stateName = (state: TaskState | undefined) =>
  String(TaskState[state ?? 0])
    .replace('TASK_STATE_', '')
    .toLowerCase()
    .replace('_', '-');

/** The result of a task, from the JSON of its parts. */
function seen10(task: Task): Seen {
  const json = Task.toJSON(task) as Any;
  const parts: Any[] = json.artifacts?.find((each: Any) => each.artifactId === 'result')?.parts ?? [];
  return {
    id: task.id,
    contextId: task.contextId,
    state: stateName(task.status?.state),
    text: parts.find(({ text }) => text !== undefined)?.text,
    data: parts.find(({ data }) => data !== undefined)?.data,
    metadata: json.status.message?.metadata,
    ours: json.metadata?.['urn:agent-network:invoke'],
    asked: (json.status.message?.parts ?? []).map((part: Any) => {
      const kind = ['text', 'data', 'url'].find((name) => part[name] !== undefined) ?? '';
      return [kind, part[kind]];
    }),
    history: (json.history ?? []).map((each: Any) => [each.role.slice(5).toLowerCase(), each.messageId]),
    answerToken: json.metadata?.['urn:agent-network:answer-token'],
  };
}

const message10 = ({ text, data, taskId, contextId, messageId, metadata }: Said): Message =>
  Message.fromJSON({
    messageId: messageId ?? randomUUID(),
    role: 'ROLE_USER',
    parts: [...(text === undefined ? [] : [{ text }]), ...(data === undefined ? [] : [{ data }])],
    ...(taskId ? { taskId } : {}),
    ...(contextId ? { contextId } : {}),
    ...(metadata ? { metadata } : {}),
  });

const connect10 =
  (transport: 'JSONRPC' | 'HTTP+JSON'): Connect =>
  async (url, headers = {}) => {
    const options = { fetchImpl: withHeaders(headers) };
    const factory = new current.ClientFactory({
      transports: [new current.JsonRpcTransportFactory(options), new current.RestTransportFactory(options)],
      preferredTransports: [transport],
    });
    const client = await factory.createFromUrl(`${url}/.well-known/agent-card.json`, '');
    const paramsOf = (said: Said) => ({
      tenant: '',
      message: message10(said),
      configuration: {
        acceptedOutputModes: [],
        taskPushNotificationConfig: undefined,
        returnImmediately: said.isImmediate ?? false,
      },
      metadata: undefined,
    });
    async function* shown(events: AsyncIterable<Any>) {
      for await (const { payload } of events) {
        const { $case, value } = payload;
        const id = value.taskId ?? value.id;
        if ($case === 'artifactUpdate') {
          const [part] = value.artifact.parts;
          const { content } = part;
          yield [value.artifact.artifactId, String(content.value), id] as const;
        } else yield [$case === 'task' ? 'task' : 'status', stateName(value.status.state), id] as const;
      }
    }
    return {
      async send(said) {
        const answer: Any = await client.sendMessage(paramsOf(said) as Any);
        return seen10(answer);
      },
      stream: (said) => shown(client.sendMessageStream(paramsOf(said) as Any)),
      follow: (id) => shown(client.resubscribeTask({ tenant: '', id })),
      get: async (id, serviceParameters = {}) =>
        seen10(await client.getTask({ tenant: '', id, historyLength: undefined } as Any, { serviceParameters } as Any)),
      async cancel(id, token) {
        // Over HTTP+JSON this client sends no metadata.
        const serviceParameters = transport === 'JSONRPC' || !token ? {} : { 'X-Answer-Token': token };
        const metadata = { 'urn:agent-network:answer-token': token };
        return seen10(await client.cancelTask({ tenant: '', id, metadata } as Any, { serviceParameters } as Any));
      },
      async configurePush(taskId, url) {
        const authentication = undefined;
        const made = await client.createTaskPushNotificationConfig({
          tenant: '',
          id: '',
          taskId,
          url,
          token: '',
          authentication,
        });
        const named = { tenant: '', taskId, id: made.id };
        const read = await client.getTaskPushNotificationConfig(named);
        const listed = await client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' });
        await client.deleteTaskPushNotificationConfig(named);
        return [read.url, listed.configs.map((each) => each.url)];
      },
    };
  };

function seen03(task: Any): Seen {
  const parts: Any[] = task.artifacts?.find((each: Any) => each.artifactId === 'result')?.parts ?? [];
  return {
    id: task.id,
    contextId: task.contextId,
    state: task.status.state,
    text: parts.find(({ kind }) => kind === 'text')?.text,
    data: parts.find(({ kind }) => kind === 'data')?.data,
    metadata: task.status.message?.metadata,
    ours: task.metadata?.['urn:agent-network:invoke'],
    asked: (task.status.message?.parts ?? []).map((part: Any) =>
      part.kind === 'file' ? ['url', part.file.uri] : [part.kind, part[part.kind]],
    ),
    history: (task.history ?? []).map((each: Any) => [each.role, each.messageId]),
    answerToken: task.metadata?.['urn:agent-network:answer-token'],
  };
}

const connect03: Connect = async (url, headers = {}) => {
  const options = { fetchImpl: withHeaders(headers) };
  const factory = new before.ClientFactory({ transports: [new before.JsonRpcTransportFactory(options)] });
  const client = await factory.createFromUrl(`${url}/.well-known/agent-card.json`, '');
  const paramsOf = ({
    text,
    data,
    taskId,
    contextId,
    messageId,
    metadata,
    isImmediate,
  }: Said): wire03.MessageSendParams => ({
    message: {
      kind: 'message',
      messageId: messageId ?? randomUUID(),
      role: 'user',
      parts: [
        ...(text === undefined ? [] : [{ kind: 'text' as const, text }]),
        ...(data === undefined ? [] : [{ kind: 'data' as const, data }]),
      ],
      ...(taskId ? { taskId } : {}),
      ...(contextId ? { contextId } : {}),
      ...(metadata ? { metadata } : {}),
    },
    configuration: { blocking: !isImmediate },
  });
  async function* shown(events: AsyncIterable<Any>) {
    for await (const event of events) {
      const id = event.taskId ?? event.id;
      if (event.kind === 'artifact-update')
        yield [event.artifact.artifactId, String(event.artifact.parts[0].text ?? ''), id] as const;
      else yield [event.kind === 'task' ? 'task' : 'status', event.status.state, id] as const;
    }
  }
  return {
    send: async (said) => seen03(await client.sendMessage(paramsOf(said))),
    stream: (said) => shown(client.sendMessageStream(paramsOf(said))),
    follow: (id) => shown(client.resubscribeTask({ id })),
    get: async (id, serviceParameters = {}) => seen03(await client.getTask({ id }, { serviceParameters } as Any)),
    cancel: async (id, token) =>
      seen03(await client.cancelTask({ id, metadata: { 'urn:agent-network:answer-token': token } })),
    async configurePush(taskId, url) {
      const made = await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { url } });
      const named = { id: taskId, pushNotificationConfigId: made.pushNotificationConfig.id ?? '' };
      const read = await client.getTaskPushNotificationConfig(named);
      const listed = await client.listTaskPushNotificationConfig({ id: taskId });
      await client.deleteTaskPushNotificationConfig(named);
      return [read.pushNotificationConfig.url, listed.map((each) => each.pushNotificationConfig.url)];
    },
  };
};

/** The stock clients that the gateway serves, by name. */
export const stockClients: readonly (readonly [name: string, connect: Connect])[] = [
  ['@a2a-js/sdk 1.3 over JSON-RPC', connect10('JSONRPC')],
  ['@a2a-js/sdk 1.3 over HTTP+JSON', connect10('HTTP+JSON')],
  ['@a2a-js/sdk 0.3', connect03],
];
