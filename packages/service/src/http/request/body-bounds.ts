import { AppError, invalid } from '../../lib/app-error.ts';
import { MAX_LEVELS } from '../../lib/json/json-limits.ts';

/** Bounds of the parts of a body that libraries walk through. Content of the caller is exempt, as only its reader parses it. */
export interface BodyBounds {
  /** Most values, and most characters of names and texts. */
  readonly maxValues: number;
  readonly maxChars: number;
  /** Places of the content. */
  readonly content: Trail;
}

/** Names that lead to content; `*` is any other name, and any index. */
export type Trail = 'content' | ReadonlyMap<string, Trail>;

/** A trail from paths such as `params.arguments`. */
export function trailOf(...paths: readonly string[]): Trail {
  const root = new Map<string, Trail>();
  for (const path of paths) {
    const names = path.split('.');
    let at = root;
    for (const name of names.slice(0, -1)) {
      const known = at.get(name);
      const next = known instanceof Map ? known : new Map<string, Trail>();
      at.set(name, next);
      at = next;
    }
    at.set(names.at(-1) ?? '', 'content');
  }
  return root;
}

/** Most values of the content: 1 MiB may have half a million. */
const MOST_OF_CONTENT = 250_000;
/** Most fields of one object: validating a free one takes some microseconds for each. */
const MOST_OF_OBJECT = 10_000;

/**
 * Refuses a body beyond its bounds, deep nesting, which would exhaust later code, and keys with a meaning in JavaScript. It reads no
 * further than the bounds allow.
 */
export function requireBounded(body: unknown, bounds: BodyBounds): void {
  const count = createCount(bounds);
  const walk = (value: unknown, trail: Trail | undefined, depth: number): void => {
    const isContent = trail === 'content';
    count.value(value, isContent);
    if (typeof value !== 'object' || value === null) return;
    if (depth > MAX_LEVELS.message) throw invalid('body', `is nested deeper than ${MAX_LEVELS.message} levels`);
    const below = (name: string) => (isContent ? trail : (trail?.get(name) ?? trail?.get('*')));
    if (Array.isArray(value)) {
      const item = below('*');
      for (const each of value) walk(each, item, depth + 1);
      return;
    }
    const names = Object.keys(value);
    count.names(names, isContent);
    for (const name of names) walk((value as Record<string, unknown>)[name], below(name), depth + 1);
  };
  walk(body, bounds.content, 1);
}

/** Counts values and characters; throws when there are too many. */
function createCount({ maxValues, maxChars }: BodyBounds) {
  let ofContent = 0;
  let values = 0;
  let chars = 0;
  const addChars = (text: string) => {
    chars += text.length;
    if (chars > maxChars) throw tooLarge(`${maxChars} characters that are not its content`);
  };
  return {
    value(value: unknown, isContent: boolean) {
      if (isContent) {
        ofContent += 1;
        if (ofContent > MOST_OF_CONTENT) throw tooLarge(`${MOST_OF_CONTENT} values`);
        return;
      }
      values += 1;
      if (values > maxValues) throw tooLarge(`${maxValues} values that are not its content`);
      if (typeof value === 'string') addChars(value);
    },
    names(names: readonly string[], isContent: boolean) {
      if (names.includes('__proto__')) throw invalid('body', 'holds a key named "__proto__"');
      if (names.length > MOST_OF_OBJECT) throw tooLarge(`${MOST_OF_OBJECT} fields in one object`);
      if (!isContent) for (const name of names) addChars(name);
    },
  };
}

const tooLarge = (most: string) => new AppError('PAYLOAD_TOO_LARGE', `The body has more than ${most}.`);
