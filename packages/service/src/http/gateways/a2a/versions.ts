import type { Context } from 'hono';
import { A2aError } from './errors.ts';

export const operationNames = [
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
  'CreateTaskPushNotificationConfig',
  'GetTaskPushNotificationConfig',
  'ListTaskPushNotificationConfigs',
  'DeleteTaskPushNotificationConfig',
  'GetExtendedAgentCard',
] as const;
export type OperationName = (typeof operationNames)[number];

/** Versions of the protocol. Patches do not count. */
export type Version = '1.0' | '0.3';

/** The version that a request is of, by header or query; without one it is 0.3. */
export function versionOf(c: Context): Version {
  const given = (c.req.header('a2a-version') || c.req.query('A2A-Version') || '0.3').trim();
  if (/^1\.0(\.\d{1,9})?$/.test(given)) return '1.0';
  if (/^0\.3(\.\d{1,9})?$/.test(given)) return '0.3';
  throw new A2aError('VERSION_NOT_SUPPORTED', `The version ${given.slice(0, 32)} is not served; 1.0 and 0.3 are.`);
}

const methods03: Readonly<Record<string, OperationName>> = {
  'message/send': 'SendMessage',
  'message/stream': 'SendStreamingMessage',
  'tasks/get': 'GetTask',
  'tasks/cancel': 'CancelTask',
  'tasks/resubscribe': 'SubscribeToTask',
  'tasks/pushNotificationConfig/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigs',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfig',
  'agent/getAuthenticatedExtendedCard': 'GetExtendedAgentCard',
};

/** The operation that a method of JSON-RPC names. Throws METHOD_NOT_FOUND. */
export function operationOf(method: string, version: Version): OperationName {
  const isOf10 = (operationNames as readonly string[]).includes(method);
  const is03 = Object.hasOwn(methods03, method);
  if (version === '1.0' && isOf10) return method as OperationName;
  if (version === '0.3' && is03) return methods03[method] as OperationName;
  const hint = isOf10 ? ' It is of version 1.0: send "A2A-Version: 1.0".' : is03 ? ' It is of version 0.3.' : '';
  throw new A2aError('METHOD_NOT_FOUND', `There is no method ${method.slice(0, 100)} in version ${version}.${hint}`);
}
