import { accessEndpoints } from './access.ts';
import { agentEndpoints } from './agents.ts';
import type { Endpoint } from './endpoint.ts';
import { invocationEndpoints } from './invocations.ts';
import { paymentEndpoints } from './payments.ts';

/** The endpoint table: every call of the API, declared once. */
export const api = {
  ...agentEndpoints,
  ...invocationEndpoints,
  ...paymentEndpoints,
  ...accessEndpoints,
} as const satisfies Record<string, Endpoint>;

export type Api = typeof api;
export type EndpointName = keyof Api;
