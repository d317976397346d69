import type { z } from 'zod';
import { AgentDetail, AgentListItem } from './agents.ts';
import { type ErrorCode, errorCatalogue, errorEnvelope, PaymentTerms } from './errors.ts';
import { AgentToAgentResult, InvocationCreated, RequestRecord } from './invocations.ts';
import { type JsonSchema, jsonSchema } from './json-schema.ts';
import { errorSchemaName } from './openapi-operation.ts';
import { PaymentRequiredV1 } from './x402.ts';

const answerObjects = {
  AgentListItem,
  AgentDetail,
  RequestRecord,
  InvocationCreated,
  AgentToAgentResult,
  PaymentTerms,
};

/** The answer objects that stand once in the document and are referred to from everywhere. */
export const namedSchemas = new Map<z.core.$ZodType, string>(
  Object.entries(answerObjects).map(([name, schema]) => [schema, name]),
);

/** A 402 carries these for x402 v1 clients; v2 clients read the PAYMENT-REQUIRED header. */
const v1Fields = PaymentRequiredV1.partial().shape;

function errorSchemas(): Record<string, JsonSchema> {
  return Object.fromEntries(
    (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
      const envelope = code === 'PAYMENT_REQUIRED' ? errorEnvelope(code).extend(v1Fields) : errorEnvelope(code);
      return [errorSchemaName(code), jsonSchema(envelope, 'output', namedSchemas)];
    }),
  );
}

const text = { type: 'string' };
const wholeNumber = { type: 'integer', minimum: 0 };

const headers = {
  RequestId: { description: 'The id of this call, as sent or made by the node.', required: true, schema: text },
  RateLimitLimit: { description: 'Calls allowed in the window.', schema: wholeNumber },
  RateLimitRemaining: { description: 'Calls left in the window.', schema: wholeNumber },
  RateLimitReset: { description: 'When the window ends, in seconds since 1970.', schema: wholeNumber },
  RateLimitType: { description: 'Which limit counted the call.', schema: { const: 'invocations' } },
  RetryAfter: { description: 'Seconds to wait before the call is repeated.', schema: wholeNumber },
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
    description: 'An id of your own for this call, echoed in the answer.',
    schema: { type: 'string', maxLength: 128 },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'The same key within 24 hours gives the same answer without doing the work again.',
    schema: { type: 'string', maxLength: 255 },
  },
};

const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: `Authorization: Bearer ank_…`.' },
  identityToken: {
    type: 'http',
    scheme: 'bearer',
    description: "An agent's identityToken: the call is made as the agent, from its own treasury.",
  },
};

/** What the operations refer to: answer objects, one error envelope per code, headers, parameters and security schemes. */
export function openApiComponents() {
  const answers = Object.entries(answerObjects).map(([name, schema]) => [
    name,
    jsonSchema(schema, 'output', namedSchemas),
  ]);
  return {
    schemas: { ...Object.fromEntries(answers), ...errorSchemas() } as Record<string, JsonSchema>,
    headers,
    parameters,
    securitySchemes,
  };
}
