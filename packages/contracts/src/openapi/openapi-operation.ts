import type { z } from 'zod';
import { agentScopes, nodeScopes } from '../access/scopes.ts';
import { commonErrors, type Endpoint, takesIdempotencyKey } from '../endpoint.ts';
import { type ErrorCode, errorCatalogue } from '../errors.ts';
import { streamEventCatalogue } from '../invocations/stream-events.ts';
import { liveEvents } from '../webhooks.ts';
import { type JsonSchema, jsonSchema, type NamedSchemas, schemaOrRef } from './json-schema.ts';
import { exampleOf } from './openapi-example.ts';
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

/** Schema of a parameter, in its parsed form: a number in the query is text on the wire, but readers of the document want the number. */
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
  if (row.bytes === 'answered') return contentAnswer(row, 'The content.');
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

const anyBytes = { '*/*': { schema: {} } };

const contentAnswer = (row: Endpoint, description: string): Record<string, unknown> => ({
  description,
  headers: { ...answerHeaders(row), ETag: header('ETag'), 'Cache-Control': header('CacheControl') },
  content: anyBytes,
});

/** Further answers of a call for the content of a file. */
const ofContent = (row: Endpoint) => ({
  206: contentAnswer(row, 'The range of the content.'),
  304: {
    description: 'The content is the one that the client has, by the entity tag in `If-None-Match`.',
    headers: { ...answerHeaders(row), ETag: header('ETag') },
  },
  416: { description: 'The content ends before the range.', headers: answerHeaders(row) },
});

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
  if (row.bytes === 'sent') return { requestBody: { required: true, content: anyBytes } };
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
  if (row.keyless === 'answers') return [...known, { answerToken: [] }];
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
      ...(row.creates ? { 201: successAnswer(name, row, context) } : {}),
      ...(row.bytes === 'answered' ? ofContent(row) : {}),
      ...(endsForGood(row) ? nothingMore(row) : {}),
      ...(row.isPublic ? notModified(row) : {}),
      ...errorAnswers(row),
    },
  };
}

type Catalogue = [type: string, { readonly when: string; readonly data: Parameters<typeof jsonSchema>[0] }][];

const facts: Readonly<Record<string, object>> = {
  'invocation.created': { status: 'pending' },
  'invocation.status': { status: 'processing' },
};

const shownTypes = ['invocation.created', 'invocation.status', 'invocation.chunk', 'invocation.completed'];

/** The events of an account never end. */
const isLive = ({ path }: Pick<Endpoint, 'path'>): boolean => path === '/events';

/** True for a stream that ends for good: a reader that has its last event gets 204. */
const endsForGood = (row: Pick<Endpoint, 'path' | 'stream'>): boolean => row.stream === 'always' && !isLive(row);

/** A stream as OpenAPI 3.1 can say it: text, with its events in words, an example, and their schemas under `x-events`. */
function eventStream(
  row: Pick<Endpoint, 'path'>,
  named: NamedSchemas,
  resolve: (ref: string) => JsonSchema,
): Record<string, unknown> {
  const isOfAccount = isLive(row);
  const catalogue: Catalogue = Object.entries(isOfAccount ? liveEvents : streamEventCatalogue);
  const example = catalogue
    .filter(([type]) => isOfAccount || shownTypes.includes(type))
    .map(([type, { data }], index) => {
      const value = exampleOf(schemaOrRef(data, 'output', named), resolve) as object;
      const shown = toTruth({ ...value, ...(isOfAccount ? {} : facts[type]) });
      return `id: ${index + 1}\nevent: ${type}\ndata: ${JSON.stringify(shown)}\n\n`;
    });
  const list = catalogue.map(([type, { when }]) => `- \`${type}\`: ${when}`).join('\n');
  return {
    schema: {
      type: 'string',
      description:
        `Server-sent events: \`id\` ${isOfAccount ? 'grows' : 'counts 1, 2, 3 …'}, \`event\` is one of these types, \`data\` is one line of JSON. A comment every ` +
        `15 s keeps the connection alive.\n\n${list}`,
    },
    example: example.join(''),
    'x-events': Object.fromEntries(
      catalogue.map(([type, { when, data }]) => [
        type,
        { description: when, data: schemaOrRef(data, 'output', named) },
      ]),
    ),
  };
}

