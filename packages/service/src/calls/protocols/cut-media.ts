import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { readMediaType, safeName, UNKNOWN_TYPE } from '../../files/file-facts.ts';
import { isDeeperThan, MAX_LEVELS } from '../../lib/json/json-limits.ts';
import { isObject, type Json, parseJsonText } from '../../lib/json/json-object.ts';
import { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import { MAX_RESULT_BYTES } from './agent-answer.ts';

/** Length above which media in JSON become files. */
export const MIN_MEDIA_BYTES = 64 * 1024;
/** Levels of the envelopes of protocols around a result. */
const ENVELOPE_LEVELS = 16;

/** Fields that hold base64, by the APIs that have them: A2A (`raw`, `bytes`), MCP (`data`, `blob`), OpenAI (`b64_json`). */
const fields: ReadonlySet<string> = new Set(['raw', 'bytes', 'data', 'blob', 'b64_json', 'base64']);
/** Fields of base64 that need no media type beside them, with the type that they have by default. */
const certain: ReadonlyMap<string, string> = new Map([
  ['raw', UNKNOWN_TYPE],
  ['b64_json', 'image/png'],
]);
const typeFields = ['mediaType', 'mimeType', 'media_type', 'mime_type', 'contentType'];
const nameFields = ['filename', 'name'];

/** A content that was cut out of JSON. */
export interface Medium {
  readonly bytes: Buffer;
  readonly mediaType: string;
  readonly name: string | null;
  /** The field that it was in, with its media type beside it; null: it was a data URL. */
  readonly field: string | null;
}

/** A long text of base64 in JSON. */
interface LongText {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
  /** The type of a data URL; null: it is base64 alone. */
  readonly mediaType: string | null;
}

/** JSON without its media. */
export interface LightJson {
  readonly value: unknown;
  /** The JSON object in the place of each: nothing of it is in the value before it is filled in. */
  readonly media: readonly { readonly medium: Medium; fill(file: Json): void }[];
}

/**
 * Cuts long base64 out of a JSON text before a parser reads it, so that what is parsed is never longer than a result may be. A data URL
 * becomes an object; a field of base64 next to a media type becomes the field `$file` of its object. null: there are no media, or it is no
 * JSON. Throws `too_large` for JSON that is too long without them.
 */
export function cutMedia(body: Buffer): LightJson | null {
  const texts = findLongTexts(body);
  if (texts.length === 0) return requireSize(body);
  const mark = `${randomUUID()}:`;
  const skeleton = withMarks(body, texts, mark);
  requireSize(skeleton);
  const parsed = isUtf8(skeleton) ? parsedOrNull(skeleton.toString('utf8')) : null;
  if (parsed === null || isDeeperThan(parsed.value, MAX_LEVELS.result + ENVELOPE_LEVELS)) return requireSize(body);
  const walker = createWalker(body, texts, mark);
  const value = walker.walk(parsed.value);
  if (skeleton.byteLength + walker.restoredBytes() > MAX_RESULT_BYTES) throw new GuardedFetchError('too_large');
  return walker.media.length === 0 ? requireSize(body) : { value, media: walker.media };
}

function requireSize(body: Buffer): null {
  if (body.byteLength > MAX_RESULT_BYTES) throw new GuardedFetchError('too_large');
  return null;
}

function parsedOrNull(text: string): { readonly value: unknown } | null {
  try {
    return { value: parseJsonText(text) };
  } catch {
    return null;
  }
}

const [QUOTE, BACKSLASH] = [34, 92] as const;

/** The position of the quote that ends a text; -1: none does. */
function endOfText(body: Buffer, from: number): number {
  for (let at = body.indexOf(QUOTE, from); at >= 0; at = body.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (at - escapes > from && body[at - escapes - 1] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return -1;
}

/** Long texts of base64; stops once what is left is longer than a result may be. */
function findLongTexts(body: Buffer): LongText[] {
  const texts: LongText[] = [];
  let left = 0;
  for (let quote = body.indexOf(QUOTE), from = 0; quote >= 0; quote = body.indexOf(QUOTE, from)) {
    const end = endOfText(body, quote + 1);
    if (end < 0) break;
    const text = end - quote > MIN_MEDIA_BYTES ? readLongText(body, quote + 1, end) : null;
    left += (text ? quote : end) - from;
    if (left > MAX_RESULT_BYTES) throw new GuardedFetchError('too_large');
    if (text) texts.push(text);
    from = end + 1;
  }
  return texts;
}

const KEY = /"(\w{3,12})"\s*:\s*$/;
const DATA_URL = /^data:([\w!#$&^.+-]+\/[\w!#$&^.+-]+)?(?:;[\w!#$&^.+-]+=[^;,"\\]*)*;base64,/i;
const MAX_HEAD = 400;

function readLongText(body: Buffer, start: number, end: number): LongText | null {
  const head = body.toString('latin1', start, Math.min(end, start + MAX_HEAD)).replaceAll('\\/', '/');
  const url = DATA_URL.exec(head);
  const key = KEY.exec(body.toString('latin1', Math.max(0, start - 41), start - 1))?.[1];
  if (!url && !(key !== undefined && fields.has(key))) return null;
  const comma = url ? body.indexOf(',', start) + 1 : start;
  const bytes = decoded(body.toString('latin1', comma, end));
  return bytes && { start, end, bytes, mediaType: url ? (readMediaType(url[1]) ?? UNKNOWN_TYPE) : null };
}

/** null: it is not base64. */
function decoded(text: string): Buffer | null {
  const base64 = (text.includes('\\') ? text.replaceAll('\\/', '/') : text).replace(/={1,2}$/, '');
  if (base64.length % 4 === 1) return null;
  const bytes = Buffer.from(base64, 'base64');
  // What is no base64 is left out.
  return bytes.byteLength === Math.floor((base64.length * 3) / 4) ? bytes : null;
}

function withMarks(body: Buffer, texts: readonly LongText[], mark: string): Buffer {
  let from = 0;
  const parts = texts.flatMap(({ start, end }, index) => {
    const part = body.subarray(from, start);
    from = end;
    return [part, Buffer.from(mark + index)];
  });
  return Buffer.concat([...parts, body.subarray(from)]);
}

function createWalker(body: Buffer, texts: readonly LongText[], mark: string) {
  const media: { medium: Medium; fill(file: Json): void }[] = [];
  let restoredBytes = 0;
  const markedBy = (value: unknown): LongText | undefined =>
    typeof value === 'string' && value.startsWith(mark) ? texts[Number(value.slice(mark.length))] : undefined;
  const take = (medium: Medium, before: Json): Json => {
    const place: Record<string, unknown> = { ...before };
    media.push({ medium, fill: (file) => void Object.assign(place, file) });
    return place;
  };
  const restored = ({ start, end }: LongText): unknown => {
    restoredBytes += end - start;
    return restoredBytes > MAX_RESULT_BYTES ? '' : JSON.parse(body.toString('utf8', start - 1, end + 1));
  };
  const walk = (value: unknown): unknown => {
    const text = markedBy(value);
    if (text)
      return text.mediaType === null
        ? restored(text)
        : take({ bytes: text.bytes, mediaType: text.mediaType, name: null, field: null }, {});
    if (Array.isArray(value)) return value.map(walk);
    if (!isObject(value)) return value;
    const found = mediumIn(value, markedBy);
    const kept = Object.entries(value).filter(([key]) => key !== found?.field);
    const rest = Object.fromEntries(kept.map(([key, each]) => [key, walk(each)]));
    return found ? take(found.medium, rest) : rest;
  };
  return { walk, media, restoredBytes: () => restoredBytes };
}

/** The medium that an object holds next to its media type; null: none. */
function mediumIn(
  value: Json,
  markedBy: (text: unknown) => LongText | undefined,
): { readonly field: string; readonly medium: Medium } | null {
  for (const field of Object.keys(value)) {
    const text = fields.has(field) ? markedBy(value[field]) : undefined;
    if (!text || text.mediaType !== null) continue;
    const type = textIn(value, typeFields);
    const name = textIn(value, nameFields);
    if (type === null && name === null && !certain.has(field)) continue;
    const mediaType = readMediaType(type ?? certain.get(field)) ?? UNKNOWN_TYPE;
    return { field, medium: { bytes: text.bytes, mediaType, name: name === null ? null : safeName(name), field } };
  }
  return null;
}

const textIn = (value: Json, names: readonly string[]): string | null =>
  names.map((name) => value[name]).find((each): each is string => typeof each === 'string') ?? null;
