/** Fields of a result that hold its text, in order of preference. */
const textFields = ['text', 'content', 'output', 'answer', 'message'] as const;

/** The text that a result names: a string itself, or the first string among its usual fields; null when it names none. */
export function namedText(result: unknown): string | null {
  if (typeof result === 'string') return result;
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return null;
  const fields = result as Readonly<Record<string, unknown>>;
  for (const name of textFields) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof value === 'string') return value;
  }
  return null;
}

/** A result as text for clients that take nothing else: the text that it names, else its JSON in one line. */
export const textOf = (result: unknown): string => namedText(result) ?? JSON.stringify(result ?? null);
