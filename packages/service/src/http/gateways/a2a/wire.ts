import { webUrl } from '@agent-network/contracts/scalars';
import { z } from 'zod';

// The wire of A2A 1.0 in ProtoJSON (specification/a2a.proto, lf.a2a.v1), as far as the gateway reads and writes it.

/** In ProtoJSON null is an unset field, and so is the default value. */
const unset = <T>(value: T) => (value === null || value === '' ? undefined : value);
const text = (most: number) => z.string().max(most).nullish().transform(unset);
const count = (least: number, most: number) => z.int().min(least).max(most).nullish().transform(unset);
const struct = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((value) => value ?? undefined);

const MAX_ID = 256;
/** Ids of messages and contexts are chosen by clients, and stored with the request. */
const clientId = z
  .string()
  .min(1)
  .max(MAX_ID)
  .refine((id) => id.isWellFormed() && !/\p{Cc}/u.test(id), 'holds control characters');
const optionalId = z.preprocess((value) => unset(value) ?? undefined, clientId.optional());

const contents = ['text', 'raw', 'url', 'data'] as const;

const Part = z
  .looseObject({
    text: z.string().nullish(),
    raw: z.base64().nullish(),
    url: z.string().max(8192).nullish(),
    data: z.unknown().optional(),
    filename: text(1024),
    mediaType: text(256),
    metadata: struct,
  })
  .refine((part) => contents.filter((name) => isSet(part[name])).length === 1, 'must hold one of text, raw, url, data');
export type Part = z.output<typeof Part>;

export const isSet = (value: unknown): boolean => value !== undefined && value !== null;

export const Message = z.object({
  messageId: clientId,
  contextId: optionalId,
  taskId: optionalId,
  role: z.literal('ROLE_USER', 'must be ROLE_USER'),
  parts: z.array(Part).min(1).max(1000),
  metadata: struct,
});
export type Message = z.output<typeof Message>;

export const PushConfig = z.object({
  id: optionalId,
  taskId: optionalId,
  url: webUrl(2048),
  token: text(1024),
  authentication: z
    .object({ scheme: z.string().min(1).max(64), credentials: text(4096) })
    .nullish()
    .transform((value) => value ?? undefined),
});
export type PushConfig = z.output<typeof PushConfig>;

export const MAX_HISTORY = 2_147_483_647;
const historyLength = count(0, MAX_HISTORY);

/** Accepts the ids of task and context next to the message, where some clients write them. */
export const SendMessage = z
  .object({
    message: Message,
    taskId: optionalId,
    contextId: optionalId,
    configuration: z
      .object({
        taskPushNotificationConfig: PushConfig.nullish(),
        historyLength,
        returnImmediately: z.boolean().nullish(),
        acceptedOutputModes: z.array(z.string().max(256)).max(100).nullish(),
      })
      .nullish(),
    metadata: struct,
  })
  .transform(({ message, taskId = message.taskId, contextId = message.contextId, ...rest }, check) => {
    for (const [name, id] of Object.entries({ taskId, contextId }))
      if ((message[name as 'taskId' | 'contextId'] ?? id) !== id)
        check.addIssue({ code: 'custom', path: ['message', name], message: `differs from params.${name}` });
    return { ...rest, message: { ...message, taskId, contextId } };
  });
export type SendMessage = z.output<typeof SendMessage>;

/** Ids that are none are those of no task. */
const taskId = z.string().min(1).max(4096);

export const GetTask = z.object({ id: taskId, historyLength });
export const TaskId = z.object({ id: taskId });
export const CancelTask = TaskId.extend({ metadata: struct });

export const taskStates = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const;
export type TaskState = (typeof taskStates)[number];

const MAX_PAGE = 100;

export const ListTasks = z.object({
  contextId: optionalId,
  status: z.preprocess(
    (value) => (value === 'TASK_STATE_UNSPECIFIED' ? undefined : (unset(value) ?? undefined)),
    z.enum(taskStates).optional(),
  ),
  pageSize: count(1, MAX_PAGE),
  pageToken: text(1024),
  historyLength,
  statusTimestampAfter: z.preprocess(
    (value) => unset(value) ?? undefined,
    z.iso.datetime({ offset: true, message: 'must be an ISO 8601 timestamp' }).optional(),
  ),
  includeArtifacts: z.boolean().nullish(),
});
export type ListTasks = z.output<typeof ListTasks>;

export const CreatePushConfig = PushConfig.extend({ taskId });
export const PushConfigId = z.object({ taskId, id: taskId });
/** The id may be left out in 0.3. */
export const GetPushConfig = z.object({ taskId, id: z.preprocess((value) => value ?? undefined, taskId.optional()) });
export const PushConfigsOf = z.object({ taskId });

/** A part that the gateway writes. */
export type WirePart =
  | { readonly text: string }
  | { readonly data: unknown }
  | { readonly url: string; readonly mediaType?: string; readonly filename?: string };

export interface WireMessage {
  readonly messageId: string;
  readonly contextId: string;
  readonly taskId?: string;
  readonly role: 'ROLE_AGENT' | 'ROLE_USER';
  readonly parts: readonly WirePart[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface WireStatus {
  readonly state: TaskState;
  readonly message?: WireMessage;
  readonly timestamp: string;
}

export interface WireArtifact {
  readonly artifactId: string;
  readonly name: string;
  readonly parts: readonly WirePart[];
}

export interface WireTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: WireStatus;
  readonly artifacts?: readonly WireArtifact[];
  readonly history?: readonly WireMessage[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface StatusUpdate {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly taskId: string;
  readonly contextId: string;
  readonly status: WireStatus;
}

export interface ArtifactUpdate {
  readonly taskId: string;
  readonly contextId: string;
  readonly artifact: WireArtifact;
  readonly append?: true;
  readonly lastChunk?: true;
}

export type StreamResponse =
  | { readonly task: WireTask }
  | { readonly message: WireMessage }
  | { readonly statusUpdate: StatusUpdate }
  | { readonly artifactUpdate: ArtifactUpdate };
