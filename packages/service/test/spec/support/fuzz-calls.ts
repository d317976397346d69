import fc, { type Arbitrary } from 'fast-check';
import { mutated } from './mutate.ts';
import { arbitraryOf, type Pool } from './schema-arbitrary.ts';
import type { Resolve, Schema } from './schema-check.ts';

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { content: { 'application/json'?: { schema: Schema } } };
  readonly responses: Readonly<Record<string, { content: { 'application/json': { schema: Schema } } }>>;
}

/** The served document, as far as a fuzzer reads it. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface FuzzCall {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string | undefined;
}

/** Follows a reference into the document. */
export const resolverOf =
  (document: OpenApi) =>
  <T extends { readonly $ref?: string }>(node: T): T => {
    if (node.$ref === undefined) return node;
    const [, , kind = '', name = ''] = node.$ref.split('/');
    return document.components[kind]?.[name] as T;
  };

export interface Fuzzing {
  readonly resolve: Resolve;
  readonly pool: Pool;
  readonly keys: readonly (string | undefined)[];
  /** The key that most calls carry. */
  readonly usualKey: string;
}

const canBeHeader = (text: string) => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
const textOf = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
const queryOf = (pairs: Record<string, unknown>) =>
  Object.entries(pairs)
    .map(
      ([name, value]) =>
        `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(textOf(value).toWellFormed())}`,
    )
    .join('&');

/** Calls of an operation: half of them valid by its schemas, the others with something wrong. */
export function callsOf(method: string, path: string, operation: Operation, fuzzing: Fuzzing): Arbitrary<FuzzCall> {
  const parameters = operation.parameters.map((each) => fuzzing.resolve<Parameter>(each));
  const valuesIn = (place: Parameter['in']) => {
    const own = parameters.filter((each) => each.in === place);
    const model = Object.fromEntries(own.map((each) => [each.name, arbitraryOf(each.schema, fuzzing, each.name)]));
    const requiredKeys = own.filter(({ required }) => required).map(({ name }) => name);
    return fc.record(model, { requiredKeys, noNullPrototype: true }) as Arbitrary<Record<string, unknown>>;
  };
  const orWrong = (valid: Arbitrary<unknown>) => fc.oneof(valid, mutated(valid));
  const body = operation.requestBody?.content['application/json']?.schema;
  const json = body
    ? orWrong(arbitraryOf(body, fuzzing)).map((value) => JSON.stringify(value))
    : fc.constant(undefined);
  return fc
    .record({
      ids: valuesIn('path'),
      query: orWrong(valuesIn('query')),
      headers: fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, orWrong(valuesIn('header'))),
      key: fc.oneof({ weight: 6, arbitrary: fc.constant(fuzzing.usualKey) }, fc.constantFrom(...fuzzing.keys)),
      text: fc.oneof({ weight: 30, arbitrary: json }, body ? fc.string({ maxLength: 20 }) : json),
    })
    .map(({ ids, query, headers, key, text }) => ({
      method,
      path: `${fillIn(path, ids)}${isPairs(query) ? `?${queryOf(query)}` : ''}`,
      key,
      headers: headersOf(headers),
      text,
    }));
}

const isPairs = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

/** A segment of dots would name another path before it reaches the node. */
const fillIn = (path: string, ids: Record<string, unknown>) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(textOf(ids[name]).toWellFormed()).replace(/^\.+$/, 'dots'),
  );

const isText = (pair: [string, unknown]): pair is [string, string] =>
  typeof pair[1] === 'string' && canBeHeader(pair[1]);

const headersOf = (headers: unknown): Record<string, string> =>
  isPairs(headers)
    ? Object.fromEntries(
        Object.entries(headers)
          .filter(isText)
          .filter(([name]) => /^[\w-]+$/.test(name)),
      )
    : {};
