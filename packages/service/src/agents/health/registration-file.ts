import { isObject, type Json, parseObject } from '../../lib/json/json-object.ts';

/** Longest text of a `data:` address; files elsewhere have a limit of their own. */
const MAX_DATA_CHARS = 90_000;

/** The registration file that a `data:` address holds, in base64 or percent-encoded; undefined: it is none that can be read. */
export function fileInAddress(uri: string): Json | undefined {
  if (uri.length > MAX_DATA_CHARS) return undefined;
  const [, parameters = '', text = ''] =
    /^\s*data:application\/json((?:;[^;,]{1,100}){0,5}),([\s\S]*)$/i.exec(uri) ?? [];
  const names = parameters.toLowerCase().split(';');
  if (names.some((name) => name.startsWith('enc='))) return undefined;
  return parseObject(names.includes('base64') ? Buffer.from(text, 'base64').toString('utf8') : percentDecoded(text));
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Addresses that a registration file lists: in `services` or, as before, `endpoints`, a list or by name, as `endpoint` or `url`. */
export const addressesIn = ({ services, endpoints }: Json): string[] =>
  [services, endpoints]
    .flatMap((listed) => (isObject(listed) || Array.isArray(listed) ? Object.values(listed) : []))
    .flatMap((each) => {
      const address = isObject(each) ? (each.endpoint ?? each.url) : each;
      return typeof address === 'string' ? [address] : [];
    });
