import type { Endpoint } from '@agent-network/contracts/endpoint';
import { isApiError } from '@agent-network/sdk';

type Parsed = ReturnType<NonNullable<Endpoint['body']>['safeParse']>;
type Issue = NonNullable<Parsed['error']>['issues'][number];

/** Error text of a value, for the user: the schema's own message, or the dashboard's where there is only a parser's. */
export function problemText(issue: Issue): string {
  if (issue.code === 'too_small' && issue.minimum === 1 && issue.origin === 'string') return 'is required';
  if (issue.code === 'too_small' && issue.origin === 'array') return `must have at least ${issue.minimum}`;
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}`;
  if (issue.code === 'too_big' && issue.origin === 'string') return `must be at most ${issue.maximum} characters`;
  if (issue.code === 'too_big' && issue.origin === 'array') return `must have at most ${issue.maximum}`;
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`;
  if (issue.code === 'invalid_type') return issue.expected === 'string' ? 'is required' : `must be a ${issue.expected}`;
  // The name of an entry of a record is wrong.
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  return issue.message;
}

/** Errors by path in the body: `limits.perCall`. The first one of each path. */
export type Problems = ReadonlyMap<string, string>;

const byPath = (problems: readonly { path: string; message: string }[]): Problems =>
  new Map(problems.toReversed().map(({ path, message }) => [path, message]));

const valueAt = (body: unknown, path: Issue['path']): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], body);

/** Validates a body against a schema of the API. */
export function problemsOf(schema: NonNullable<Endpoint['body']>, body: unknown): Problems {
  const issues = schema.safeParse(body).error?.issues ?? [];
  return byPath(
    issues.map((issue) => ({
      path: issue.path.map(String).join('.'),
      message: valueAt(body, issue.path) === '' ? 'is required' : problemText(issue),
    })),
  );
}

/** Errors that the node reported, if it answered with a validation error. */
export const problemsToldBy = (error: unknown): Problems =>
  byPath(isApiError(error, 'VALIDATION_ERROR') ? error.extra.details.fields : []);
