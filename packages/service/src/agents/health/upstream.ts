import { type HttpTemplate, templateFault } from '@agent-network/contracts/agents/http-template';
import { type AgentProtocol, HIDDEN_VALUE, type UpstreamUpdate } from '@agent-network/contracts/agents/upstream';
import { invalid } from '../../lib/app-error.ts';
import type { Secrets } from '../../lib/secrets.ts';
import type { Agent, StoredUpstream } from '../agent.ts';

type Headers = Readonly<Record<string, string>>;

/** An endpoint as the node calls it. */
export interface Upstream {
  readonly agentId: string;
  readonly endpoint: string;
  readonly protocol: AgentProtocol;
  readonly tool: string | null;
  readonly model: string | null;
  /** null: for any protocol but `http-template`. */
  readonly template: HttpTemplate | null;
  /** Names in lower case. For the endpoint's origin only: see `headersTo`. */
  readonly headers: Headers;
}

/** Headers that the node sets itself, or that would change the framing or the sender of a message. */
const refusedHeaders = new Set([
  ...['host', 'content-length', 'content-type', 'content-encoding', 'transfer-encoding', 'connection', 'keep-alive'],
  ...[
    'te',
    'trailer',
    'upgrade',
    'expect',
    'proxy-authorization',
    'proxy-connection',
    'cookie',
    'cookie2',
    'set-cookie',
  ],
  ...['accept', 'accept-encoding', 'forwarded', 'via', 'idempotency-key', 'x-request-id', 'x-deadline'],
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature', 'payment-signature', 'x-payment', 'last-event-id'],
  ...[
    'a2a-version',
    'a2a-extensions',
    'x-a2a-extensions',
    'mcp-protocol-version',
    'mcp-session-id',
    'mcp-method',
    'mcp-name',
  ],
]);
const MAX_HEADER_CHARS = 8192;

/** Throws VALIDATION_ERROR for a header that an owner may not set. */
function requireAllowed(headers: Headers): void {
  const names = new Set<string>();
  let chars = 0;
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (refusedHeaders.has(lower) || lower.startsWith('x-forwarded-') || lower.startsWith('sec-'))
      throw invalid(`upstream.headers.${name}`, 'is a header that the node sets itself or never sends');
    if (names.has(lower)) throw invalid(`upstream.headers.${name}`, 'is named twice');
    names.add(lower);
    chars += name.length + value.length;
  }
  if (chars > MAX_HEADER_CHARS) throw invalid('upstream.headers', `are longer than ${MAX_HEADER_CHARS} characters`);
}

/** Throws VALIDATION_ERROR for fields that the protocol does not have, or lacks. */
function requireFitting(protocol: AgentProtocol, { tool, model }: StoredUpstream): void {
  if (tool !== undefined && protocol !== 'mcp') throw invalid('upstream.tool', 'is for the protocol mcp');
  if (model !== undefined && protocol !== 'openai') throw invalid('upstream.model', 'is for the protocol openai');
  if (model === undefined && protocol === 'openai')
    throw invalid('upstream.model', 'is required for the protocol openai');
}

/** The part of an agent's row that says how its endpoint is called. */
export type UpstreamFields = Pick<Agent, 'endpoint' | 'protocol' | 'upstream' | 'upstreamHeadersSealed'>;

interface UpstreamInput {
  readonly endpoint?: string | undefined;
  readonly protocol?: AgentProtocol | undefined;
  readonly upstream?: UpstreamUpdate | undefined;
}

export const newUpstream = (secrets: Secrets, endpoint: string, input: UpstreamInput): UpstreamFields =>
  mergeUpstream(secrets, { endpoint, protocol: 'http', upstream: {}, upstreamHeadersSealed: null }, input);

/**
 * The fields after a change. Headers are sealed with their origin, and an endpoint on another origin never gets the stored ones, as
 * changing the endpoint would otherwise reveal them. Throws VALIDATION_ERROR.
 */
export function mergeUpstream(secrets: Secrets, before: UpstreamFields, input: UpstreamInput): UpstreamFields {
  const endpoint = input.endpoint ?? before.endpoint;
  const protocol = input.protocol ?? before.protocol;
  const stored = openHeaders(secrets, before.upstreamHeadersSealed, endpoint);
  const { headers: given } = input.upstream ?? {};
  if (given === undefined && before.upstreamHeadersSealed !== null && stored === null)
    throw invalid(
      'upstream.headers',
      'must be given again with an endpoint on another origin: secrets stay with theirs',
    );
  const headers = given === undefined ? (stored ?? {}) : keepHidden(given, stored ?? {});
  const asked = { ...before.upstream, ...input.upstream };
  const template = mergeTemplate(protocol, before.upstream.template, input.upstream ?? {});
  const upstream: StoredUpstream = {
    ...(asked.tool == null ? {} : { tool: asked.tool }),
    ...(asked.model == null ? {} : { model: asked.model }),
    ...(template === null ? {} : { template }),
    headers: Object.keys(headers),
  };
  requireFitting(protocol, upstream);
  const isSame = given === undefined && before.endpoint === endpoint;
  return {
    endpoint,
    protocol,
    upstream,
    upstreamHeadersSealed: isSame ? before.upstreamHeadersSealed : sealHeaders(secrets, headers, endpoint),
  };
}

