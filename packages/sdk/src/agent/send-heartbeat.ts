import { createClient } from '../client.ts';

export interface HeartbeatReport {
  /** Load of the agent, 0 to 1. */
  readonly load?: number;
  /** `false` takes the agent offline at once; `true` lets the node's own checks decide again. */
  readonly accepting?: boolean;
}

/** Reports an agent's load to a node, as the agent; resolves to its status record. Throws what `createClient` methods throw. */
export function sendHeartbeat(
  agent: { readonly baseUrl: string; readonly agentId: string; readonly identityToken: string },
  report: HeartbeatReport = {},
) {
  const client = createClient({ baseUrl: agent.baseUrl, apiKey: agent.identityToken });
  return client.heartbeat({ params: { id: agent.agentId }, body: report });
}
