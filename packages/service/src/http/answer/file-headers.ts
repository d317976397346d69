import type { FilePlace } from '../../files/file.ts';
import { readMediaType, UNKNOWN_TYPE } from '../../files/file-facts.ts';
import type { ByteRange } from '../../files/read-file.ts';
import { invalid } from '../../lib/app-error.ts';

/** Types that are served as they are. None of them runs in a browser as a page of this node, however it is opened. */
const served: ReadonlySet<string> = new Set([
  ...['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
  ...['audio/wav', 'audio/mpeg', 'video/mp4'],
  ...['application/pdf', 'application/json', 'text/plain'],
]);
/** Other names of listed types. */
const sameAs: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
};

/** Media type of an upload, without parameters. Throws VALIDATION_ERROR for what is none. */
export function mediaTypeOf(header: string | undefined): string {
  const type = readMediaType(header);
  if (type === null) throw invalid('Content-Type', 'must be a media type such as image/png');
  return type;
}

/** The type that a content is served as. */
export function servedType(mediaType: string): string {
  const type = sameAs[mediaType] ?? mediaType;
  if (!served.has(type)) return UNKNOWN_TYPE;
  return type === 'text/plain' ? 'text/plain; charset=utf-8' : type;
}

/**
 * Headers of a content. Whatever a stranger stored, nothing of it runs: it is a download of a listed type that no browser second-guesses, in
 * a sandbox of its own if it is opened all the same.
 */
export function contentHeaders({ mediaType, name }: FilePlace, etag: string): Record<string, string> {
  return {
    'content-type': servedType(mediaType),
    'x-content-type-options': 'nosniff',
    'content-disposition': `attachment${name === null ? '' : `; filename*=UTF-8''${encoded(name)}`}`,
    'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
    'cross-origin-resource-policy': 'same-site',
    'referrer-policy': 'no-referrer',
    'cache-control': 'private, max-age=3600, immutable',
    'accept-ranges': 'bytes',
    etag,
  };
}

/** Encodes a parameter by RFC 8187. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

/** The SHA-256 in a Content-Digest (RFC 9530); null: none. Throws VALIDATION_ERROR for one that is malformed. */
export function announcedDigest(header: string | undefined): Buffer | null {
  const given = /(?:^|,)\s*sha-256\s*=\s*([^,]*)/i.exec(header ?? '')?.[1]?.trim();
  if (given === undefined) return null;
  const base64 = /^:([A-Za-z0-9+/]{43}=):$/.exec(given)?.[1];
  if (base64 === undefined) throw invalid('Content-Digest', 'must have a SHA-256 as sha-256=:<base64>:');
  return Buffer.from(base64, 'base64');
}

/**
 * The range of a Range header (RFC 9110, section 14); null: the whole, as where several are asked for. `unsatisfiable`: it begins behind
 * the end.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.replace(/\s/g, '') ?? '');
  if (!match) return null;
  const [, start = '', end = ''] = match;
  if (start === '' && end === '') return null;
  if (start === '')
    return Number(end) === 0 || size === 0 ? 'unsatisfiable' : { from: Math.max(0, size - Number(end)), before: size };
  const from = Number(start);
  if (end !== '' && Number(end) < from) return null;
  if (from >= size) return 'unsatisfiable';
  return { from, before: end === '' ? size : Math.min(size, Number(end) + 1) };
}
