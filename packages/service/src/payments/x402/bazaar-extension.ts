/**
 * The x402 extension `bazaar` of a call of an agent: how it is made. The schema of its body is the same for every agent and stands in the
 * OpenAPI document: terms travel in a header. What is left of the schema lets validators of the extension pass.
 */
export const bazaarExtension = {
  info: {
    input: { type: 'http', method: 'POST', bodyType: 'json', body: { task: 'What the agent shall do.', input: {} } },
    output: { type: 'json' },
  },
  schema: { type: 'object', required: ['input'] },
} as const;
