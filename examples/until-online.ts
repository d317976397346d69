import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '@agent-network/sdk';

/** Resolves when the node has proven the agent and can call it; throws when that takes over 20 s. */
export async function untilOnline(client: Client, id: string): Promise<void> {
  const endsAtMs = Date.now() + 20_000;
  while (!(await client.getAgentStatus({ params: { id } })).online) {
    if (Date.now() > endsAtMs) throw new Error('the agent did not come online within 20 s');
    await wait(200);
  }
}
