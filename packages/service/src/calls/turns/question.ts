import { inputKinds } from '@agent-network/contracts/invocations/turns';
import { isObject, isPlainName, type Json } from '../../lib/json/json-object.ts';
import { checkUrl } from '../../lib/net/guarded-fetch-address.ts';
import type { Question } from '../invocation.ts';

const MAX_MESSAGE_BYTES = 4096;
const MAX_SCHEMA_BYTES = 16 * 1024;
const MAX_STATE_BYTES = 16 * 1024;
const MAX_ID_CHARS = 200;
const MAX_DEPTH = 32;

/** A question as an agent wrote it, or the reason why it can't be shown to a caller. */
export type ReadQuestion = { readonly question: Question } | { readonly fault: string };

/** Reads a question. A link always has the kind `link`. */
export function readQuestion(given: unknown): ReadQuestion {
  if (!isObject(given)) return { fault: 'without "input"' };
  const { id, message, schema, url, timeout, kind } = given;
  const fault = faultOfText(message) ?? faultOfSchema(schema) ?? faultOfLink(url) ?? faultOfRest({ id, timeout, kind });
  if (fault !== null) return { fault };
  return {
    question: {
      agentInputId: typeof id === 'string' ? id : null,
      kind: url ? 'link' : kind === 'approval' ? 'approval' : 'input',
      message: message as string,
      schema: (schema as Record<string, unknown> | undefined) ?? null,
      url: typeof url === 'string' ? url : null,
      timeoutS: typeof timeout === 'number' ? timeout : null,
    },
  };
}

/** The reason why what an agent wants back cannot be kept; null: it can. */
export const faultOfState = (state: unknown): string | null =>
  state !== undefined && Buffer.byteLength(JSON.stringify(state)) > MAX_STATE_BYTES
    ? `with a state of more than ${MAX_STATE_BYTES / 1024} KiB`
    : null;

function faultOfText(message: unknown): string | null {
  if (typeof message !== 'string' || message.trim() === '') return 'without a "message"';
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) return `of more than ${MAX_MESSAGE_BYTES / 1024} KiB`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
  const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/;
  return hidden.test(message) || !message.isWellFormed() ? 'with control characters in its message' : null;
}

function faultOfSchema(schema: unknown): string | null {
  if (schema === undefined || schema === null) return null;
  if (!isObject(schema) || schema.type !== 'object') return 'with a schema that is not one of an object';
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES)
    return `with a schema of more than ${MAX_SCHEMA_BYTES / 1024} KiB`;
  return asksForSecret(schema, 0) ? 'for a password or another secret' : null;
}

/** True if some part of a schema is for a secret: those do not belong into a form that a stranger wrote. */
function asksForSecret(part: unknown, depth: number): boolean {
  if (typeof part !== 'object' || part === null) return false;
  if (depth > MAX_DEPTH) return true;
  const { format, writeOnly } = part as Json;
  if (format === 'password' || writeOnly === true) return true;
  return Object.values(part).some((each) => asksForSecret(each, depth + 1));
}

function faultOfLink(url: unknown): string | null {
  if (url === undefined || url === null) return null;
  const isPublic = typeof url === 'string' && url.length <= 2048 && checkUrl(url, { allowPrivate: false }).ok;
  return isPublic && !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(url)
    ? null
    : 'with a link that is not https to a public host';
}

function faultOfRest({ id, timeout, kind }: Readonly<Record<'id' | 'timeout' | 'kind', unknown>>): string | null {
  const hasId = typeof id === 'string' && id !== '' && id.length <= MAX_ID_CHARS && isPlainName(id);
  if (id !== undefined && id !== null && !hasId)
    return `with an id that is not a text of up to ${MAX_ID_CHARS} characters`;
  const hasTimeout = typeof timeout === 'number' && timeout > 0;
  if (timeout !== undefined && timeout !== null && !hasTimeout) return 'with a timeout that is not a number of seconds';
  const isKnown = inputKinds.some((each) => each === kind);
  return kind === undefined || kind === null || isKnown ? null : 'of a kind that is not known';
}
