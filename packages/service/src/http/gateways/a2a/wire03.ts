import { A2aError } from './errors.ts';
import type { OperationName } from './versions.ts';
import type { StreamResponse, WireArtifact, WireMessage, WirePart, WireStatus, WireTask } from './wire.ts';

// The shapes of version 0.3, as those of 1.0 that they mean, and back.

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});

/** Converts parameters of an operation from 0.3 to 1.0. Unknown values stay unchanged, for validation. */
export function params10(name: OperationName, given: unknown): unknown {
  if (!isFields(given)) return given;
  const { id, pushNotificationConfig, pushNotificationConfigId } = given;
  switch (name) {
    case 'SendMessage':
    case 'SendStreamingMessage':
      return { ...given, message: message10(given.message), configuration: configuration10(given.configuration) };
    case 'CreateTaskPushNotificationConfig':
      return { ...pushConfig10(pushNotificationConfig), taskId: given.taskId };
    case 'GetTaskPushNotificationConfig':
    case 'DeleteTaskPushNotificationConfig':
      return { taskId: id, id: pushNotificationConfigId };
    case 'ListTaskPushNotificationConfigs':
      return { taskId: id };
    default:
      return given;
  }
}

const roles10: Fields = { user: 'ROLE_USER', agent: 'ROLE_AGENT' };

function message10(given: unknown): unknown {
  if (!isFields(given)) return given;
  const { kind, role, parts, ...rest } = given;
  if (kind !== undefined && kind !== 'message') throw invalidKind('message.kind', 'message');
  return {
    ...rest,
    role: typeof role === 'string' ? (roles10[role] ?? role) : role,
    parts: Array.isArray(parts) ? parts.map(part10) : parts,
  };
}

const invalidKind = (field: string, wanted: string) =>
  new A2aError('INVALID_PARAMS', `Invalid parameters: ${field} must be "${wanted}".`, {
    violations: [{ field, description: `must be "${wanted}"` }],
  });

function part10(given: unknown): unknown {
  if (!isFields(given)) return given;
  const { kind, text, data, file, metadata } = given;
  if (kind === 'text') return { text, metadata };
  if (kind === 'data') return { data, metadata };
  if (kind !== 'file') return {};
  const { bytes, uri, mimeType, name } = fieldsOf(file);
  return { raw: bytes, url: uri, mediaType: mimeType, filename: name, metadata };
}

function configuration10(given: unknown): unknown {
  if (!isFields(given)) return given;
  const { historyLength, blocking, acceptedOutputModes, pushNotificationConfig: push } = given;
  return {
    historyLength,
    acceptedOutputModes,
    returnImmediately: blocking === false,
    ...(isFields(push) ? { taskPushNotificationConfig: pushConfig10(push) } : {}),
  };
}

/** 0.3 names schemes without saying which one the credentials are of: the first. */
function pushConfig10(given: unknown): Fields {
  const { authentication, ...rest } = fieldsOf(given);
  const { schemes, credentials } = fieldsOf(authentication);
  const scheme = Array.isArray(schemes) ? schemes[0] : undefined;
  return { ...rest, ...(scheme === undefined ? {} : { authentication: { scheme, credentials } }) };
}

const states03: Fields = {
  TASK_STATE_SUBMITTED: 'submitted',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_INPUT_REQUIRED: 'input-required',
  TASK_STATE_AUTH_REQUIRED: 'auth-required',
};

/** Data of 0.3 is an object. */
const part03 = (part: WirePart) => {
  if ('text' in part) return { kind: 'text', text: part.text };
  if ('url' in part) {
    const { url, mediaType, filename } = part;
    const facts = { ...(mediaType ? { mimeType: mediaType } : {}), ...(filename ? { name: filename } : {}) };
    return { kind: 'file', file: { uri: url, ...facts } };
  }
  return isFields(part.data)
    ? { kind: 'data', data: part.data }
    : { kind: 'text', text: JSON.stringify(part.data ?? null) };
};

const message03 = ({ role, parts, ...rest }: WireMessage) => ({
  kind: 'message',
  ...rest,
  role: role === 'ROLE_USER' ? 'user' : 'agent',
  parts: parts.map(part03),
});

const status03 = ({ state, message, timestamp }: WireStatus) => ({
  state: states03[state],
  ...(message ? { message: message03(message) } : {}),
  timestamp,
});

const artifact03 = ({ parts, ...rest }: WireArtifact) => ({ ...rest, parts: parts.map(part03) });

export const task03 = ({ status, artifacts, history, ...rest }: WireTask) => ({
  kind: 'task',
  ...rest,
  status: status03(status),
  ...(artifacts ? { artifacts: artifacts.map(artifact03) } : {}),
  ...(history ? { history: history.map(message03) } : {}),
});

const open: ReadonlySet<unknown> = new Set(['submitted', 'working']);

/** An event of a stream; the last one of a status is `final`. */
export function event03(event: StreamResponse): object {
  if ('task' in event) return task03(event.task);
  if ('message' in event) return message03(event.message);
  if ('artifactUpdate' in event) {
    const { artifact, ...rest } = event.artifactUpdate;
    return { kind: 'artifact-update', ...rest, artifact: artifact03(artifact) };
  }
  const { status, ...rest } = event.statusUpdate;
  const shown = status03(status);
  return { kind: 'status-update', ...rest, status: shown, final: !open.has(shown.state) };
}

/** The result of an operation of 1.0, as 0.3 shows it. */
export function value03(name: OperationName, value: unknown): unknown {
  if (name === 'SendMessage') return event03(value as StreamResponse);
  if (name === 'GetTask' || name === 'CancelTask') return task03(value as WireTask);
  if (name === 'ListTaskPushNotificationConfigs') return (value as { configs: readonly Fields[] }).configs.map(push03);
  return /PushNotificationConfig$/.test(name) && isFields(value) ? push03(value) : value;
}

function push03({ taskId, authentication, ...config }: Fields) {
  const { scheme, ...rest } = fieldsOf(authentication);
  const shown = authentication === undefined ? {} : { authentication: { ...rest, schemes: [scheme] } };
  return { taskId, pushNotificationConfig: { ...config, ...shown } };
}
