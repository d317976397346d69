import { isObject } from '../json/json-object.ts';

const MAX_ITEMS = 5;

/**
 * The error that an answer tells, as code and message: in `error`, or beside it in `message` or `detail`, as a text, an object or a list of
 * either (FastAPI). Nothing is cut off: secrets are looked for in it. undefined: it tells none.
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
