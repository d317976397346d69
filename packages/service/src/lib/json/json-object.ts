/** The value of a JSON text of another program, with or without a byte order mark (RFC 8259, section 8.1). Throws as `JSON.parse` does. */
export const parseJsonText = (text: string): unknown => JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);

/** An object of another program's JSON. */
export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object that a JSON text is; undefined for any other text. */
export function parseObject(text: string): Json | undefined {
  try {
    const value = parseJsonText(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A string or number of another program's JSON as text, anything else as an empty one. `String` would call the `toString` that an object
 * brings along, which may be no function.
 */
export const scalarText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? `${value}` : '';

/** True for a name of another program that the database can keep, and a line of a log can show: without control characters and halves of others. */
export const isPlainName = (text: string): boolean => text.isWellFormed() && !/\p{Control}/u.test(text);