/** Bodies as a person would write them: for calls that take much more than is sent in one go. */
const requestSamples: Readonly<Record<string, unknown>> = {
  searchAgents: {
    query: {
      capabilities: { any: ['summarise', 'translate'] },
      rates: { perRequest: { max: '0.10' } },
      reputation: { min: 500 },
      online: true,
    },
    sort: [{ field: 'reputation', order: 'desc' }],
    limit: 10,
  },
  matchAgents: { task: 'Summarise this text', maxPrice: '0.10', limit: 3 },
  invokeAuto: {
    task: 'Summarise this text',
    input: { text: 'Honey bees tell each other where food is by dancing.', sentences: 1 },
    maxCost: '0.10',
  },
  updateAgent: { rates: { perRequest: '0.04' } },
  updateIdentityMetadata: { website: 'https://agent.example', avatar: null },
  invokeAgent: {
    task: 'Summarise this text',
    input: { text: 'Honey bees tell each other where food is by dancing.', sentences: 1 },
    maxCost: '0.10',
    priority: 'normal',
    metadata: { source: 'newsroom' },
  },
  answerInput: { inputId: 'inp_01k9xq3v7m2n8p4r6t0w5y1zab', action: 'accept', input: { day: 'Monday' } },
  createApiKey: { name: 'newsroom server', scopes: ['invoke', 'payments:read'] },
  createWebhook: {
    url: 'https://you.example/hooks',
    description: 'Results for the newsroom',
    eventTypes: ['invocation.completed', 'invocation.failed'],
  },
  updateWebhook: { status: 'enabled' },
  depositToTreasury: { amount: '10.00' },
  requestWithdrawal: { amount: '5.00' },
  withdraw: { amount: '5.00' },
};

/** True for a call that an agent can make with its identityToken. */
const admitsAgent = ({ auth, scope, accountOnly }: Endpoint): boolean =>
  auth === 'agent' || (auth === 'key' && !accountOnly && (scope === undefined || agentScopes.includes(scope)));

function whoMayCall(row: Endpoint): string {
  if (row.sameOrigin) return "Only from the node's own pages: refused without the node's `Origin`.";
  if (row.keyless === 'pays')
    return 'Needs no key: the account is that of the paying wallet; a free call needs no wallet either. With a key the call is made as with `POST /invoke/{agentId}`.';
  if (row.auth === 'none') return 'Needs no key.';
  if (row.auth === 'agent') return 'Only for the agent itself: send its identityToken instead of an API key.';
  const key = row.scope ? `an API key with the scope \`${row.scope}\`` : 'an API key';
  return admitsAgent(row)
    ? `Needs ${key}, ${sessionFor(row)}, or an agent's identityToken.`
    : `Needs ${key}, or ${sessionFor(row)}.`;
}

function sessionFor({ scope, sessionProof }: Endpoint): string {
  if (sessionProof) return "a session with a signature of the account's wallet (`proof`)";
  return isNodeScope(scope) ? "a session of the operator's account" : 'a session';
}

const isNodeScope = (scope: Endpoint['scope']): boolean => nodeScopes.some((each) => each === scope);

/** Description of a call beyond its summary: authentication, rate limit, and form of the answer. */
function operationDescription(row: Endpoint): string {
  return [
    whoMayCall(row),
    row.limit === 'invocations'
      ? 'Counts against the request limit and the invocation limit.'
      : 'Counts against the request limit.',
    ...(row.errors.includes('PAYMENT_REQUIRED')
      ? [
          'Without a payment the answer is 402 with terms, in the body and in `PAYMENT-REQUIRED`. Repeat the identical call with ' +
            'the signed payment in `PAYMENT-SIGNATURE` (x402 v2) or `X-PAYMENT` (v1).',
        ]
      : []),
    ...(row.stream === 'always'
      ? ['Answers with server-sent events; a lost stream is resumed with `Last-Event-ID`.']
      : []),
    ...(row.stream === 'on_request'
      ? [
          `With \`Accept: text/event-stream\`${row.body ? ' and `"stream": true`' : ''} the answer is a stream of server-sent events.`,
        ]
      : []),
  ].join(' ');
}
