import { accessEndpoints } from './access/access.ts';
import { auditEndpoints } from './access/audit.ts';
import { authEndpoints } from './access/auth.ts';
import { sessionEndpoints } from './access/sessions.ts';
import { agentCallEndpoints } from './agents/agent-calls.ts';
import { agentFigureEndpoints } from './agents/agent-figures.ts';
import { agentEndpoints } from './agents/agents.ts';
import { endpointTestEndpoints } from './agents/endpoint-test.ts';
import { identityEndpoints } from './agents/identity.ts';
import { matchEndpoints } from './agents/matching.ts';
import { reputationEndpoints } from './agents/reputation.ts';
import type { Endpoint } from './endpoint.ts';
import { fileEndpoints } from './files/files.ts';
import { autoEndpoints } from './invocations/auto.ts';
import { bulkEndpoints } from './invocations/bulk.ts';
import { exportEndpoints } from './invocations/export.ts';
import { figureEndpoints } from './invocations/figures.ts';
import { historyEndpoints } from './invocations/history.ts';
import { invocationEndpoints } from './invocations/invocations.ts';
import { keylessEndpoints } from './invocations/keyless.ts';
import { quoteEndpoints } from './invocations/quotes.ts';
import { receiptEndpoints } from './invocations/receipts.ts';
import { streamEndpoints } from './invocations/stream-events.ts';
import { networkEndpoints } from './network/network.ts';
import { operatorEndpoints } from './network/operator.ts';
import { operatorAccountEndpoints } from './network/operator-accounts.ts';
import { operatorChannelEndpoints } from './network/operator-channels.ts';
import { channelEndpoints } from './payments/channels.ts';
import { claimEndpoints } from './payments/claims.ts';
import { heldPayoutEndpoints } from './payments/held-payouts.ts';
import { networkEndpoints as paymentNetworkEndpoints } from './payments/networks.ts';
import { paymentEndpoints } from './payments/payments.ts';
import { reserveEndpoints } from './payments/reserves.ts';
import { statementEndpoints } from './payments/statements.ts';
import { webhookEndpoints } from './webhooks.ts';

/** The endpoint table: every call of the API, declared once. */
export const api = {
  ...agentEndpoints,
  ...agentFigureEndpoints,
  ...agentCallEndpoints,
  ...endpointTestEndpoints,
  ...matchEndpoints,
  ...reputationEndpoints,
  ...identityEndpoints,
  ...invocationEndpoints,
  ...autoEndpoints,
  ...keylessEndpoints,
  ...quoteEndpoints,
  ...receiptEndpoints,
  ...streamEndpoints,
  ...historyEndpoints,
  ...exportEndpoints,
  ...bulkEndpoints,
  ...fileEndpoints,
  ...paymentEndpoints,
  ...heldPayoutEndpoints,
  ...statementEndpoints,
  ...reserveEndpoints,
  ...paymentNetworkEndpoints,
  ...claimEndpoints,
  ...channelEndpoints,
  ...authEndpoints,
  ...sessionEndpoints,
  ...accessEndpoints,
  ...auditEndpoints,
  ...figureEndpoints,
  ...webhookEndpoints,
  ...networkEndpoints,
  ...operatorEndpoints,
  ...operatorAccountEndpoints,
  ...operatorChannelEndpoints,
} as const satisfies Record<string, Endpoint>;

export type Api = typeof api;
export type EndpointName = keyof Api;
