import manifest from '../../package.json' with { type: 'json' };
import type { AgentTypes } from '../agents/agent-types.ts';
import { priceParts, priceRange, type ShownPrices } from '../agents/price-text.ts';
import { InvocationRequest, RequestRecord } from '../invocations/invocations.ts';
import { needsFields, rebased } from '../schema-places.ts';
import { type JsonSchema, jsonSchema } from './json-schema.ts';
import { dynamicPrice, fixedPrice } from './payment-info.ts';

export interface OfferedAgent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly price: string;
  readonly types?: AgentTypes | undefined;
  readonly metadata: ShownPrices['metadata'];
}

/** A schema of the protocol with one property that the agent describes itself. */
function typed(schema: JsonSchema, name: string, part: object, isRequired = false): JsonSchema {
  const { properties, required } = schema as { properties: JsonSchema; required?: string[] };
  return {
    ...schema,
    properties: { ...properties, [name]: part },
    ...(isRequired ? { required: [...(required ?? []), name] } : {}),
  };
}

/** Schemas that the agent declares as a whole: components of the document, and the bodies that use them. */
function typedParts(types: AgentTypes | undefined) {
  const { inputSchema, outputSchema, examples } = types ?? {};
  const request = jsonSchema(InvocationRequest, 'input');
  const record = jsonSchema(RequestRecord, 'output');
  const places = { Input: inputSchema, Output: outputSchema };
  const schemas = Object.entries(places).flatMap(([name, schema]) =>
    schema ? [[name, rebased(schema, `/components/schemas/${name}`)]] : [],
  );
  const input = {
    $ref: '#/components/schemas/Input',
    ...(examples?.length ? { examples: examples.map((example) => example.input) } : {}),
  };
  return {
    components: schemas.length === 0 ? {} : { components: { schemas: Object.fromEntries(schemas) } },
    request: inputSchema ? typed(request, 'input', input, needsFields(inputSchema)) : request,
    record: outputSchema
      ? typed(record, 'result', { anyOf: [{ $ref: '#/components/schemas/Output' }, { type: 'null' }] })
      : record,
  };
}

const answerOf = (data: object) => ({
  type: 'object',
  properties: { status: { const: 'success' }, data },
  required: ['status', 'data'],
});

/** The OpenAPI document of one agent: the call that a wallet pays, with its price. */
export function agentOpenApiDocument(agent: OfferedAgent, baseUrl: string) {
  const { id, name, description, capabilities, price, types } = agent;
  const { metadata } = agent;
  const { components, request, record } = typedParts(types);
  return {
    openapi: '3.1.1',
    info: {
      title: name,
      version: manifest.version,
      description,
      'x-guidance': `POST a task. The 402 has the terms of x402; a failed call is paid back. Capabilities: ${capabilities.join(', ')}.`,
    },
    servers: [{ url: baseUrl }],
    'x-agentcash-guidance': { llmsTxtUrl: `${baseUrl}/llms.txt` },
    paths: {
      [`/x402/${id}`]: {
        post: {
          operationId: 'invoke',
          summary: `Invoke ${name}, paid by x402`,
          tags: [...capabilities],
          security: [],
          'x-payment-info':
            priceParts(metadata).length > 0
              ? dynamicPrice(priceRange({ perRequest: price, metadata }))
              : fixedPrice(price),
          requestBody: {
            required: true,
            content: { 'application/json': { schema: request } },
          },
          responses: {
            200: {
              description: 'The request, with its result when it has completed.',
              content: { 'application/json': { schema: answerOf(record) } },
            },
            400: { description: 'The body, or the `input` in it, does not fit: the fields are in `error.details`.' },
            402: { description: 'Payment required: x402 terms in `PAYMENT-REQUIRED` (v2) and in the body (v1).' },
          },
        },
      },
    },
    ...components,
  };
}
