import type { Context } from 'hono';
import type { HttpContext } from '../../request/http-context.ts';
import { readBody } from '../../request/read-body.ts';
import { readForGateway } from '../common/gateway-request.ts';
import { type BoundRequest, messageBounds } from './bound-request.ts';
import { A2aError, invalidParam, restError } from './errors.ts';
import { type OperationName, versionOf } from './versions.ts';

const A2A_TYPE = 'application/a2a+json';

/** An operation, with the parameters in the path. */
interface Routed {
  readonly name: OperationName;
  readonly path: Readonly<Record<string, string>>;
}

type Row = readonly [method: string, pattern: RegExp, name: OperationName, parameters: readonly string[]];

/** Paths of HTTP+JSON (specification, 11.3). The schema has GET where the text has POST for subscriptions: both are taken. */
const rows: readonly Row[] = [
  ['POST', /^message:send$/, 'SendMessage', []],
  ['POST', /^message:stream$/, 'SendStreamingMessage', []],
  ['GET', /^tasks$/, 'ListTasks', []],
  ['POST', /^tasks\/([^/]+):cancel$/, 'CancelTask', ['id']],
  ['GET', /^tasks\/([^/]+):subscribe$/, 'SubscribeToTask', ['id']],
  ['POST', /^tasks\/([^/]+):subscribe$/, 'SubscribeToTask', ['id']],
  ['GET', /^tasks\/([^/]+)$/, 'GetTask', ['id']],
  ['POST', /^tasks\/([^/]+)\/pushNotificationConfigs$/, 'CreateTaskPushNotificationConfig', ['taskId']],
  ['GET', /^tasks\/([^/]+)\/pushNotificationConfigs$/, 'ListTaskPushNotificationConfigs', ['taskId']],
  ['GET', /^tasks\/([^/]+)\/pushNotificationConfigs\/([^/]+)$/, 'GetTaskPushNotificationConfig', ['taskId', 'id']],
  [
    'DELETE',
    /^tasks\/([^/]+)\/pushNotificationConfigs\/([^/]+)$/,
    'DeleteTaskPushNotificationConfig',
    ['taskId', 'id'],
  ],
  ['GET', /^extendedAgentCard$/, 'GetExtendedAgentCard', []],
];

function routeOf(method: string, path: string): Routed {
  const matching = rows.flatMap((row) => {
    const match = row[1].exec(path);
    return match ? [{ row, match }] : [];
  });
  const found = matching.find(({ row }) => row[0] === method);
  if (found) {
    const [, , name, parameters] = found.row;
    return { name, path: Object.fromEntries(parameters.map((key, at) => [key, found.match[at + 1] ?? ''])) };
  }
  const allow = [...new Set(matching.map(({ row }) => row[0]))].join(', ');
  const more = allow === '' ? { status: 404 } : { status: 405, headers: { allow } };
  throw new A2aError('METHOD_NOT_FOUND', `There is no ${method} ${path.slice(0, 200)}.`, more);
}

/** Answers a request of the HTTP+JSON binding, of which there is version 1.0 only. */
export async function answerRest({ ctx, c, target, operations, open, refuse, send }: BoundRequest): Promise<Response> {
  try {
    const { name, path } = routeOf(c.req.method, target.rest.join('/'));
    const call = await open();
    if (versionOf(c) !== '1.0')
      throw new A2aError('VERSION_NOT_SUPPORTED', 'HTTP+JSON is of version 1.0: send "A2A-Version: 1.0".');
    const { opened, body: given } = await readForGateway(ctx, call.opened, async () =>
      c.req.method === 'POST' ? bodyOf(ctx, c) : queryOf(c),
    );
    const answer = await operations[name](ctx, { ...call, opened, version: '1.0' }, { ...given, ...path });
    if ('stream' in answer) return send({ stream: answer.stream });
    return send({ status: 200, type: A2A_TYPE, body: answer.value ?? {} });
  } catch (error) {
    const known = refuse(error);
    return send({ status: known.status, type: A2A_TYPE, body: restError(known) }, known.headers);
  }
}

async function bodyOf(ctx: HttpContext, c: Context): Promise<object> {
  const type = c.req.header('content-type');
  const body = await readBody(ctx, c, messageBounds);
  if (body === undefined) return {};
  if (!/^application\/(json|a2a\+json)\s*(;|$)/i.test(type ?? ''))
    throw new A2aError('INVALID_REQUEST', 'Content-Type must be application/a2a+json.', { status: 415 });
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidParam('body', 'must be an object');
  return body;
}

const numbers: ReadonlySet<string> = new Set(['historyLength', 'pageSize']);
const booleans: Readonly<Record<string, boolean>> = { true: true, false: false };

/** Query parameters as JSON values. */
const queryOf = (c: Context): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(c.req.query()).map(([name, value]) => {
      if (numbers.has(name)) return [name, /^-?\d{1,15}$/.test(value) ? Number(value) : value];
      return [name, name === 'includeArtifacts' ? (booleans[value] ?? value) : value];
    }),
  );
