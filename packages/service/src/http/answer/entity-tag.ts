import { hash } from 'node:crypto';

/** A strong entity tag of bytes, without its quotes. */
export const tagOf = (bytes: string | Uint8Array): string => hash('sha256', bytes, 'base64url').slice(0, 27);

/** True if an If-None-Match header has the tag, which is with its quotes, or `*`. */
export function isKnown(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false;
  return given.split(',').some((each) => {
    const tag = each.trim().replace(/^W\//, '');
    return tag === '*' || tag === etag;
  });
}
