import type { z } from 'zod';
import type { Problem } from '../app-error.ts';

type RawIssue = z.core.$ZodRawIssue;

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};
const kindOf = (name: string): string => kinds[name] ?? `of type ${name}`;

function givenKind(input: unknown): string {
  if (input === null) return 'null';
  return Array.isArray(input) ? 'a list' : kindOf(typeof input);
}

const counted: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item' };

function bound(words: string, limit: number | bigint, origin: string): string {
  const unit = counted[origin];
  return unit ? `must have ${words} ${limit} ${unit}${limit === 1 ? '' : 's'}` : `must be ${words} ${limit}`;
}

/** The problem of a field, as the end of a sentence that begins with its name. Undefined: the schema's own text says it. */
export function problemText(issue: RawIssue): string | undefined {
  const { input } = issue;
  switch (issue.code) {
    case 'invalid_type':
      return input === undefined
        ? `is required (${kindOf(issue.expected)})`
        : `must be ${kindOf(issue.expected)}${issue.expected === 'int' ? '' : ` (got ${givenKind(input)})`}`;
    case 'invalid_value': {
      const values = issue.values.map((value) => JSON.stringify(value)).join(' or ');
      return input === undefined ? `is required (${values})` : `must be ${values}`;
    }
    case 'too_big':
      return bound(issue.inclusive === false ? 'less than' : 'at most', issue.maximum, issue.origin);
    case 'too_small':
      return bound(issue.inclusive === false ? 'more than' : 'at least', issue.minimum, issue.origin);
    case 'invalid_format':
      return issue.format === 'regex' ? `must match ${issue.pattern}` : `must be a valid ${issue.format}`;
    case 'invalid_union':
      return input === undefined ? 'is required' : 'has none of the forms that it may have';
    default:
      return undefined;
  }
}

/** The problems of a value, by field; `whole` names the value itself. */
export const problemsOf = ({ issues }: z.ZodError, whole: string): Problem[] =>
  issues.map(({ path, message }) => ({ path: path.map(String).join('.') || whole, message }));
