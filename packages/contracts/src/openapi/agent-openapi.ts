import manifest from '../../package.json' with { type: 'json' };
import { InvocationRequest, RequestRecord } from '../invocations/invocations.ts';
import { jsonSchema } from './json-schema.ts';
import { fixedPrice } from './payment-info.ts';

export interface OfferedAgent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly price: string;
}

const answerOf = (data: object) => ({
  type: 'object',
  properties: { status: { const: 'success' }, data },
  required: ['status', 'data'],
});

/** The OpenAPI document of one agent: the call that a wallet pays, with its price. */
export function agentOpenApiDocument(agent: OfferedAgent, baseUrl: string) {
  const { id, name, description, capabilities, price } = agent;
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
          'x-payment-info': fixedPrice(price),
          requestBody: {
            required: true,
            content: { 'application/json': { schema: jsonSchema(InvocationRequest, 'input') } },
          },
          responses: {
            200: {
              description: 'The request, with its result when it has completed.',
              content: { 'application/json': { schema: answerOf(jsonSchema(RequestRecord, 'output')) } },
            },
            402: { description: 'Payment required: x402 terms in `PAYMENT-REQUIRED` (v2) and in the body (v1).' },
          },
        },
      },
    },
  };
}
