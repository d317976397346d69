import type { Context } from 'hono';
import { AppError } from '../../../lib/app-error.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { readBody } from '../../request/read-body.ts';
import { readForGateway } from '../common/gateway-request.ts';
import { type BoundRequest, messageBounds } from './bound-request.ts';
import { A2aError, rpcError } from './errors.ts';
import { once, shownAs } from './streams.ts';
import { type OperationName, operationOf, type Version, versionOf } from './versions.ts';
import type { StreamResponse } from './wire.ts';
import { event03, params10, value03 } from './wire03.ts';

const JSON_TYPE = 'application/json';

interface Envelope {
  readonly id: string | number | null;
  readonly method: string;
  readonly params: unknown;
}

/** Answers a request of the JSON-RPC binding: one message in the body of a POST. */
export async function answerRpc(request: BoundRequest): Promise<Response> {
  const { ctx, c, operations, open, refuse, send } = request;
  const told: Told = { id: null, isStreamed: false };
  try {
    if (c.req.method !== 'POST') throw notPost();
    requireJson(c.req.header('content-type'));
    const call = await open();
    const { opened, body } = await readForGateway(ctx, call.opened, () => readMessage(ctx, c));
    const { id, method, params } = readEnvelope(body, told);
    const version = versionOf(c);
    const name = operationOf(method, version);
    const answer = await operations[name](
      ctx,
      { ...call, opened, version },
      version === '0.3' ? params10(name, params) : params,
    );
    const shown = (result: unknown) => ({ jsonrpc: '2.0', id, result });
    if ('stream' in answer) {
      const show = (event: StreamResponse) => shown(version === '0.3' ? event03(event) : event);
      return send({ stream: shownAs(answer.stream, show) });
    }
    return send({ status: 200, type: JSON_TYPE, body: shown(resultOf(name, version, answer.value)) });
  } catch (error) {
    const known = refuse(error);
    const status =
      known.status === 405 || (known.status === 404 && error instanceof AppError) ? known.status : known.rpcStatus;
    const body = rpcError(told.id, known);
    // Stock clients read no JSON where they asked for a stream, but the status of a refusal or an error that is an event.
    if (told.isStreamed && status === 200) return send({ stream: once(body) }, known.headers);
    return send({ status, type: JSON_TYPE, body }, known.headers);
  }
}

const notPost = () =>
  new A2aError('INVALID_REQUEST', 'Method not allowed: JSON-RPC is sent with POST.', {
    status: 405,
    headers: { allow: 'POST' },
  });

const resultOf = (name: OperationName, version: Version, value: unknown) =>
  (version === '0.3' ? value03(name, value) : value) ?? null;

function requireJson(type: string | undefined): void {
  if (/^application\/(json|a2a\+json)\s*(;|$)/i.test(type ?? '')) return;
  throw new A2aError('INVALID_REQUEST', 'Content-Type must be application/json.', { status: 415 });
}

async function readMessage(ctx: HttpContext, c: Context): Promise<unknown> {
  const message = await readBody(ctx, c, messageBounds).catch((error) => {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error;
    throw new A2aError('PARSE_ERROR', `Invalid JSON payload. ${error.message}`);
  });
  if (message === undefined) throw new A2aError('PARSE_ERROR', 'Invalid JSON payload: the body is empty.');
  return message;
}

const isId = (id: unknown): id is string | number | null =>
  id === null || (typeof id === 'string' && id.length <= 1024) || Number.isSafeInteger(id);

/** Parts of a request known so far, for errors. */
interface Told {
  id: unknown;
  /** True when the client waits for a stream. */
  isStreamed: boolean;
}

const streamed: ReadonlySet<unknown> = new Set([
  ...['SendStreamingMessage', 'SubscribeToTask', 'message/stream', 'tasks/resubscribe'],
]);

/** `told` gets the id as soon as it is known, for errors. Batches are refused, as they would hide calls from the limits. */
function readEnvelope(message: unknown, told: Told): Envelope {
  const invalid = (what: string) => new A2aError('INVALID_REQUEST', `Request payload validation error: ${what}.`);
  if (Array.isArray(message)) throw invalid('send one request; batches are not supported');
  if (typeof message !== 'object' || message === null) throw invalid('it is not an object');
  const { jsonrpc, id = null, method, params } = message as Readonly<Record<string, unknown>>;
  if (!isId(id)) throw invalid('id must be a string, an integer or null');
  told.id = id;
  told.isStreamed = streamed.has(method);
  if (jsonrpc !== '2.0') throw invalid('jsonrpc must be "2.0"');
  if (typeof method !== 'string' || method === '') throw invalid('method is missing');
  if (params !== undefined && (typeof params !== 'object' || params === null || Array.isArray(params)))
    throw new A2aError('INVALID_PARAMS', 'Invalid parameters: params must be an object.');
  return { id, method, params };
}
