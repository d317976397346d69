import type { Handlers } from '../request/handler.ts';
import { accessHandlers } from './access.ts';
import { agentHandlers } from './agents.ts';
import { identityHandlers } from './identity.ts';
import { invocationHandlers } from './invocations.ts';
import { keylessHandlers } from './keyless.ts';
import { networkHandlers } from './network.ts';
import { paymentHandlers } from './payments.ts';
import { sessionHandlers } from './sessions.ts';
import { webhookHandlers } from './webhooks.ts';

/** One handler per row of the endpoint table; a missing one does not compile. */
export const handlers: Handlers = {
  ...agentHandlers,
  ...identityHandlers,
  ...invocationHandlers,
  ...keylessHandlers,
  ...paymentHandlers,
  ...networkHandlers,
  ...accessHandlers,
  ...sessionHandlers,
  ...webhookHandlers,
};
