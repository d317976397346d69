import type { AgentReputation } from '@agent-network/contracts/agents/reputation';
import { notFound } from '../../lib/app-error.ts';
import { findAgentRow } from '../agent-store.ts';
import type { JudgeContext } from './judge-payers.ts';
import { recomputeReputation } from './recompute-reputations.ts';
import { findReputation } from './reputation-store.ts';
import { toAgentReputation } from './reputation-view.ts';

/** The parts of an agent's reputation; computed now if it never was. Throws NOT_FOUND. */
export async function readReputation(ctx: JudgeContext, agentId: string): Promise<AgentReputation> {
  if (!(await findAgentRow(ctx.db, agentId))) throw notFound('agent');
  const known = await findReputation(ctx.db, agentId);
  if (!known) await recomputeReputation(ctx, agentId);
  const reputation = known ?? (await findReputation(ctx.db, agentId));
  if (!reputation) throw notFound('agent');
  return toAgentReputation(agentId, reputation);
}
