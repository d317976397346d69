import { emit } from '../../events/outbox/outbox.ts';
import type { Tx } from '../../store/sql.ts';
import { nextAgentStatus } from '../agent.ts';
import { lockAgentsOf } from '../agent-lock-store.ts';
import { agentEventsOf, changeAgent } from '../change-agent.ts';

/**
 * Takes the agents of an account offline in the transaction that suspends it. Health checks continue, and keep them offline as long as the
 * account is suspended.
 */
export async function holdAgents(
  ctx: { readonly nodeLabel: string },
  tx: Tx,
  accountId: string,
  now: Date,
): Promise<void> {
  for (const agent of await lockAgentsOf(tx, accountId)) {
    const status = nextAgentStatus(agent.status, 'went_down');
    if (status === agent.status) continue;
    await changeAgent(tx, agent, { status }, now);
    await emit(tx, agentEventsOf(agent, { ...agent, status }, ctx.nodeLabel), now);
  }
}

/** Makes the health checks of an account's agents due, in the transaction that ends its suspension: who answers comes online. */
export async function releaseAgents(tx: Tx, accountId: string, now: Date): Promise<void> {
  for (const agent of await lockAgentsOf(tx, accountId))
    if (agent.nextCheckAt !== null) await changeAgent(tx, agent, { nextCheckAt: now }, now);
}
