import { isObject, type Json, parseObject } from '../../lib/json/json-object.ts';
import { createEventParser } from '../../lib/net/event-parser.ts';
import type { GuardedResponse, Outbound } from '../../lib/net/guarded-fetch.ts';
import { NODE_VERSION } from '../../lib/process/node-version.ts';
import { schemaDigest } from './schema-digest.ts';
import { headersTo, type Upstream } from './upstream.ts';
import { CHECK_LIMITS, requireGood, UpstreamFault } from './upstream-client.ts';

/** The version of MCP without a handshake. */
export const MCP_STATELESS = '2026-07-28';
const LATEST_WITH_HANDSHAKE = '2025-11-25';
const withHandshake: ReadonlySet<unknown> = new Set([LATEST_WITH_HANDSHAKE, '2025-06-18', '2025-03-26']);
const clientInfo = { name: 'agent-network', version: NODE_VERSION };
const MAX_PAGES = 20;
/** Limit of a list of tools, all pages together. */
const MAX_LISTED_BYTES = 4 * 1024 * 1024;

/** Form of one connection's messages: stateless, or within a session that a handshake opened. */
export interface McpSession {
  readonly version: string;
  readonly sessionId: string | null;
  /** Declared with each message of a stateless session; absent: none. */
  readonly capabilities?: Json;
}

export interface McpTool {
  readonly name: string;
  readonly inputSchema: Json;
  readonly outputSchema: unknown;
}

/** A JSON-RPC message to a server, with the headers that its protocol demands. */
export function mcpMessage(
  { version, sessionId, capabilities = {} }: McpSession,
  method: string,
  params: Json,
  id?: string | number,
) {
  const isStateless = version === MCP_STATELESS;
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const _meta = { ...(isStateless ? envelope : {}), ...(isObject(params._meta) ? params._meta : {}) };
  const name = method.startsWith('tasks/') ? params.taskId : params.name;
  const named = typeof name === 'string' ? { 'mcp-name': name } : {};
  const headers = {
    'mcp-protocol-version': version,
    ...(sessionId === null ? {} : { 'mcp-session-id': sessionId }),
    ...(isStateless ? { 'mcp-method': method, ...named } : {}),
  };
  const sent = Object.keys(_meta).length === 0 ? params : { ...params, _meta };
  return { headers, body: { jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params: sent } };
}

/** Finds the protocol of a server: the stateless one, else one with a handshake. Throws UpstreamFault. */
export async function openMcp(ctx: Outbound, upstream: Upstream, signal?: AbortSignal): Promise<McpSession> {
  const stateless = { version: MCP_STATELESS, sessionId: null };
  const discovered = await ask(ctx, upstream, stateless, 'server/discover', {}, signal);
  const { status } = discovered.answer;
  const versions = discovered.result?.supportedVersions;
  if (Array.isArray(versions) && versions.includes(MCP_STATELESS)) return stateless;
  if (status === 401 || status === 403 || status === 402 || status >= 500)
    requireGood(upstream, discovered.answer, 'server/discover');
  const params = { protocolVersion: LATEST_WITH_HANDSHAKE, capabilities: {}, clientInfo };
  const first = { version: LATEST_WITH_HANDSHAKE, sessionId: null };
  const { answer, result } = await ask(ctx, upstream, first, 'initialize', params, signal);
  requireGood(upstream, answer, 'initialize');
  if (!result || !withHandshake.has(result.protocolVersion))
    throw new UpstreamFault('initialize returned no version of MCP that this node speaks.');
  const sessionId = answer.headers['mcp-session-id'] ?? null;
  if (sessionId !== null && !isSessionId(sessionId))
    throw new UpstreamFault('initialize returned an invalid session id: it must be visible ASCII characters.');
  const session = { version: String(result.protocolVersion), sessionId };
  const told = { ...CHECK_LIMITS, signal };
  await send(ctx, upstream, mcpMessage(session, 'notifications/initialized', {}), told).catch((error: unknown) => {
    closeMcp(ctx, upstream, session);
    throw error;
  });
  return session;
}

/** True for a session id that MCP allows; any other can't be sent back in a header. */
const isSessionId = (id: string | string[]): id is string => typeof id === 'string' && /^[\x21-\x7e]{1,1000}$/.test(id);

/** Ends a session, if there is one; its answer does not matter. */
export function closeMcp(ctx: Outbound, upstream: Upstream, { version, sessionId }: McpSession): void {
  if (sessionId === null) return;
  const headers = {
    ...headersTo(upstream, upstream.endpoint),
    'mcp-session-id': sessionId,
    'mcp-protocol-version': version,
  };
  const request = { url: upstream.endpoint, method: 'DELETE', headers, timeoutMs: 2000, maxBytes: 65_536 };
  ctx.guardedFetch.request(request).catch(() => undefined);
}

