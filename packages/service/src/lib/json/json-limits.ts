/**
 * Maximum nesting of lists and objects in JSON. Each limit is more than legitimate JSON has, and less than the depth that breaks its
 * readers: much deeper JSON can be parsed, but neither serialized nor stored.
 */
export const MAX_LEVELS = {
  /** A file that another node publishes. */
  file: 20,
  /** A message that is validated or repeated to others. */
  message: 32,
  /** A schema of someone else's tool. */
  schema: 64,
  /** A list of schemas, of which each has a limit of its own. */
  schemas: 100,
  /** A result or an event: enough for a syntax tree. */
  result: 128,
} as const;

/** Maximum names, lists and objects of a body: parsing them blocks the event loop for up to a tenth of a second. */
export const MAX_NODES = 100_000;

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** True if lists and objects are nested more than `levels` deep. Walks level by level, so no depth can exhaust the stack. */
export function isDeeperThan(root: unknown, levels: number): boolean {
  let level = [root].filter(isContainer);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((value) => Object.values(value).filter(isContainer));
  }
  return false;
}

/** True if a value of JSON holds a number that was too large for a double: as JSON again it would be null. */
export function holdsInfinity(root: unknown): boolean {
  const rest = [root];
  while (rest.length > 0) {
    const value = rest.pop();
    if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return true;
    if (isContainer(value)) for (const child of Object.values(value)) rest.push(child);
  }
  return false;
}

/** The length of a value's JSON as text without escapes, counted up to `most`, so that larger values cost no more to count. */
export function jsonSizeUpTo(most: number, root: unknown): number {
  const left = [root];
  let size = 0;
  while (left.length > 0 && size < most) {
    const value = left.pop();
    if (typeof value === 'string') size += value.length + 2;
    else if (!isContainer(value)) size += 5;
    else if (Array.isArray(value)) {
      size += value.length + 2;
      for (const each of value) left.push(each);
    } else
      for (const [key, each] of Object.entries(value)) {
        size += key.length + 4;
        left.push(each);
      }
  }
  return Math.min(size, most);
}

const [QUOTE, BACKSLASH, COLON, BRACKET, BRACE] = [...'"\\:[{'].map((character) => character.charCodeAt(0));

/**
 * Names, lists and objects of a JSON text, counted without parsing it: the parser takes some microseconds for each. For invalid JSON the
 * number means nothing, and its parser stops early.
 */
export function countJsonNodes(bytes: Uint8Array): number {
  let nodes = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText && byte === BACKSLASH) at += 1;
    else if (!isText && (byte === COLON || byte === BRACKET || byte === BRACE)) nodes += 1;
  }
  return nodes;
}
