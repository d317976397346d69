import type { Endpoint } from '@agent-network/contracts/endpoint';
import { isApiError } from '@agent-network/sdk';
import { problemText } from './problem-text.ts';

/** What is wrong, by the path in the body: `limits.perCall`. Of several at one path the first. */
export type Problems = ReadonlyMap<string, string>;

const byPath = (problems: readonly { path: string; message: string }[]): Problems =>
  new Map(problems.toReversed().map(({ path, message }) => [path, message]));

/** What a schema of the API finds wrong with a body. */
export function problemsOf(schema: NonNullable<Endpoint['body']>, body: unknown): Problems {
  const issues = schema.safeParse(body).error?.issues ?? [];
  return byPath(issues.map((issue) => ({ path: issue.path.map(String).join('.'), message: problemText(issue) })));
}

/** What the node found wrong, when that is what it said. */
export const problemsToldBy = (error: unknown): Problems =>
  byPath(isApiError(error, 'VALIDATION_ERROR') ? error.extra.details.fields : []);
