import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { problemText } from './problem-text.ts';

const schema = z.object({
  text: z.string().min(2).max(5).optional(),
  count: z.int().min(1).max(100).optional(),
  list: z.array(z.string()).min(1).optional(),
  mode: z.enum(['x402', 'treasury']).optional(),
  hash: z.string().regex(/^0x$/).optional(),
  at: z.iso.datetime().optional(),
  own: z.string('must be an http(s) URL').optional(),
  either: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]).optional(),
});
const required = z.object({ task: z.string(), mode: z.literal('on'), rates: z.object({}), caps: z.array(z.string()) });

const problemsOf = (of: z.ZodType, value: unknown) =>
  of.safeParse(value, { error: problemText }).error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);

describe('the problem of a field', () => {
  it.each([
    [{ text: 5 }, 'text must be a string (got a number)'],
    [{ text: null }, 'text must be a string (got null)'],
    [{ count: ['a'] }, 'count must be a number (got a list)'],
    [{ text: 'a' }, 'text must have at least 2 characters'],
    [{ text: 'abcdef' }, 'text must have at most 5 characters'],
    [{ count: 500 }, 'count must be at most 100'],
    [{ count: 0 }, 'count must be at least 1'],
    [{ count: 'x' }, 'count must be a number (got a string)'],
    [{ count: 1.5 }, 'count must be a whole number'],
    [{ list: [] }, 'list must have at least 1 item'],
    [{ mode: 'gold' }, 'mode must be "x402" or "treasury"'],
    [{ hash: '1' }, 'hash must match /^0x$/'],
    [{ at: '1' }, 'at must be a valid datetime'],
    [{ own: 5 }, 'own must be an http(s) URL'],
    [{ either: {} }, 'either has none of the forms that it may have'],
  ])('of %j is said in words', (value, said) => expect(problemsOf(schema, value)).toEqual([said]));

  it('a missing field is said to be missing, with what to send', () => {
    expect(problemsOf(required, {})).toEqual([
      'task is required (a string)',
      'mode is required ("on")',
      'rates is required (an object)',
      'caps is required (a list)',
    ]);
    expect(problemsOf(required, undefined)).toEqual([' is required (an object)']);
  });
});
