import type { z } from 'zod';
import { defaultScopes, type Scope } from '../access/scopes.ts';
import { SESSION_COOKIE } from '../access/sessions.ts';
import { AgentDetail, AgentListItem } from '../agents/agents.ts';
import { Chosen, MatchParts } from '../agents/match-score.ts';
import { errorHelp } from '../error-remedies.ts';
import { type ErrorCode, errorCatalogue, errorEnvelope, PaymentTerms } from '../errors.ts';
import { AgentToAgentResult, InvocationCreated, RequestRecord } from '../invocations/invocations.ts';
import { InputRequest } from '../invocations/turns.ts';
import { PaymentRequiredV1 } from '../payments/x402.ts';
import { type JsonSchema, jsonSchema } from './json-schema.ts';
import { exampleOf } from './openapi-example.ts';
import { errorSchemaName } from './openapi-operation.ts';

const answerObjects = {
  AgentListItem,
  AgentDetail,
  RequestRecord,
  InvocationCreated,
  AgentToAgentResult,
  PaymentTerms,
  MatchParts,
  Chosen,
  InputRequest,
};

/** Answer objects that the document defines once and refers to. */
export const namedSchemas = new Map<z.core.$ZodType, string>(
  Object.entries(answerObjects).map(([name, schema]) => [schema, name]),
);

/** A 402 carries these for x402 v1 clients; v2 clients read the PAYMENT-REQUIRED header. */
const v1Fields = PaymentRequiredV1.partial().shape;

const shortfall = { details: { required: '0.05', available: '0.01' } };
const extraShown: Partial<Record<ErrorCode, object>> = {
  VALIDATION_ERROR: { details: { fields: [{ path: 'maxCost', message: 'must be a decimal USDC amount' }] } },
  // Only a repetition is refused with a reason.
  CONFLICT: {},
  INSUFFICIENT_FUNDS: shortfall,
  INSUFFICIENT_BALANCE: shortfall,
  NO_AGENT_FITS: { details: { considered: 12, cheapest: '0.15' } },
  RATE_LIMITED: { details: { limit: 100, type: 'api', retryAfterS: 900 } },
};

/** Example of an error answer. v1 fields are left out, as they repeat the terms for old clients. */
function errorExample(code: ErrorCode, schema: JsonSchema, resolve: (ref: string) => JsonSchema): unknown {
  const { status, error } = exampleOf(schema, resolve) as { status: unknown; error: Record<string, unknown> };
  const requestId = 'req_01k9xq3v7m2n8p4r6t0w5y1zab';
  const { code: _code, message: _message, requestId: _requestId, ...all } = error;
  const extra = extraShown[code] ?? (code === 'PAYMENT_REQUIRED' ? { payment: all.payment } : all);
  const help = errorHelp[code] ? { help: errorHelp[code] } : {};
  return { status, error: { code, message: errorCatalogue[code].when, requestId, ...extra, ...help } };
}

function errorSchemas(resolve: (ref: string) => JsonSchema): Record<string, JsonSchema> {
  return Object.fromEntries(
    (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
      const envelope = code === 'PAYMENT_REQUIRED' ? errorEnvelope(code).extend(v1Fields) : errorEnvelope(code);
      const schema = jsonSchema(envelope, 'output', namedSchemas);
      return [errorSchemaName(code), { ...schema, examples: [errorExample(code, schema, resolve)] }];
    }),
  );
}

const text = { type: 'string' };
const wholeNumber = { type: 'integer', minimum: 0 };

