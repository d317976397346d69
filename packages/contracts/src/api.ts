import { accessEndpoints } from './access.ts';
import { agentFigureEndpoints } from './agent-figures.ts';
import { agentEndpoints } from './agents.ts';
import { auditEndpoints } from './audit.ts';
import { authEndpoints } from './auth.ts';
import { bulkEndpoints } from './bulk.ts';
import { claimEndpoints } from './claims.ts';
import type { Endpoint } from './endpoint.ts';
import { figureEndpoints } from './figures.ts';
import { historyEndpoints } from './history.ts';
import { identityEndpoints } from './identity.ts';
import { invocationEndpoints } from './invocations.ts';
import { networkEndpoints } from './network.ts';
import { operatorEndpoints } from './operator.ts';
import { paymentEndpoints } from './payments.ts';
import { quoteEndpoints } from './quotes.ts';
import { reputationEndpoints } from './reputation.ts';
import { reserveEndpoints } from './reserves.ts';
import { sessionEndpoints } from './sessions.ts';
import { statementEndpoints } from './statements.ts';
import { streamEndpoints } from './stream-events.ts';
import { webhookEndpoints } from './webhooks.ts';

/** The endpoint table: every call of the API, declared once. */
export const api = {
  ...agentEndpoints,
  ...agentFigureEndpoints,
  ...reputationEndpoints,
  ...identityEndpoints,
  ...invocationEndpoints,
  ...quoteEndpoints,
  ...streamEndpoints,
  ...historyEndpoints,
  ...bulkEndpoints,
  ...paymentEndpoints,
  ...statementEndpoints,
  ...reserveEndpoints,
  ...claimEndpoints,
  ...authEndpoints,
  ...sessionEndpoints,
  ...accessEndpoints,
  ...auditEndpoints,
  ...figureEndpoints,
  ...webhookEndpoints,
  ...networkEndpoints,
  ...operatorEndpoints,
} as const satisfies Record<string, Endpoint>;

export type Api = typeof api;
export type EndpointName = keyof Api;
