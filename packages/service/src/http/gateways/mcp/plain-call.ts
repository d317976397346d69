import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  type Implementation,
  type InputRequiredResult,
  isInputRequiredResult,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import { createBoundedCache } from '../../../lib/bounded-cache.ts';
import { isObject } from '../../../lib/json/json-object.ts';

/*
 * Most calls are of one shape: one valid call of a tool, of the stateless protocol, answered with JSON. The SDK's handler for HTTP takes a third
 * of the time of a call that is paid from a treasury for it, validating it eight times and carrying its answer through a stream. This answers
 * these calls with the same bytes, and leaves all others to the SDK: docs/decisions/0031-gateways.md.
 */

const VERSION = '2026-07-28';
const MAX_ENVELOPE_CHARS = 2000;

/** A call that needs nothing of the SDK. */
export interface PlainCall {
  readonly id: string | number;
  readonly name: string;
  readonly args: unknown;
  /** The client's description of itself. */
  readonly envelope: Readonly<Record<string, unknown>>;
}

/** Envelopes that the SDK has found valid: a client sends the same with each message. */
const validEnvelopes = createBoundedCache<true>(1000);

const envelopeKeys: ReadonlySet<string> = new Set([
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
]);

/** Reads a message as a plain call. null: it is of another shape, or not valid. */
export function plainCallOf(headers: Headers, message: object): PlainCall | null {
  if (!hasOnly(message, ['jsonrpc', 'id', 'method', 'params'])) return null;
  const { jsonrpc, id, method, params } = message;
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isObject(params)) return null;
  if (typeof id !== 'string' && !(typeof id === 'number' && Number.isSafeInteger(id))) return null;
  if (!hasOnly(params, ['name', 'arguments', '_meta'])) return null;
  const { name, arguments: args, _meta: envelope } = params;
  if (typeof name !== 'string' || !isObject(args) || !isObject(envelope)) return null;
  // The SDK drops this argument.
  if (Object.hasOwn(args, '__proto__')) return null;
  const isAddressed =
    headers.get('mcp-protocol-version') === VERSION &&
    headers.get('mcp-method') === method &&
    headers.get('mcp-name') === name;
  return isAddressed && isPlainEnvelope(envelope, message) ? { id, name, args, envelope } : null;
}

/** True for a valid envelope that asks for no progress, no log and no extension. */
function isPlainEnvelope(envelope: Readonly<Record<string, unknown>>, message: object): boolean {
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY];
  if (envelope[PROTOCOL_VERSION_META_KEY] !== VERSION) return false;
  if (!isObject(capabilities) || Object.hasOwn(capabilities, 'extensions')) return false;
  for (const key of Object.keys(envelope)) if (!envelopeKeys.has(key)) return false;
  const text = JSON.stringify(envelope);
  if (text.length > MAX_ENVELOPE_CHARS) return false;
  if (validEnvelopes.has(text)) return true;
  if (classifyInboundRequest({ httpMethod: 'POST', body: message }).kind !== 'modern') return false;
  validEnvelopes.set(text, true);
  return true;
}

/** The answer of a plain call, as the SDK would write it. */
export function plainAnswer(
  { id }: PlainCall,
  result: CallToolResult | InputRequiredResult,
  serverInfo: Implementation,
): string {
  const { _meta } = result;
  const stamped = { ..._meta, [SERVER_INFO_META_KEY]: serverInfo };
  if (isInputRequiredResult(result))
    return JSON.stringify({ result: { ...result, _meta: stamped }, jsonrpc: '2.0', id });
  const { content, structuredContent, isError } = result;
  return JSON.stringify({
    result: {
      ...(_meta ? { _meta: stamped } : {}),
      ...{ content, structuredContent, isError, resultType: 'complete' },
      ...(_meta ? {} : { _meta: stamped }),
    },
    jsonrpc: '2.0',
    id,
  });
}

/** True if an object has these keys and no others. */
const hasOnly = <K extends string>(value: object, keys: readonly K[]): value is Readonly<Record<K, unknown>> =>
  Object.keys(value).length === keys.length && keys.every((key) => Object.hasOwn(value, key));
