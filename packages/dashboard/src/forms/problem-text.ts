import type { Endpoint } from '@agent-network/contracts/endpoint';

type Parsed = ReturnType<NonNullable<Endpoint['body']>['safeParse']>;
type Issue = NonNullable<Parsed['error']>['issues'][number];

/** Error text of a value, for the user: the schema's own message, or ours where it has only a parser's. */
export function problemText(issue: Issue): string {
  if (issue.code === 'too_small' && issue.minimum === 1 && issue.origin === 'string') return 'is required';
  if (issue.code === 'too_small' && issue.origin === 'array') return `needs at least ${issue.minimum}`;
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}`;
  if (issue.code === 'too_big' && issue.origin === 'string') return `must be at most ${issue.maximum} characters`;
  if (issue.code === 'too_big' && issue.origin === 'array') return `can have at most ${issue.maximum}`;
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`;
  if (issue.code === 'invalid_type') return issue.expected === 'string' ? 'is required' : `must be a ${issue.expected}`;
  // The name of an entry of a record is wrong.
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  return issue.message;
}
