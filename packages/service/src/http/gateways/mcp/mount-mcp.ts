import { createMcpHandler, isJsonContentType, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { Context, Hono } from 'hono';
import { findEvenRemoved } from '../../../agents/search/find-agent.ts';
import { AppError } from '../../../lib/app-error.ts';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import { isObject } from '../../../lib/json/json-object.ts';
import { createEventParser } from '../../../lib/net/event-parser.ts';
import { isLoopbackHost } from '../../../lib/net/guarded-fetch-address.ts';
import type { AnswerRoom } from '../../answer/answer-room.ts';
import { recordingEnd } from '../../answer/answer-watch.ts';
import { commonHeaders } from '../../answer/common-headers.ts';
import { requestIdOf } from '../../api/mount.ts';
import { type BodyBounds, trailOf } from '../../request/body-bounds.ts';
import { countCall } from '../../request/count-call.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { readBody } from '../../request/read-body.ts';
import { recordRequest } from '../../request/record-request.ts';
import { addressOf } from '../../request/remote-address.ts';
import { gatewayErrorOf, gatewayJson, gatewayStream } from '../common/gateway-error.ts';
import {
  API,
  type GatewayRequest,
  newGatewayHeaders,
  openGatewayRequest,
  readForGateway,
} from '../common/gateway-request.ts';
import { createUndeliveredAnswers, type UndeliveredAnswers } from '../common/undelivered-answers.ts';
import { createGivenUpCalls, type GivenUpCalls } from './given-up.ts';
import { callTool, createMcpServer, hasTool, type McpRequest, serverInfo } from './mcp-server.ts';
import { plainAnswer, plainCallOf } from './plain-call.ts';

/** Subscriptions of clients at a time; nothing is ever published on them. */
const MAX_SUBSCRIPTIONS = 64;
const MAX_HOSTS = 100;
const MAX_BATCH = 20;

/** Mounts the MCP gateway: `/mcp` for all agents, and an endpoint for each agent. */
export function mountMcp(app: Hono, ctx: HttpContext, room: AnswerRoom): void {
  const handler = createMcpHandler(({ authInfo }) => createMcpServer(ctx, authInfo?.extra?.request as McpRequest), {
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    onerror: (err) => ctx.log.debug({ err }, 'message to the MCP gateway refused'),
  });
  const memory = { lost: createUndeliveredAnswers(), givenUp: createGivenUpCalls() };
  const mounted = { ctx, room, handler, ...memory, isHostAllowed: rememberedHosts(ctx.mcpPlace) };
  for (const end of ['', '/']) {
    app.all(`/mcp${end}`, (c) => answer(mounted, c, null));
    app.all(`/agents/:id/mcp${end}`, (c) => answer(mounted, c, c.req.param('id')));
  }
  mountNoOauth(app);
}

interface Mounted {
  readonly ctx: HttpContext;
  readonly room: AnswerRoom;
  readonly handler: McpHttpHandler;
  readonly lost: UndeliveredAnswers;
  readonly givenUp: GivenUpCalls;
  readonly isHostAllowed: (host: string | undefined) => boolean;
}

/** `isAllowedHost`, which parses two addresses, with the allowed ones in memory: clients call a node by the same few. */
function rememberedHosts(place: McpAddress): Mounted['isHostAllowed'] {
  const allowed = createBoundedCache<true>(MAX_HOSTS);
  return (host) => {
    if (host !== undefined && allowed.has(host)) return true;
    if (!isAllowedHost(place, host)) return false;
    if (host !== undefined) allowed.set(host, true);
    return true;
  };
}

const codes = { parse: -32_700, invalidRequest: -32_600, invalidParams: -32_602, ours: -32_000 };

/** A request that is refused before the protocol reads it. */
class Refusal extends Error {
  readonly status: number;
  readonly code: number;
  readonly headers: Record<string, string>;

  constructor(status: number, code: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

async function answer(mounted: Mounted, c: Context, agentId: string | null): Promise<Response> {
  const startMs = performance.now();
  const headers = newGatewayHeaders(c);
  const response = await serve(mounted, c, agentId, headers).catch((error) => refused(mounted.ctx, c, headers, error));
  const route = agentId === null ? 'mcp' : 'agentMcp';
  const requestId = headers['x-request-id'] ?? '';
  recordRequest(mounted.ctx, c, { gateway: 'mcp', route, requestId, status: response.status, startMs });
  return response;
}

/** Checks origin, sender and rate of the request, then passes its message to the protocol. */
async function serve(
  mounted: Mounted,
  c: Context,
  agentId: string | null,
  headers: Record<string, string>,
): Promise<Response> {
  const { ctx, room, lost, givenUp, isHostAllowed } = mounted;
  if (!isHostAllowed(c.req.header('host')))
    throw new Refusal(403, codes.ours, 'Forbidden: this node is not called by this Host.');
  if (!isAllowedOrigin(ctx.mcpPlace, c.req.header('origin')))
    throw new Refusal(403, codes.ours, 'Forbidden: pages of this Origin may not call this node.');
  if (c.req.method !== 'POST') throw new Refusal(405, codes.ours, 'Method not allowed.', { allow: 'POST' });
  if (!isJsonContentType(c.req.header('content-type') ?? null))
    throw new Refusal(415, codes.ours, 'Unsupported Media Type: Content-Type must be application/json.');
  const unread = await openGatewayRequest(ctx, { gateway: 'mcp', room }, c, headers);
  const { opened, body: message } = await readForGateway(ctx, unread, () => readMessage(ctx, c));
  // Callers know no other address for what they bought of an agent that is removed.
  if (agentId !== null) await findEvenRemoved(ctx, agentId);
  const method = 'method' in message && typeof message.method === 'string' ? message.method : '';
  const messages = (Array.isArray(message) ? message : [message]) as readonly Record<string, unknown>[];
  await countBatch(ctx, opened, messages.length);
  for (const each of messages) if (each.method === 'notifications/cancelled') givenUp.giveUp(opened, idGivenUp(each));
  const request: McpRequest = { opened, agentId, lost, givenUp, method };
  const plain = plainCallOf(c.req.raw.headers, message);
  if (plain && hasTool(request, plain.name) && !c.req.raw.signal.aborted) {
    const call = { mcpReq: { id: plain.id, envelope: plain.envelope, signal: c.req.raw.signal } };
    const json = plainAnswer(plain, await callTool(ctx, request, call, plain), serverInfo);
    return gatewayJson(ctx, c, { status: 200, headers, json });
  }
  return servedBySdk(mounted, c, request, { message, headers });
}

/** The SDK's answer, as a stream of events if the client accepts one. */
async function servedBySdk(
  { ctx, handler }: Mounted,
  c: Context,
  request: McpRequest,
  { message, headers }: { readonly message: object; readonly headers: Record<string, string> },
): Promise<Response> {
  const response = await handler.fetch(acceptingBoth(c.req), {
    parsedBody: message,
    authInfo: { token: '', clientId: '', scopes: [], extra: { request } },
  });
  const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (isEvents && response.body && takesEvents(c)) return gatewayStream(recordingEnd(c, response.body), headers);
  if (isEvents)
    return gatewayJson(ctx, c, { status: 200, headers, json: await eventsAsJson(response, Array.isArray(message)) });
  const all = { ...headers, ...Object.fromEntries(response.headers) };
  return gatewayJson(ctx, c, { status: response.status, headers: all, json: await response.text() });
}

/** True for version 2025-03-26, the only one with batches; its clients send no version header. */
const takesBatches = (c: Context): boolean => ['2025-03-26', undefined].includes(c.req.header('mcp-protocol-version'));

/** Counts the messages of a batch beyond its first: each is a request of its own. */
async function countBatch(ctx: HttpContext, { c, caller, headers }: GatewayRequest, messages: number): Promise<void> {
  const counted = { caller, row: API, address: () => addressOf(ctx, c) };
  for (let more = messages - 1; more > 0; more -= 1) await countCall(ctx, counted, headers);
}

/** Bounds of a message: the SDK validates it several times, at some 20 microseconds per value, but passes arguments on unread. */
const bounds: BodyBounds = {
  maxValues: 500,
  maxChars: 128 * 1024,
  content: trailOf('params.arguments', '*.params.arguments'),
};

/** Reads the one message of a request, or the few of a batch. */
async function readMessage(ctx: HttpContext, c: Context): Promise<object> {
  const message = await readBody(ctx, c, bounds).catch((error) => {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error;
    throw new Refusal(400, codes.parse, `Parse error. ${error.message}`);
  });
  if (message === undefined) throw new Refusal(400, codes.parse, 'Parse error: the body is empty.');
  if (Array.isArray(message)) return readBatch(c, message);
  if (!isObject(message)) throw new Refusal(400, codes.invalidRequest, 'Invalid Request: send one JSON-RPC message.');
  return message;
}

/** Most fields of the arguments of all messages of a batch: the SDK walks their names at each validation. */
const MOST_ARGUMENTS_OF_BATCH = 2000;

const argumentsIn = (message: unknown): number =>
  isObject(message) && isObject(message.params) && isObject(message.params.arguments)
    ? Object.keys(message.params.arguments).length
    : 0;

function readBatch(c: Context, batch: readonly unknown[]): readonly unknown[] {
  const refuse = (why: string) => new Refusal(400, codes.invalidRequest, `Invalid Request: ${why}.`);
  if (!takesBatches(c)) throw refuse('send one JSON-RPC message; batches ended with the protocol of 2025-03-26');
  if (batch.length === 0 || batch.length > MAX_BATCH) throw refuse(`a batch has 1 to ${MAX_BATCH} messages`);
  if (!batch.every(isObject)) throw refuse('a batch is a list of JSON-RPC messages');
  if (batch.reduce((sum: number, message) => sum + argumentsIn(message), 0) > MOST_ARGUMENTS_OF_BATCH)
    throw refuse(`the arguments of a batch have at most ${MOST_ARGUMENTS_OF_BATCH} fields`);
  const ids = batch.flatMap(({ id }) => (id === undefined ? [] : [JSON.stringify(id)]));
  if (new Set(ids).size < ids.length) throw refuse('two messages of a batch have the same id');
  return batch;
}

/** The id of the call that a `notifications/cancelled` is about. */
const idGivenUp = ({ params }: { readonly params?: unknown }): unknown =>
  isObject(params) ? params.requestId : undefined;

function refused(ctx: HttpContext, c: Context, headers: Record<string, string>, error: unknown): Response {
  if (error instanceof Refusal) {
    const json = rpcError(error.code, error.message);
    return gatewayJson(ctx, c, { status: error.status, headers: { ...headers, ...error.headers }, json });
  }
  const known = gatewayErrorOf(ctx, 'mcp', headers['x-request-id'] ?? '', error);
  const { message, ...data } = known.error;
  const code = data.code === 'NOT_FOUND' ? codes.invalidParams : data.code === 'INTERNAL_ERROR' ? -32_603 : codes.ours;
  const json = rpcError(code, message, data);
  return gatewayJson(ctx, c, { status: known.status, headers: { ...headers, ...known.headers }, json });
}

const rpcError = (code: number, message: string, data?: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message, ...(data === undefined ? {} : { data }) } });

/**
 * MCP clients without a valid key try to register and to get a token (RFC 7591, RFC 6749), even without any mention of OAuth. They show the
 * `error_description` of the answer.
 */
function mountNoOauth(app: Hono): void {
  for (const path of ['/register', '/token']) app.post(path, refuse);
}

const description =
  'This node has no OAuth. Put an API key into the configuration of your MCP client, as the header "Authorization: Bearer ank_…"; without a key, the registry can be read and calls can be paid with x402.';

function refuse(c: Context): Response {
  const headers = { ...commonHeaders, 'content-type': 'application/json', 'cache-control': 'no-store' };
  const body = JSON.stringify({ error: 'access_denied', error_description: description });
  return new Response(body, { status: 400, headers: { ...headers, 'x-request-id': requestIdOf(c) } });
}

/** Address of the node, and the pages that may call its MCP gateway. */
export interface McpAddress {
  readonly baseUrl: string;
  /** True if only programs of this machine reach the listener. */
  readonly isLoopbackListener: boolean;
  /** Origins of pages, as configured; null: the node's own. */
  readonly allowedOrigins: readonly string[] | null;
}

/**
 * True for a request without `Origin`, and for one from an allowed page: by default from the node's own and, on a loopback listener, from
 * any page of this machine.
 */
export function isAllowedOrigin(place: McpAddress, origin: string | undefined): boolean {
  if (origin === undefined) return true;
  if (place.allowedOrigins) return place.allowedOrigins.includes(origin);
  const url = URL.parse(origin);
  if (!url || url.origin !== origin) return false;
  if (url.origin === new URL(place.baseUrl).origin) return true;
  return place.isLoopbackListener && isLoopbackHost(url.hostname);
}

/** True unless a name of another site was resolved to this machine (DNS rebinding): a loopback listener knows its own names. */
export function isAllowedHost(place: McpAddress, host: string | undefined): boolean {
  if (!place.isLoopbackListener) return true;
  const hostname = host === undefined ? undefined : URL.parse(`http://${host}`)?.hostname;
  if (hostname === undefined) return false;
  return isLoopbackHost(hostname) || hostname === new URL(place.baseUrl).hostname;
}

/** Larger than any answer: a record has a result of 1 MiB, as text and as data. */
const MAX_ANSWER_CHARS = 16 * 1024 * 1024;

/** True for a client that accepts a stream of events. Others get JSON, regardless of their Accept header. */
const takesEvents = (c: Context): boolean => /text\/event-stream/i.test(c.req.header('accept') ?? '');

/** The request as one that accepts both forms of answers, which the SDK demands. */
function acceptingBoth({ raw }: Context['req']): Request {
  const headers = new Headers(raw.headers);
  headers.set('accept', 'application/json, text/event-stream');
  return new Request(raw.url, { method: raw.method, headers, signal: raw.signal });
}

/** The answers in a stream of events, as JSON without the notifications before them. A batch has a list of them. */
async function eventsAsJson(response: Response, isBatch: boolean): Promise<string> {
  const events = createEventParser(MAX_ANSWER_CHARS).feed(`${await response.text()}\n\n`);
  // The stream begins with an event that says nothing: a place to resume from.
  const messages = events.filter(({ data }) => data !== '').map(({ data }) => JSON.parse(data));
  const answers = messages.filter((message) => 'id' in message && !('method' in message));
  return JSON.stringify(isBatch ? answers : answers[0]);
}
