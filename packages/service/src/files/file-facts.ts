export const UNKNOWN_TYPE = 'application/octet-stream';
const MAX_TYPE = 127;

/** A media type without parameters; that of unknown bytes where there is none. null: it is none. */
export function readMediaType(header: string | undefined): string | null {
  const type = header?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === '') return UNKNOWN_TYPE;
  return type.length <= MAX_TYPE && /^[a-z0-9][\w!#$&^.+-]*\/[a-z0-9][\w!#$&^.+-]*$/.test(type) ? type : null;
}

const MAX_NAME = 255;

/** The file name in a Content-Disposition (RFC 6266), without folders and without what no name should have; null: none. */
export function nameOf(header: string | undefined): string | null {
  if (header === undefined) return null;
  const extended = /;\s*filename\*\s*=\s*UTF-8'[\w-]*'([^;\s]+)/i.exec(header)?.[1];
  const quoted = /;\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(header)?.[1]?.replace(/\\(.)/g, '$1');
  const bare = /;\s*filename\s*=\s*([^\s;"]+)/i.exec(header)?.[1];
  return safeName(decoded(extended) ?? quoted ?? bare ?? '');
}

/** null: nothing is left of it. */
export function safeName(text: string): string | null {
  const last = text.split(/[\\/]/).at(-1) ?? '';
  const clean = last
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, '')
    .trim();
  return /^\.*$/.test(clean) ? null : clean.slice(0, MAX_NAME).toWellFormed();
}

function decoded(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
