import { hash } from 'node:crypto';

/** A strong entity tag of bytes, without its quotes. */
export const tagOf = (bytes: string | Uint8Array): string => hash('sha256', bytes, 'base64url').slice(0, 27);

const opaque = (tag: string) => tag.trim().replace(/^W\//, '');

/** True if an If-None-Match header has the tag, which is with its quotes, or `*`. The comparison is weak. */
export function isKnown(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false;
  return given.split(',').some((each) => {
    const tag = opaque(each);
    return tag === '*' || tag === opaque(etag);
  });
}
