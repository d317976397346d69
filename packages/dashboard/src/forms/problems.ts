import type { Endpoint } from '@agent-network/contracts/endpoint';
import { isApiError } from '@agent-network/sdk';
import { problemText } from './problem-text.ts';

/** Errors by path in the body: `limits.perCall`. The first one of each path. */
export type Problems = ReadonlyMap<string, string>;

const byPath = (problems: readonly { path: string; message: string }[]): Problems =>
  new Map(problems.toReversed().map(({ path, message }) => [path, message]));

/** Validates a body against a schema of the API. */
export function problemsOf(schema: NonNullable<Endpoint['body']>, body: unknown): Problems {
  const issues = schema.safeParse(body).error?.issues ?? [];
  return byPath(issues.map((issue) => ({ path: issue.path.map(String).join('.'), message: problemText(issue) })));
}

/** Errors that the node reported, if it answered with a validation error. */
export const problemsToldBy = (error: unknown): Problems =>
  byPath(isApiError(error, 'VALIDATION_ERROR') ? error.extra.details.fields : []);
