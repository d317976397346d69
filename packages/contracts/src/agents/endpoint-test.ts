import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Duration, webUrl } from '../scalars.ts';
import { AgentProtocolName, Upstream } from './upstream.ts';

/** Body of POST /agents/test: how an endpoint would be called. */
export const EndpointTest = z.object({
  endpoint: webUrl(2048),
  protocol: AgentProtocolName.optional(),
  upstream: Upstream.optional(),
});
export type EndpointTest = z.output<typeof EndpointTest>;

export const endpointTestEndpoints = {
  testEndpoint: endpoint({
    method: 'POST',
    path: '/agents/test',
    summary: 'Test whether an endpoint answers in its protocol, before it is registered; 60 an hour',
    tag: 'Agents',
    auth: 'key',
    scope: 'agents:write',
    accountOnly: true,
    limit: 'api',
    body: EndpointTest,
    data: z.object({
      callable: z.boolean().describe('The endpoint answers as its protocol asks. No call was made.'),
      reason: z.string().nullable().describe('Fault of the endpoint; null: none.'),
      advice: z.string().nullable().describe('Remedy of the fault; null: there is no fault.'),
      status: z.int().nullable().describe('HTTP status of a refusal; null: there was none.'),
      body: z.string().nullable().describe('Beginning of the body of a refusal; null: there was none.'),
      took: Duration,
    }),
    errors: [],
  }),
};
