import { type Api, api, type EndpointName } from '@agent-network/contracts/api';
import type { DataOf, Endpoint } from '@agent-network/contracts/endpoint';
import type { Caller } from '../../../accounts/caller.ts';
import { AppError } from '../../../lib/app-error.ts';
import { FileAnswer } from '../../answer/file-answer.ts';
import { SseAnswer } from '../../answer/sse.ts';
import { handlers } from '../../api/all.ts';
import { countUntilTaken } from '../../api/mount.ts';
import { countInside } from '../../request/count-call.ts';
import { type AnyHandler, handleCall } from '../../request/handle-call.ts';
import type { HandlerCall } from '../../request/handler.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { addressOf } from '../../request/remote-address.ts';
import { ENVELOPE } from '../../request/run-keyed.ts';
import type { GatewayRequest } from './gateway-request.ts';

/** A call of an endpoint, as a gateway understood it. All of it is validated by the endpoint's row, as a request of its own is. */
export interface EndpointCall<N extends EndpointName> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Headers that the call would have as a request of its own, in lower case; those of the gateway's request do not count. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Handler that replaces the endpoint's own. */
  readonly handler?: (ctx: HttpContext, call: HandlerCall<Api[N]>) => Promise<unknown>;
}

/** The data of an answer, and its JSON. */
export interface Answered<T> {
  readonly data: T;
  readonly json: string;
}

/**
 * Calls an endpoint for a gateway, with all checks of a request of its own: scope, limits, validation, Idempotency-Key, audit. Throws the
 * endpoint's error.
 */
export async function callEndpoint<N extends EndpointName>(
  ctx: HttpContext,
  opened: GatewayRequest,
  name: N,
  call: EndpointCall<N>,
): Promise<Answered<DataOf<Api[N]>>> {
  const row: Endpoint = api[name];
  const { c, caller, headers, room } = opened;
  const params = call.params ?? {};
  delete headers['idempotency-replayed'];
  const answer = await handleCall(ctx, {
    ...{ name, row, c, headers },
    setCreated: () => undefined,
    handler: (call.handler ?? handlers[name]) as unknown as AnyHandler,
    parts: {
      path: row.path.replace(/\{(\w+)\}/g, (_, param: string) =>
        encodeURIComponent((params[param] ?? '').toWellFormed()),
      ),
      params,
      query: Object.fromEntries(Object.entries(call.query ?? {}).map(([key, value]) => [key, [value]])),
      header: (header) => call.headers?.[header],
      body: async () => call.body,
    },
    identify: async () => requireKnown(row, caller, call.headers),
    count: (known) => countInside(ctx, { caller: known, row, address: () => addressOf(ctx, c) }, headers),
    admit: () => row.method === 'GET' && room.admit(opened.readers, name),
  });
  if (answer instanceof SseAnswer || answer instanceof FileAnswer)
    throw new Error(`${name} gave a stream to a gateway`);
  const json = answer.toString().slice(ENVELOPE.length, -1);
  const isRead = row.method === 'GET' || 'idempotency-replayed' in headers;
  if (isRead) countUntilTaken(c, (bytes) => room.take(opened.readers, name, bytes), json);
  return { data: JSON.parse(json), json };
}

function requireKnown(row: Endpoint, caller: Caller, headers: Readonly<Record<string, string>> = {}): Caller {
  if (row.auth === 'none' || caller.kind !== 'anonymous') return caller;
  if (row.keyless === 'reads' && headers['x-result-token'] !== undefined) return caller;
  if (row.keyless === 'answers' && headers['x-answer-token'] !== undefined) return caller;
  throw new AppError('UNAUTHORIZED', 'Send "Authorization: Bearer <API key>".');
}
