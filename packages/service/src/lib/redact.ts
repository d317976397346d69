const MAX_DEPTH = 8;
const HIDDEN = '[redacted]';

/** Field and header names whose values never reach a log, in any spelling: `api_key`, `x-api-key`, `apiKey`. */
const SECRET_NAME =
  /(authorization|cookies?|api-?key|signatures?|private-?key|secret|secret-?key|passw(or)?d|mnemonic|(identity|access|bearer|refresh|session|csrf)-?token)$|^x?-?payment$/;

const SECRET_TEXT: [RegExp, string][] = [
  [/:\/\/[^\s/"]+@/g, `://${HIDDEN}@`],
  [/([?&](?:api[-_]?key|key|token|access_token|secret|password|signature)=)[^&\s"\\]+/gi, `$1${HIDDEN}`],
  [/(\bpassword=)[^&\s"\\;]+/gi, `$1${HIDDEN}`],
  [/(\/v[123]\/)[\w-]{20,}/g, `$1${HIDDEN}`],
  [/(\bses_[0-9a-z]{26}\.)\w{43}/g, `$1${HIDDEN}`],
  [/(\bbearer\s+)[^\s"\\]+/gi, `$1${HIDDEN}`],
];

/** Hides credentials inside a text: user info and keys in URLs, connection strings, bearer tokens. Safe on a line of JSON. */
export function redactText(text: string): string {
  let redacted = text;
  for (const [pattern, replacement] of SECRET_TEXT) redacted = redacted.replace(pattern, replacement);
  return redacted;
}

/**
 * A copy fit for a log: values under secret names are hidden at every depth, errors become plain objects with their chain of
 * causes, bigints become strings, bytes become their length.
 */
export function redactValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[too deep]';
  if (value instanceof Error) return redactError(value, depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
  if (hasToJson(value)) return redactValue(value.toJSON(), depth + 1);
  return redactFields(value instanceof Map ? Object.fromEntries(value) : value, depth);
}

function redactFields(fields: object, depth: number): Record<string, unknown> {
  const redacted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    redacted[name] = isSecretName(name) && value != null ? HIDDEN : redactValue(value, depth + 1);
  }
  return redacted;
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const redacted: Record<string, unknown> = { ...redactFields(error, depth), type: name, message, stack };
  if (cause !== undefined) redacted.cause = redactValue(cause, depth + 1);
  if (error instanceof AggregateError) redacted.errors = redactValue(error.errors, depth + 1);
  return redacted;
}

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replaceAll('_', '-').toLowerCase());
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}
