import type { z } from 'zod';
import type { Endpoint } from './endpoint.ts';
import { commonErrors } from './endpoint.ts';
import { type ErrorCode, errorCatalogue } from './errors.ts';
import { type JsonSchema, jsonSchema, type NamedSchemas, schemaOrRef } from './json-schema.ts';

const header = (name: string) => ({ $ref: `#/components/headers/${name}` });
const parameter = (name: string) => ({ $ref: `#/components/parameters/${name}` });

/** `PAYMENT_REQUIRED` is described by the component `PaymentRequiredError`. */
export const errorSchemaName = (code: ErrorCode) =>
  `${code
    .toLowerCase()
    .replace(/(^|_)([a-z])/g, (_match, _gap, letter: string) => letter.toUpperCase())
    .replace(/Error$/, '')}Error`;

const canonicalHeader = (name: string) => name.replace(/(^|-)([a-z])/g, (match) => match.toUpperCase());

/** A query number is text to the server and a number to whoever reads the document: the parsed form says more. */
function parameterSchema(schema: z.ZodType, named: NamedSchemas): JsonSchema {
  const parsed = jsonSchema(schema, 'output', named);
  return parsed.type === undefined ? jsonSchema(schema, 'input', named) : parsed;
}

function parametersOf(place: 'path' | 'query' | 'header', schemas: z.ZodObject | undefined, named: NamedSchemas) {
  return Object.entries(schemas?.shape ?? {}).map(([name, schema]) => {
    const { description, ...content } = parameterSchema(schema as z.ZodType, named);
    return {
      name: place === 'header' ? canonicalHeader(name) : name,
      in: place,
      required: place === 'path' || !(schema as z.ZodType).safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: content,
    };
  });
}

function answerHeaders(row: Endpoint): Record<string, unknown> {
  return {
    'X-Request-Id': header('RequestId'),
    'X-RateLimit-Limit': header('RateLimitLimit'),
    'X-RateLimit-Remaining': header('RateLimitRemaining'),
    'X-RateLimit-Reset': header('RateLimitReset'),
    ...(row.limit === 'invocations' ? { 'X-RateLimit-Type': header('RateLimitType') } : {}),
  };
}

function errorHeaders(row: Endpoint, status: number): Record<string, unknown> {
  return {
    ...answerHeaders(row),
    ...(status === 402 ? { 'PAYMENT-REQUIRED': header('PaymentRequired') } : {}),
    ...(status === 429 || status === 503 ? { 'Retry-After': header('RetryAfter') } : {}),
  };
}

function errorAnswers(row: Endpoint): Record<string, unknown> {
  const codes = [...new Set([...row.errors, ...commonErrors(row)])];
  const byStatus = Map.groupBy(codes, (code) => errorCatalogue[code].status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, group]) => {
        const refs = group.map((code) => ({ $ref: `#/components/schemas/${errorSchemaName(code)}` }));
        return [
          String(status),
          {
            description: group.map((code) => `\`${code}\`: ${errorCatalogue[code].when}`).join('\n\n'),
            headers: errorHeaders(row, status),
            content: { 'application/json': { schema: refs.length === 1 ? refs[0] : { oneOf: refs } } },
          },
        ];
      }),
  );
}

function successAnswer(row: Endpoint, named: NamedSchemas): Record<string, unknown> {
  const paid = row.errors.includes('PAYMENT_REQUIRED');
  return {
    description: 'Done.',
    headers: {
      ...answerHeaders(row),
      ...(paid
        ? { 'PAYMENT-RESPONSE': header('PaymentResponse'), 'X-PAYMENT-RESPONSE': header('PaymentResponse') }
        : {}),
    },
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: { status: { const: 'success' }, data: schemaOrRef(row.data, 'output', named) },
          required: ['status', 'data'],
        },
      },
    },
  };
}

function securityOf(row: Endpoint): Record<string, string[]>[] {
  const apiKey = { apiKey: row.scope ? [row.scope] : [] };
  if (row.auth === 'none') return [{}, apiKey];
  return row.auth === 'agent' ? [{ identityToken: [] }] : [apiKey, { identityToken: [] }];
}

/** One row of the endpoint table as an OpenAPI 3.1 operation. */
export function openApiOperation(name: string, row: Endpoint, named: NamedSchemas): Record<string, unknown> {
  return {
    operationId: name,
    summary: row.summary,
    tags: [row.tag],
    security: securityOf(row),
    parameters: [
      ...parametersOf('path', row.params, named),
      ...parametersOf('query', row.query, named),
      ...parametersOf('header', row.headers, named),
      parameter('RequestId'),
      ...(row.method === 'POST' ? [parameter('IdempotencyKey')] : []),
    ],
    ...(row.body
      ? {
          requestBody: {
            required: !row.body.safeParse(undefined).success,
            content: { 'application/json': { schema: jsonSchema(row.body, 'input', named) } },
          },
        }
      : {}),
    responses: { 200: successAnswer(row, named), ...errorAnswers(row) },
  };
}
