import { type Client, createClient, type Payer } from '@agent-network/sdk';

const options = { baseUrl: location.origin, maxRetries: 2, timeoutMs: 40_000 };

/** The node that served this page. The session's cookie goes along by itself. */
export const client: Client = createClient(options);

/** The same, paying what is asked with 402. */
export const payingClient = (payer: Payer): Client => createClient({ ...options, payer });

/** The same for the stream of events: who shows that the node is away has to know at once. */
export const liveClient: Client = createClient({ ...options, maxRetries: 0 });