const templateFields = ['method', 'path', 'body', 'contentType', 'result'] as const;

/** The template after a change; null: the protocol has none. Throws VALIDATION_ERROR. */
function mergeTemplate(
  protocol: AgentProtocol,
  before: HttpTemplate | undefined,
  input: UpstreamUpdate,
): HttpTemplate | null {
  if (protocol !== 'http-template') {
    const field = templateFields.find((name) => input[name] != null);
    if (field !== undefined) throw invalid(`upstream.${field}`, 'is for the protocol http-template');
    return null;
  }
  const { method, path, body, contentType, result } = { ...before, ...withoutUndefined(input) };
  const template: HttpTemplate = {
    method: method ?? (body == null ? 'GET' : 'POST'),
    path: path ?? '',
    body: body ?? null,
    contentType: contentType ?? 'application/json',
    result: result ?? '',
  };
  const fault = templateFault(template);
  if (fault) throw invalid(`upstream.${fault.field}`, fault.problem);
  const header = Object.entries(input.headers ?? {}).find(([, value]) => value.includes('{{'));
  if (header) throw invalid(`upstream.headers.${header[0]}`, 'cannot hold placeholders');
  return template;
}

const withoutUndefined = (input: UpstreamUpdate): UpstreamUpdate =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));

/** Replaces placeholders by the stored values; names are compared in any case. */
function keepHidden(given: Headers, stored: Headers): Headers {
  requireAllowed(given);
  const storedOf = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (value !== HIDDEN_VALUE) return [name, value];
      const kept = storedOf.get(name.toLowerCase());
      if (kept === undefined)
        throw invalid(`upstream.headers.${name}`, `has no stored value that ${HIDDEN_VALUE} could keep`);
      return [name, kept];
    }),
  );
}

const sealHeaders = (secrets: Secrets, headers: Headers, endpoint: string): Buffer | null =>
  Object.keys(headers).length === 0
    ? null
    : secrets.seal(JSON.stringify({ origin: new URL(endpoint).origin, headers }));

/** The stored headers; null: there are none for this endpoint's origin, or they were sealed with another secret of the node. */
function openHeaders(secrets: Secrets, sealed: Buffer | null, endpoint: string): Headers | null {
  const opened = sealed && secrets.openOrNull(sealed);
  if (opened === null) return null;
  const { origin, headers } = JSON.parse(opened) as { origin: string; headers: Headers };
  return origin === new URL(endpoint).origin ? headers : null;
}

/** The endpoint of an agent, with its secrets opened. */
export function openUpstream(secrets: Secrets, agent: UpstreamFields & Pick<Agent, 'id'>): Upstream {
  const headers = openHeaders(secrets, agent.upstreamHeadersSealed, agent.endpoint) ?? {};
  return {
    agentId: agent.id,
    endpoint: agent.endpoint,
    protocol: agent.protocol,
    tool: agent.upstream.tool ?? null,
    model: agent.upstream.model ?? null,
    template: agent.upstream.template ?? null,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  };
}

/** The owner's headers for a URL: none outside of the endpoint's origin. */
export const headersTo = ({ endpoint, headers }: Pick<Upstream, 'endpoint' | 'headers'>, url: string): Headers =>
  new URL(url).origin === new URL(endpoint).origin ? headers : {};

/** Values shorter than this are words rather than secrets. */
const MIN_SECRET_CHARS = 6;

const secretsOf = ({ headers }: Pick<Upstream, 'headers'>): string[] =>
  Object.values(headers)
    .flatMap((value) => [value, ...value.split(' ')])
    .filter((secret) => secret.length >= MIN_SECRET_CHARS);

/** A text of the upstream without the owner's secrets: some servers repeat the credentials that they refuse. */
export const withoutSecrets = (upstream: Pick<Upstream, 'headers'>, text: string): string =>
  secretsOf(upstream).reduce((shown, secret) => shown.replaceAll(secret, HIDDEN_VALUE), text);

/** The beginning of such a text, without a secret's part at the cut. */
export function beginWithoutSecrets(upstream: Pick<Upstream, 'headers'>, text: string, chars: number): string {
  const shown = withoutSecrets(upstream, text.slice(0, chars));
  if (text.length <= chars) return shown;
  const partAtEnd = (secret: string) => {
    let length = secret.length - 1;
    while (!shown.endsWith(secret.slice(0, length))) length -= 1;
    return length;
  };
  return shown.slice(0, shown.length - Math.max(0, ...secretsOf(upstream).map(partAtEnd)));
}

/** A regular expression would look through a row of slashes from each of them: a megabyte of a card would take minutes. */
export function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/** The address of something below a base URL, with its query. */
export function urlBelow(base: string, path: string): string {
  const url = new URL(base);
  url.pathname = withoutEndSlashes(url.pathname) + path;
  return url.href;
}

export const toOwnUpstream = ({ tool, model, template, headers = [] }: StoredUpstream) => ({
  tool: tool ?? null,
  model: model ?? null,
  ...template,
  headers: Object.fromEntries(headers.map((name) => [name, HIDDEN_VALUE] as const)),
});
