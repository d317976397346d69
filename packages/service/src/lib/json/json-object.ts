import { parseJsonText } from './json-text.ts';

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
