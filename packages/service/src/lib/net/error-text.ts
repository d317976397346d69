import { isObject } from '../json/json-object.ts';

const MAX_ITEMS = 5;

/**
 * The error in an answer, as code and message: in `error`, `message` or `detail`, as a text, an object or a list of either (FastAPI). It is
 * complete, so that secrets can be removed from it. undefined: none.
 */
export function errorIn(value: unknown): { readonly code?: unknown; readonly message: string } | undefined {
  if (typeof value === 'string') return { message: value };
  if (!isObject(value)) return undefined;
  const { error, message, detail, errors } = value;
  const { code } = isObject(error) ? error : value;
  const text = [error, message, detail, errors].map((each) => textIn(each)).find((each) => each !== '');
  if (text === undefined) return typeof code === 'string' ? { message: code } : undefined;
  return { ...(typeof code === 'string' ? { code } : {}), message: text };
}

function textIn(said: unknown, depth = 0): string {
  if (typeof said === 'string') return said;
  if (depth > 2) return '';
  if (Array.isArray(said))
    return said
      .slice(0, MAX_ITEMS)
      .map((each) => textIn(each, depth + 1))
      .filter((each) => each !== '')
      .join('; ');
  if (!isObject(said)) return '';
  const { message, msg, detail, loc } = said;
  const place = Array.isArray(loc)
    ? loc
        .filter((each) => typeof each === 'string' || typeof each === 'number')
        .slice(0, 10)
        .join('.')
    : '';
  const text = [message, msg, detail].map((each) => textIn(each, depth + 1)).find((each) => each !== '') ?? '';
  return place === '' || text === '' ? text : `${place}: ${text}`;
}

/** The pause that a `Retry-After` header asks for (RFC 9110, section 10.2.3), in milliseconds; null when it asks for none. */
export function retryAfterMs(header: string | readonly string[] | null | undefined, now: Date): number | null {
  if (typeof header !== 'string') return null;
  const ms = /^\d{1,10}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime();
  return ms > 0 ? ms : null;
}

const MAX_CHARS = 200;
/** Control characters, invisible ones, those that change the direction of a text, and placeholders. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\uFFFC\uFFFD\s]+/gu;

/** The beginning of a text from elsewhere as one line of visible characters. */
export function excerptOf(text: string): string {
  const chars = Array.from(text.replace(UNSEEN, ' ').trim());
  return chars.length <= MAX_CHARS ? chars.join('') : `${chars.slice(0, MAX_CHARS).join('')}…`;
}
