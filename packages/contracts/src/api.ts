import { accessEndpoints } from './access.ts';
import { agentEndpoints } from './agents.ts';
import type { Endpoint } from './endpoint.ts';
import { identityEndpoints } from './identity.ts';
import { invocationEndpoints } from './invocations.ts';
import { paymentEndpoints } from './payments.ts';
import { webhookEndpoints } from './webhooks.ts';

/** The endpoint table: every call of the API, declared once. */
export const api = {
  ...agentEndpoints,
  ...identityEndpoints,
  ...invocationEndpoints,
  ...paymentEndpoints,
  ...accessEndpoints,
  ...webhookEndpoints,
} as const satisfies Record<string, Endpoint>;

export type Api = typeof api;
export type EndpointName = keyof Api;
