const MAX_DEPTH = 8;
const HIDDEN = '[redacted]';

/** Field and header names that are redacted in logs, in any spelling: `api_key`, `x-api-key`, `apiKey`. */
const SECRET_NAME =
  /(authorization|cookies?|api-?key|signatures?|private-?key|secret|secret-?key|passw(or)?d|mnemonic|(identity|access|bearer|refresh|session|csrf|result|answer)-?token)$|^(x?-?payment|sign-in-with-x)$/;

/** Log fields in which 32 bytes are public hashes that operators look up on the chain. In any other field they may be a key. */
const PUBLIC_HASH = 'hash|hashes|txHash|transactionHash|transaction|blockHash|nonce|digest';

/** Names that always have a secret after `=` or `:`. */
const SECRET_PARAMETER =
  '(?:[\\w-]*(?:api[-_]?key|access[-_]?key|secret|passw(?:or)?d|passwd|pwd|token|signature|credentials?|jwt)|d?key|auth|sig|code)';

const SECRET_TEXT: [RegExp, string | ((match: string) => string)][] = [
  // A password may contain an unescaped "/" or "@": match up to the last "@" of the word.
  [/\b(postgres(?:ql)?:\/\/)[^\s"]*@/gi, `$1${HIDDEN}@`],
  [/:\/\/[^\s/"]+@/g, `://${HIDDEN}@`],
  [new RegExp(`([?&]${SECRET_PARAMETER}=)[^&\\s"\\\\]+`, 'gi'), `$1${HIDDEN}`],
  [/(\b\w*(?:password|passwd|api_?key|secret)=)[^&\s"\\;]+/gi, `$1${HIDDEN}`],
  [/\b(?!file:|node:)[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'<>\\)]+/gi, redactUrl],
  [/(\bank_(?:live|test)_(?:[0-9A-Za-z]{12}_)?)[\w-]+/g, `$1${HIDDEN}`],
  [/(\ban[ra]_)[\w-]+/g, `$1${HIDDEN}`],
  [/(\bwhsec_)[\w+/=-]+/g, `$1${HIDDEN}`],
  [/(\bses_[0-9a-z]{26}\.)[\w-]+/g, `$1${HIDDEN}`],
  [/(\b(?:bearer|basic)\s+)[^\s"\\]+/gi, `$1${HIDDEN}`],
  [/(\b(?:set-)?cookie:\s*)[^"\\\r\n]+/gi, `$1${HIDDEN}`],
  // Base64 JSON, as in tokens and payment headers.
  [/\beyJ[\w+/=-]{16,}(?:\.[\w-]+)*/g, HIDDEN],
  [new RegExp(`(?<!"(?:${PUBLIC_HASH})":(?:"|\\["(?:0x[0-9a-fA-F]{64}",")*))0x[0-9a-fA-F]{64,}`, 'g'), HIDDEN],
  [/(?<![0-9A-Za-z])(?=[0-9]*[a-fA-F])[0-9a-fA-F]{64,}/g, HIDDEN],
];

/** Redacts long segments that are no words in the path or query of a URL: providers put their keys there. Our ids and addresses stay. */
function redactUrl(url: string): string {
  const [, authority = '', rest = ''] = /^([a-z0-9+.-]+:\/\/[^/?#]*)(.*)$/is.exec(url) ?? [];
  return authority + rest.replace(/[\w-]{16,}/g, (part) => (isPublicPart(part) ? part : HIDDEN));
}

const isPublicPart = (part: string): boolean =>
  /^([a-z]{3}_[0-9a-z]{26}|0x[0-9a-fA-F]{40}|[a-z]{1,15}([-_][a-z]{1,15})*)$/.test(part);

/** Redacts credentials anywhere in a text. Safe on a line of JSON; keeps hashes under the names of fields that hold them. */
export function redactText(text: string): string {
  let redacted = text;
  for (const [pattern, replacement] of SECRET_TEXT) redacted = redacted.replace(pattern, replacement as string);
  return redacted;
}

/**
 * Returns a copy fit for a log: values under secret names are redacted at every depth, errors become plain objects with their chain of
 * causes, bigints strings, and bytes their length.
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