const headers = {
  RequestId: { description: 'The id of this call, as sent or made by the node.', required: true, schema: text },
  RateLimitLimit: { description: 'Calls allowed in the window.', schema: wholeNumber },
  RegistryPosition: {
    description: 'How far the answer is: all changes of agents by database transactions below this number are in it.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  RateLimitRemaining: { description: 'Calls left in the window.', schema: wholeNumber },
  RateLimitReset: { description: 'End of the window, in seconds since 1970.', schema: wholeNumber },
  RateLimitType: { description: 'The limit that counted the call.', schema: { const: 'invocations' } },
  ETag: { description: 'The entity tag of the answer: another one tells another answer.', schema: text },
  CacheControl: {
    description:
      'Caches may keep the answer, and check it each time; a shared one only if the call had no credentials.',
    schema: { enum: ['public, no-cache', 'private, no-cache'] },
  },
  Vary: { description: 'The request headers that the answer depends on.', schema: text },
  ContentEncoding: {
    description: 'Set when a large answer is compressed, for a client that accepts it.',
    schema: { enum: ['br', 'gzip'] },
  },
  RetryAfter: { description: 'Seconds to wait before the call is repeated.', schema: wholeNumber },
  RateLimit: {
    description: 'Remainder of the limit that was hit (IETF draft `ratelimit-headers`).',
    schema: { type: 'string', examples: ['"api";r=0;t=900'] },
  },
  RateLimitPolicy: {
    description: 'The limit that was hit.',
    schema: { type: 'string', examples: ['"api";q=100;w=3600'] },
  },
  IdempotencyReplayed: {
    description: 'Set when this is the stored answer of an earlier call with the same Idempotency-Key.',
    schema: { const: 'true' },
  },
  PaymentRequired: { description: 'The terms for x402 v2 clients: base64 of JSON.', schema: text },
  PaymentResponse: {
    description: 'The settlement of the payment that came with the call: base64 of JSON.',
    schema: text,
  },
};

const parameters = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description: 'An id of your own for this call, echoed in the answer; another text is replaced.',
    schema: { type: 'string', pattern: '^[\\w-]{8,128}$' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'Entity tags that you have, or `*`: the same answer again is 304, without a body.',
    schema: text,
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A repeated key returns the same answer for 24 hours without repeating the work. While the first call runs: 409; with ' +
      'another request: 422. Use the same key for the paid repetition of a call that was answered 402.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$', examples: ['7d0f8f6e2c1b4a59'] },
  },
};

/** Permissions of a key, by scope. */
export const scopeMeanings: Readonly<Record<Scope, string>> = {
  'agents:write': 'Register, change, prove and remove agents.',
  invoke: 'Invoke agents, and read and cancel your requests.',
  'payments:read': 'Read balances, payments and withdrawals.',
  'payments:write': 'Create treasuries and deposit into them.',
  'payments:withdraw': 'Send money out of a treasury. Never given by default.',
  'keys:manage': 'Create, replace and revoke keys. Never given by default.',
  'webhooks:manage': 'Manage webhooks and read events. Never given by default.',
  'metrics:read': 'Read `/metrics`, and nothing else. Given by the operator of the node.',
  operator: "Read the node's metrics and status, manage accounts, withdraw its fees. For the operator of the node.",
};

const scopeList = Object.entries(scopeMeanings).map(([scope, meaning]) => `- \`${scope}\`: ${meaning}`);

const securitySchemes = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: [
      'An API key: `Authorization: Bearer ank_…`. Its scopes limit it; each call names the scope that it needs.',
      scopeList.join('\n'),
      `A new key has ${defaultScopes.map((scope) => `\`${scope}\``).join(', ')} unless others are named.`,
    ].join('\n\n'),
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The session of a browser that signed in with `POST /auth/session`. Valid only in calls from pages of the node itself, as ' +
      'browsers report it: `Sec-Fetch-Site: same-origin`, and its own `Origin` with every method but GET. Ignored beside `Authorization`.',
  },
  resultToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Result-Token',
    description: 'The `resultToken` of a request that was made without an API key: reads that request and no other.',
  },
  answerToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Answer-Token',
    description:
      'The `answerToken` of an interactive request that was made without an API key: answers and cancels that request and no other.',
  },
  signInWithX: {
    type: 'apiKey',
    in: 'header',
    name: 'SIGN-IN-WITH-X',
    'x-agentcash-auth-kind': 'siwx',
    description:
      'A sign-in of the wallet that paid for a request (x402 extension `sign-in-with-x`), for one read of it.',
  },
  identityToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      "An agent's identityToken: the call is made as the agent, from its own treasury. It invokes, and reads the requests and the money of its agent.",
  },
};

/** Components that the operations refer to: answers, one error envelope per code, headers, parameters and security schemes. */
export function openApiComponents() {
  const answers: Record<string, JsonSchema> = Object.fromEntries(
    Object.entries(answerObjects).map(([name, schema]) => [name, jsonSchema(schema, 'output', namedSchemas)]),
  );
  const resolve = (ref: string) => answers[ref.split('/').at(-1) ?? ''] ?? {};
  return { schemas: { ...answers, ...errorSchemas(resolve) }, headers, parameters, securitySchemes };
}
