import { type Client, createClient } from '@agent-network/sdk';

/** The node that served this page. The session's cookie goes along by itself. */
export const client: Client = createClient({ baseUrl: location.origin, maxRetries: 2, timeoutMs: 40_000 });
