import { api, type EndpointName } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import type { Context, Hono } from 'hono';
import { type AgentCaller, type Caller, type KnownCaller, requireScope } from '../access/caller.ts';
import { AppError } from '../lib/app-error.ts';
import { newId } from '../lib/id.ts';
import { commonHeaders } from './common-headers.ts';
import { countCall } from './count-call.ts';
import { toErrorAnswer } from './errors.ts';
import type { HandlerCall, Handlers } from './handler.ts';
import type { HttpContext } from './http-context.ts';
import { parseRequest } from './parse-request.ts';
import { readBody } from './read-body.ts';
import { addressOf } from './remote-address.ts';

type AnyHandler = (ctx: HttpContext, call: HandlerCall<Endpoint>) => unknown;

/** Walks the endpoint table: each row becomes a route that authenticates, counts, validates, handles and wraps. */
export function mount(app: Hono, ctx: HttpContext, handlers: Handlers): void {
  const names = (Object.keys(api) as EndpointName[]).sort((a, b) => parametersOf(a) - parametersOf(b));
  for (const name of names) {
    const row: Endpoint = api[name];
    const handler = handlers[name] as unknown as AnyHandler;
    app.on(row.method, row.path.replace(/\{(\w+)\}/g, ':$1'), (c) => answer(ctx, name, row, handler, c));
  }
}

/** Literal paths come before those with parameters, which would swallow them. */
const parametersOf = (name: EndpointName) => api[name].path.split('{').length;

export function requestIdOf(c: Context): string {
  const given = c.req.header('x-request-id');
  return given !== undefined && /^[\w-]{8,128}$/.test(given) ? given : newId('req');
}

async function answer(
  ctx: HttpContext,
  name: EndpointName,
  row: Endpoint,
  handler: AnyHandler,
  c: Context,
): Promise<Response> {
  const startMs = performance.now();
  const requestId = requestIdOf(c);
  const headers: Record<string, string> = {
    ...commonHeaders,
    'content-type': 'application/json',
    'x-request-id': requestId,
  };
  let status = 200;
  let body: string;
  try {
    const data = await handle(ctx, row, handler, c, headers);
    body = JSON.stringify({ status: 'success', data });
  } catch (error) {
    const failure = toErrorAnswer(error, requestId);
    status = failure.status;
    Object.assign(headers, failure.headers);
    body = JSON.stringify(failure.body);
    if (status >= 500) logFailure(ctx, name, requestId, error);
  }
  const tookMs = performance.now() - startMs;
  ctx.metrics.requestDuration.observe({ route: name, status }, tookMs / 1000);
  ctx.log.debug({ requestId, route: name, status, tookMs: Math.round(tookMs * 10) / 10 }, 'request');
  return new Response(body, { status, headers });
}

function logFailure(ctx: HttpContext, route: string, requestId: string, error: unknown): void {
  if (!(error instanceof AppError)) ctx.log.error({ err: error, route, requestId }, 'a request failed');
  else if (error.cause) ctx.log.warn({ err: error.cause, code: error.code, route, requestId }, 'a request failed');
}

async function handle(
  ctx: HttpContext,
  row: Endpoint,
  handler: AnyHandler,
  c: Context,
  headers: Record<string, string>,
) {
  if (!ctx.isReady()) throw new AppError('UNAVAILABLE', 'The node is starting or stopping.');
  const caller = await identify(ctx, row, c, headers);
  const counted = await countCall(ctx, caller, row, headers);
  let isDone = false;
  const uncount = async () => {
    if (!isDone) await counted.uncountInvocation();
    isDone = true;
  };
  try {
    requireAllowed(row, caller);
    const parsed = parseRequest(row, {
      params: c.req.param(),
      query: c.req.queries(),
      header: (name) => c.req.header(name),
      body: row.body ? await readBody(c.req.raw) : undefined,
    });
    const setHeader = (name: string, value: string) => {
      headers[name] = value;
    };
    const data = await handler(ctx, { ...parsed, caller: caller as AgentCaller, setHeader, uncount });
    return ctx.checksAnswers ? checked(row, data) : data;
  } catch (error) {
    // Whatever did not become an invocation does not count as one.
    await uncount();
    throw error;
  }
}

/** A bad key is refused everywhere, also where none is needed; guessing counts against the guesser's address. */
async function identify(ctx: HttpContext, row: Endpoint, c: Context, headers: Record<string, string>): Promise<Caller> {
  const anonymous = { kind: 'anonymous', address: addressOf(c) } as const;
  const authorization = c.req.header('authorization');
  try {
    if (authorization === undefined) {
      if (row.auth === 'none') return anonymous;
      throw new AppError('UNAUTHORIZED', 'Send "Authorization: Bearer <API key>".');
    }
    return await ctx.authenticator.authenticate(authorization);
  } catch (error) {
    if (error instanceof AppError && error.code === 'UNAUTHORIZED')
      await countCall(ctx, anonymous, { limit: 'api' }, headers);
    throw error;
  }
}

function requireAllowed(row: Endpoint, caller: Caller): void {
  if (row.auth === 'agent' && caller.kind !== 'agent')
    throw new AppError('FORBIDDEN', 'This is for the agent itself: send its identityToken instead of an API key.');
  if (row.scope) requireScope(caller as KnownCaller, row.scope);
}

function checked(row: Endpoint, data: unknown): unknown {
  const result = row.data.safeParse(data);
  if (!result.success)
    throw new Error(`the answer of ${row.method} ${row.path} breaks its schema: ${result.error.message}`);
  return data;
}
