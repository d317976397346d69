import type { Endpoint, Parsed } from '@agent-network/contracts/endpoint';
import { AgentRef } from '@agent-network/contracts/scalars';
import { invalidFields, type Problem } from '../../lib/app-error.ts';
import { problemsOf, problemText } from '../../lib/json/problem-text.ts';
import { unknownFields } from './unknown-fields.ts';

interface Raw {
  readonly params: Record<string, string>;
  readonly query: Record<string, string[]>;
  readonly header: (name: string) => string | undefined;
  readonly body: unknown;
}

/** Validates all parts of a request against its row and returns them parsed. Throws VALIDATION_ERROR that names the problems. */
export function parseRequest(row: Endpoint, raw: Raw): Parsed<Endpoint> {
  const problems: Problem[] = [];
  const check = (schema: Endpoint['body'], value: unknown): unknown => {
    if (!schema) return undefined;
    const parsed = schema.safeParse(value, { error: problemText });
    if (parsed.success) return parsed.data;
    problems.push(...problemsOf(parsed.error, 'body'));
    return undefined;
  };
  const given: Record<string, string> = {};
  for (const name in row.headers?.shape) {
    const value = raw.header(name);
    if (value !== undefined) given[name] = value;
  }
  const parsed = {
    params: check(row.params, raw.params),
    query: check(row.query, singleValues(row, raw.query, problems)),
    headers: check(row.headers, given),
    body: row.bytes === 'sent' ? undefined : check(row.body, raw.body),
  };
  if (row.bytes !== 'sent') problems.push(...unknownProblems(row, raw.body));
  if (problems.length > 0) throw invalidFields(problems);
  return parsed as Parsed<Endpoint>;
}

/** The path parameter of a row that names an agent by id, slug or name; undefined: none. */
export const agentParamOf = ({ params }: Endpoint): string | undefined =>
  Object.entries(params?.shape ?? {}).find(([, schema]) => schema === AgentRef)?.[0];

/** A field that is silently dropped would mislead: `maxcost` is no cap. */
const unknownProblems = ({ body: schema }: Endpoint, body: unknown): Problem[] =>
  schema === undefined
    ? []
    : unknownFields(schema, body).map(({ path, nearest }) => ({
        path,
        message: `is not a field of this call${nearest === null ? '' : `: did you mean ${nearest}?`}`,
      }));

/**
 * Refuses unknown and repeated query parameters: a filter that is silently ignored would mislead. Where wallets pay, links add some of their
 * own (`utm_source`), which refuse no payment.
 */
function singleValues(row: Endpoint, query: Record<string, string[]>, problems: Problem[]): Record<string, string> {
  const known = row.query?.shape ?? {};
  const single: Record<string, string> = {};
  for (const [name, values] of Object.entries(query)) {
    if (!Object.hasOwn(known, name)) {
      if (row.keyless !== 'pays') problems.push({ path: name, message: 'is not a parameter of this call' });
    } else if (values.length !== 1) problems.push({ path: name, message: 'is given more than once' });
    else single[name] = values[0] as string;
  }
  return single;
}
