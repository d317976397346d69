import type { z } from 'zod';
import type { Endpoint } from '../endpoint.ts';
import { commonErrors, takesIdempotencyKey } from '../endpoint.ts';
import { type ErrorCode, errorCatalogue } from '../errors.ts';
import { type JsonSchema, jsonSchema, type NamedSchemas, schemaOrRef } from './json-schema.ts';
import { admitsAgent, operationDescription } from './openapi-description.ts';
import { exampleOf } from './openapi-example.ts';
import { requestSamples } from './openapi-samples.ts';
import { endsForGood, eventStream } from './openapi-stream.ts';
import { answerFacts, toTruth } from './openapi-truth.ts';
import { costsAgentPrice, dynamicPrice } from './payment-info.ts';

export interface OperationContext {
  readonly named: NamedSchemas;
  /** Resolves a reference into the document. */
  readonly resolve: (ref: string) => JsonSchema;
  /** Lowest and highest price of an agent; null: unknown. */
  readonly prices: { readonly min: string; readonly max: string } | null;
}

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
      // The node takes a list as one value with commas; by default a client would name the parameter once for each item.
      ...(place === 'query' && content.type === 'array' ? { style: 'form', explode: false } : {}),
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
    ...(status === 402
      ? { 'PAYMENT-REQUIRED': header('PaymentRequired'), 'PAYMENT-RESPONSE': header('PaymentResponse') }
      : {}),
    ...(status === 429 ? { RateLimit: header('RateLimit'), 'RateLimit-Policy': header('RateLimitPolicy') } : {}),
    ...(status === 429 || status === 503 ? { 'Retry-After': header('RetryAfter') } : {}),
  };
}

function errorAnswers(row: Endpoint): Record<string, unknown> {
  const codes = [...new Set([...row.errors, ...commonErrors(row)])];
  const statuses = [...new Set(codes.map((code) => errorCatalogue[code].status))];
  return Object.fromEntries(
    statuses
      .sort((a, b) => a - b)
      .map((status) => {
        const group = codes.filter((code) => errorCatalogue[code].status === status);
        const refs = group.map((code) => ({ $ref: `#/components/schemas/${errorSchemaName(code)}` }));
        return [
          String(status),
          {
            description: group.map((code) => `\`${code}\`: ${errorCatalogue[code].when}`).join('\n\n'),
            headers: errorHeaders(row, status),
            content: { 'application/json': { schema: refs.length === 1 ? refs[0] : { anyOf: refs } } },
          },
        ];
      }),
  );
}

const cacheHeaders = { ETag: header('ETag'), 'Cache-Control': header('CacheControl'), Vary: header('Vary') };

function successHeaders(row: Endpoint): Record<string, unknown> {
  const paid = row.errors.includes('PAYMENT_REQUIRED');
  return {
    ...answerHeaders(row),
    ...(row.isPublic ? { ...cacheHeaders, 'Content-Encoding': header('ContentEncoding') } : {}),
    ...(takesIdempotencyKey(row) ? { 'Idempotency-Replayed': header('IdempotencyReplayed') } : {}),
    ...(row.fromRegistry ? { 'X-Registry-Position': header('RegistryPosition') } : {}),
    ...(paid ? { 'PAYMENT-RESPONSE': header('PaymentResponse'), 'X-PAYMENT-RESPONSE': header('PaymentResponse') } : {}),
  };
}

/** The example of an answer: its fields agree with each other, and with the call. */
function answerExample(name: string, made: unknown): unknown {
  const example = toTruth(made);
  const fact = answerFacts[name];
  return fact ? Object.assign({}, example, fact(made as Record<string, unknown>)) : example;
}

function successAnswer(name: string, row: Endpoint, { named, resolve }: OperationContext): Record<string, unknown> {
  const data = schemaOrRef(row.data, 'output', named);
  const schema = {
    type: 'object',
    properties: { status: { const: 'success' }, data },
    required: ['status', 'data'],
  };
  const json = { schema, example: { status: 'success', data: answerExample(name, exampleOf(data, resolve)) } };
  return {
    description: row.stream === 'always' ? 'A stream of events.' : 'Done.',
    headers: successHeaders(row),
    content: {
      ...(row.stream === 'always' ? {} : { 'application/json': json }),
      ...(row.stream ? { 'text/event-stream': eventStream(row, named, resolve) } : {}),
    },
  };
}

const nothingMore = (row: Endpoint) => ({
  204: {
    description: 'The request has ended, and the last event is the one that the client has: it need not come back.',
    headers: answerHeaders(row),
  },
});

const notModified = (row: Endpoint) => ({
  304: {
    description: 'The answer is the one that the client has, by the entity tag in `If-None-Match`.',
    headers: { ...answerHeaders(row), ...cacheHeaders },
  },
});

function requestBody(name: string, row: Endpoint, { named, resolve }: OperationContext): Record<string, unknown> {
  if (!row.body) return {};
  const schema = jsonSchema(row.body, 'input', named);
  return {
    requestBody: {
      required: !row.body.safeParse(undefined).success,
      content: { 'application/json': { schema, example: requestSamples[name] ?? exampleOf(schema, resolve) } },
    },
  };
}

function securityOf(row: Endpoint): Record<string, string[]>[] {
  const apiKey = { apiKey: row.scope ? [row.scope] : [] };
  if (row.sameOrigin) return [{}];
  // Programs that pay take any scheme for one that they need.
  if (row.keyless === 'pays') return [];
  if (row.auth === 'none') return [{}, apiKey];
  if (row.auth === 'agent') return [{ identityToken: [] }];
  const known = [apiKey, ...(admitsAgent(row) ? [{ identityToken: [] }] : []), { session: [] }];
  return row.keyless === 'reads' ? [...known, { resultToken: [] }, { signInWithX: [] }] : known;
}

/** One row of the endpoint table as an OpenAPI 3.1 operation. */
export function openApiOperation(name: string, row: Endpoint, context: OperationContext): Record<string, unknown> {
  const { named } = context;
  return {
    operationId: name,
    summary: row.summary,
    description: operationDescription(row),
    tags: [row.tag],
    security: securityOf(row),
    ...(costsAgentPrice(row) ? { 'x-payment-info': dynamicPrice(context.prices) } : {}),
    parameters: [
      ...parametersOf('path', row.params, named),
      ...parametersOf('query', row.query, named),
      ...parametersOf('header', row.headers, named),
      parameter('RequestId'),
      ...(takesIdempotencyKey(row) ? [parameter('IdempotencyKey')] : []),
      ...(row.isPublic ? [parameter('IfNoneMatch')] : []),
    ],
    ...requestBody(name, row, context),
    responses: {
      200: successAnswer(name, row, context),
      ...(endsForGood(row) ? nothingMore(row) : {}),
      ...(row.isPublic ? notModified(row) : {}),
      ...errorAnswers(row),
    },
  };
}
