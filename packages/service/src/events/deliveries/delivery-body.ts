import { encodeJson, PreparedJson } from '../../lib/json/prepared-json.ts';

/** Size limit of a body, as Standard Webhooks recommends; receivers fetch larger results. */
const MAX_BODY_BYTES = 256 * 1024;

export interface Happened {
  readonly type: string;
  readonly subjectId: string;
  readonly createdAt: Date;
}

/**
 * The bytes of a delivery: type, timestamp of the event, and the object. An oversized object has no `result`, but `resultUrl`, its address.
 */
export const deliveryBody = (event: Happened, data: unknown, baseUrl: string): string =>
  encodeShown(event, data, baseUrl).body;

/** The same of an ended request, with what is stored of it: the body without its large fields. */
export function requestBody(event: Happened, data: unknown, baseUrl: string): { body: string; stored: string } {
  const { shown, body } = encodeShown(event, data, baseUrl);
  return { body, stored: withoutLarge(event, shown, baseUrl) ?? body };
}

function encodeShown(event: Happened, data: unknown, baseUrl: string): { shown: unknown; body: string } {
  const body = wrap(event, data);
  if (Buffer.byteLength(body) <= MAX_BODY_BYTES || !hasResult(data)) return { shown: data, body };
  const { result: _result, ...rest } = data;
  const shown = { ...rest, resultUrl: urlOf(event, baseUrl) };
  return { shown, body: wrap(event, shown) };
}

const wrap = ({ type, createdAt }: Happened, shown: unknown): string =>
  encodeJson({ type, timestamp: createdAt.toISOString(), data: shown }).toString();

const isObject = (data: unknown): data is Record<string, unknown> => typeof data === 'object' && data !== null;
const hasResult = (data: unknown): data is { result: unknown } => isObject(data) && 'result' in data;

const urlOf = ({ type, subjectId }: Happened, baseUrl: string): string =>
  `${baseUrl}${type.startsWith('bulk.') ? '/invoke/bulk/' : '/invoke/'}${subjectId}`;

/** Fields of a request that never change until retention removes them: they are stored once, with it. */
const FINAL_FIELDS = new Set(['task', 'metadata', 'result']);
const MAX_STORED_FIELD_BYTES = 1024;

/**
 * JSON with line feeds around what stands for each large field, and one before it all; encoded JSON has none. Instead of `result` there is
 * `resultUrl`. Null: no field is large.
 */
function withoutLarge(event: Happened, shown: unknown, baseUrl: string): string | null {
  if (!isObject(shown)) return null;
  const large = Object.entries(shown).filter(([key, value]) => FINAL_FIELDS.has(key) && isLarge(value));
  if (large.length === 0) return null;
  const left = new Set(large.map(([key]) => key));
  const fields = Object.entries(shown).map(([key, value]) => {
    if (!left.has(key)) return [key, value];
    if (key === 'result') return ['resultUrl', placeOf(urlOf(event, baseUrl))];
    return [key, placeOf(typeof value === 'string' ? '' : {})];
  });
  return `\n${wrap(event, Object.fromEntries(fields))}`;
}

const placeOf = (value: unknown) => new PreparedJson(`\n${JSON.stringify(value)}\n`);

/** A result as it is stored may have line feeds of its own. */
function isLarge(value: unknown): boolean {
  const text = encodeJson(value);
  return Buffer.byteLength(text) > MAX_STORED_FIELD_BYTES || text.includes('\n');
}

export const lacksFields = (stored: string): boolean => stored.startsWith('\n');

/** The body again from what is stored of it and its object, where that is known; a field that was removed meanwhile stays left out. */
export function completeBody(stored: string, object: unknown): string {
  const [, ...lines] = stored.split('\n');
  let body = '';
  for (let at = 0; at < lines.length; at += 2) {
    const [before = '', instead] = lines.slice(at, at + 2);
    const key = instead === undefined ? '' : keyAtEnd(before);
    const field = key === 'resultUrl' ? 'result' : key;
    const value = isObject(object) ? (object[field] ?? null) : null;
    if (value === null) body += before + (instead ?? '');
    else body += `${before.slice(0, -`"${key}":`.length)}"${field}":${encodeJson(value)}`;
  }
  return body;
}

const keyAtEnd = (text: string): string => text.slice(text.lastIndexOf('"', text.length - 3) + 1, -2);