/** The tool that the agent calls. Throws UpstreamFault when it is not there. */
export async function findTool(
  ctx: Outbound,
  upstream: Upstream,
  session: McpSession,
  signal?: AbortSignal,
): Promise<McpTool> {
  // Only one is kept: the pages of a hostile server would fill the memory.
  let tool: McpTool | undefined;
  let count = 0;
  for await (const each of listTools(ctx, upstream, session, signal)) {
    if (upstream.tool !== null && each.name !== upstream.tool) continue;
    tool ??= each;
    count += 1;
  }
  if (upstream.tool !== null && !tool) throw new UpstreamFault(`tools/list does not list the tool "${upstream.tool}".`);
  if (!tool || count > 1)
    throw new UpstreamFault(`The server lists ${count} tools: upstream.tool has to name the one to call.`);
  return tool;
}

async function* listTools(
  ctx: Outbound,
  upstream: Upstream,
  session: McpSession,
  signal: AbortSignal | undefined,
): AsyncGenerator<McpTool> {
  let bytes = 0;
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = typeof cursor === 'string' ? { cursor } : {};
    const { answer, result } = await ask(ctx, upstream, session, 'tools/list', params, signal);
    requireGood(upstream, answer, 'tools/list');
    if (!Array.isArray(result?.tools)) throw new UpstreamFault('tools/list returned no tools.');
    bytes += answer.body.length;
    if (bytes > MAX_LISTED_BYTES) throw new UpstreamFault('tools/list returned more than 4 MiB of tools.');
    yield* result.tools.filter(isTool);
    cursor = result.nextCursor;
    if (typeof cursor !== 'string' || cursor === '') return;
  }
}

const isTool = (value: unknown): value is McpTool =>
  isObject(value) &&
  typeof value.name === 'string' &&
  /^[\x21-\x7e]{1,200}$/.test(value.name) &&
  isObject(value.inputSchema);

/** Time of a whole check, however many messages it takes. */
const WHOLE_CHECK_MS = 10_000;

/** Throws UpstreamFault unless the tool is there; returns the digest of its schemas. */
export async function requireTool(ctx: Outbound, upstream: Upstream): Promise<string> {
  const signal = AbortSignal.timeout(WHOLE_CHECK_MS);
  const session = await openMcp(ctx, upstream, signal);
  try {
    const { name, inputSchema, outputSchema } = await findTool(ctx, upstream, session, signal);
    return schemaDigest(name, inputSchema, outputSchema);
  } finally {
    closeMcp(ctx, upstream, session);
  }
}

interface Asked {
  readonly answer: GuardedResponse;
  readonly result: Json | undefined;
}

async function ask(
  ctx: Outbound,
  upstream: Upstream,
  session: McpSession,
  method: string,
  params: Json,
  signal: AbortSignal | undefined,
): Promise<Asked> {
  const limits = { ...CHECK_LIMITS, signal };
  const { answer, message } = await askMcp(ctx, upstream, session, { method, params, id: method }, limits);
  return { answer, result: isObject(message?.result) ? message.result : undefined };
}

interface McpRequest {
  readonly method: string;
  readonly params: Json;
  readonly id: string;
}

interface McpLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** Sends a request, and reads the whole answer with the message that responds to it. Throws GuardedFetchError. */
export async function askMcp(
  ctx: Outbound,
  upstream: Upstream,
  session: McpSession,
  { method, params, id }: McpRequest,
  limits: McpLimits,
): Promise<{ readonly answer: GuardedResponse; readonly message: Json | undefined }> {
  const answer = await send(ctx, upstream, mcpMessage(session, method, params, id), limits);
  return { answer, message: messagesIn(answer).find((each) => each.id === id) };
}

const send = (ctx: Outbound, upstream: Upstream, { headers, body }: ReturnType<typeof mcpMessage>, limits: McpLimits) =>
  ctx.guardedFetch.request({
    url: upstream.endpoint,
    method: 'POST',
    headers: {
      ...headersTo(upstream, upstream.endpoint),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
    ...limits,
  });

/** The messages of a whole answer, plain or as events. */
function messagesIn({ headers, body }: GuardedResponse): Json[] {
  const text = body.toString('utf8');
  if (
    !String(headers['content-type'] ?? '')
      .toLowerCase()
      .startsWith('text/event-stream')
  )
    return [parseObject(text)].filter((each) => each !== undefined);
  const events = createEventParser(text.length).feed(`${text}\n\n`);
  return events.map(({ data }) => parseObject(data)).filter((each) => each !== undefined);
}
