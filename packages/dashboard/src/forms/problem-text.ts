import type { z } from 'zod';

/** What is wrong with a value, for who typed it: the schema's own words, or ours where it has only those of a parser. */
export function problemText(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_small' && issue.minimum === 1 && issue.origin === 'string') return 'is missing';
  if (issue.code === 'too_small' && issue.origin === 'array') return `takes at least ${issue.minimum}`;
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}`;
  if (issue.code === 'too_big' && issue.origin === 'string') return `takes at most ${issue.maximum} characters`;
  if (issue.code === 'too_big' && issue.origin === 'array') return `takes at most ${issue.maximum}`;
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`;
  if (issue.code === 'invalid_type') return issue.expected === 'string' ? 'is missing' : `must be a ${issue.expected}`;
  return issue.message;
}
