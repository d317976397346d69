import { FILE_KEYWORD, fileRuleText } from './file-rule.ts';
import type { Fault } from './schema-rules.ts';

/** An error as the library reports it. */
export interface RawError {
  readonly keyword: string;
  readonly absoluteKeywordLocation: string;
  readonly instanceLocation: string;
}

const MAX_FAULTS = 20;
const MAX_SHOWN = 120;

const namesOf = (pointer: string): string[] =>
  decodeURIComponent(pointer.slice(pointer.indexOf('#') + 1))
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));

const at = (root: unknown, names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined,
    root,
  );

/** The errors in words. `schema`: null when its values are not worth telling. */
export function explain(errors: readonly RawError[], schema: object | null, value: unknown): Fault[] {
  const choices = errors
    .filter(({ keyword }) => /\/(anyOf|oneOf)$/.test(keyword))
    .map(({ absoluteKeywordLocation }) => `${absoluteKeywordLocation}/`);
  // The faults of each alternative are left out: the choice itself is not met.
  const outer = errors.filter(
    ({ absoluteKeywordLocation: place }) => !choices.some((choice) => place.startsWith(choice)),
  );
  const faults: Fault[] = [];
  const seen = new Set<string>();
  for (const error of outer.length > 0 ? outer : errors) {
    for (const fault of toFaults(error, schema, value)) {
      const key = JSON.stringify(fault);
      if (seen.has(key)) continue;
      seen.add(key);
      faults.push(fault);
      if (faults.length === MAX_FAULTS) return faults;
    }
  }
  return faults;
}

function toFaults(error: RawError, schema: object | null, value: unknown): Fault[] {
  const place = namesOf(error.instanceLocation);
  const keywordPlace = namesOf(error.absoluteKeywordLocation);
  if (error.keyword.endsWith('/evaluation/validate')) return [{ at: place, message: 'is not allowed' }];
  const keyword = error.keyword.slice(error.keyword.lastIndexOf('/') + 1);
  const demanded = schema === null ? undefined : at(schema, keywordPlace);
  if (keyword === 'required' && Array.isArray(demanded)) {
    const given = at(value, place);
    const missing = demanded.filter((name) => !Object.hasOwn(Object(given), String(name)));
    return missing.map((name) => ({ at: [...place, String(name)], message: 'is required' }));
  }
  return [{ at: place, message: messageOf(keyword, demanded) }];
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? '';
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
};

const phrases: Readonly<Record<string, string>> = {
  const: 'must be',
  enum: 'must be one of',
  exclusiveMaximum: 'must be below',
  exclusiveMinimum: 'must be above',
  maximum: 'must be at most',
  maxItems: 'must have at most this number of items:',
  maxLength: 'must have at most this number of characters:',
  maxProperties: 'must have at most this number of fields:',
  minimum: 'must be at least',
  minItems: 'must have at least this number of items:',
  minLength: 'must have at least this number of characters:',
  minProperties: 'must have at least this number of fields:',
  multipleOf: 'must be a multiple of',
  pattern: 'must match the pattern',
};

function messageOf(keyword: string, demanded: unknown): string {
  if (keyword === 'type' && demanded !== undefined) return `must be of type ${[demanded].flat().join(' or ')}`;
  if (keyword === `unknown#${FILE_KEYWORD}` && demanded !== undefined) return fileRuleText(demanded);
  if (keyword === 'anyOf') return 'fits none of the alternatives';
  if (keyword === 'oneOf') return 'must fit exactly one of the alternatives';
  if (keyword === 'uniqueItems') return 'must not have equal items';
  const phrase = phrases[keyword];
  return phrase === undefined || demanded === undefined ? `breaks the rule ${keyword}` : `${phrase} ${shown(demanded)}`;
}
