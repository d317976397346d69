import { type Client, createClient, type Payer } from '@agent-network/sdk';

const options = { baseUrl: location.origin, maxRetries: 2, timeoutMs: 40_000 };

/** The node that served this page. The session's cookie goes along by itself. */
export const client: Client = createClient(options);

/** A client that pays calls that return 402. */
export const payingClient = (payer: Payer): Client => createClient({ ...options, payer });

/** The client for the stream of events. It does not retry, so that an outage of the node shows at once. */
export const liveClient: Client = createClient({ ...options, maxRetries: 0 });
