import type { AgentStatusRecord } from '@agent-network/contracts/agents/agents';
import type { EndpointVerified } from '@agent-network/contracts/agents/identity';
import type { AccountCaller, AgentCaller } from '../../accounts/caller.ts';
import { type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import { emit } from '../../events/outbox/outbox.ts';
import { AppError, notFound } from '../../lib/app-error.ts';
import { type Agent, isVerified, nextAgentStatus } from '../agent.ts';
import { lockAgentRow } from '../agent-lock-store.ts';
import type { AgentServices } from '../agent-services.ts';
import { findAgentRow } from '../agent-store.ts';
import { agentEventsOf, changeAgent, lockOwnAgent } from '../change-agent.ts';
import { readAgentStatus } from '../search/find-agent.ts';
import { type CheckContext, tryProof } from './check-agents.ts';

/** Challenges that heartbeats of a pending agent bring forward are at least this far apart. */
const PROOF_GAP_MS = 5000;

/** Proves the endpoint of one of the caller's agents now, regardless of the schedule. */
export async function verifyAgent(
  ctx: CheckContext,
  caller: Pick<AccountCaller, 'accountId'>,
  agentId: string,
): Promise<EndpointVerified> {
  const agent = await ctx.db.transaction((tx) => lockOwnAgent(tx, caller.accountId, agentId));
  const proof = await tryProof(ctx, agent);
  const after = await findAgentRow(ctx.db, agentId);
  if (!after || after.status === 'removed') throw notFound('agent');
  return {
    agentId,
    proof: 'endpoint',
    verified: isVerified(after),
    status: after.status,
    reason: proof.isProven ? null : proof.reason,
    by: proof.isProven ? proof.by : null,
  };
}

/**
 * Records an agent's heartbeat. It can lower the agent's status, never raise it: that takes an answered probe. A repeat under its
 * Idempotency-Key returns the original report and does not replace a later one. A pending agent that has its token, as a heartbeat
 * shows, is challenged again at once.
 */
export async function recordHeartbeat(
  ctx: CheckContext & AgentServices,
  caller: AgentCaller,
  agentId: string,
  report: { load?: number | undefined; accepting?: boolean | undefined },
  once: Once = unkeyed,
): Promise<AgentStatusRecord> {
  if (caller.agentId !== agentId) throw new AppError('FORBIDDEN', 'An agent reports for itself only.');
  const now = ctx.clock.now();
  let isDue = false;
  const answer = await ctx.db.transaction(async (tx) => {
    const agent = await lockAgentRow(tx, agentId);
    if (!agent) throw notFound('agent');
    const isAccepting = report.accepting ?? agent.isAccepting;
    const status = isAccepting ? agent.status : nextAgentStatus(agent.status, 'refused');
    const resumed = isAccepting && !agent.isAccepting ? { nextCheckAt: now, passedInARow: 0 } : {};
    isDue = isProofDue(agent, now);
    const proving = isDue ? { nextCheckAt: now } : {};
    // Rounded to a ten-thousandth: PostgreSQL has no value for the smallest numbers of JSON.
    const load = report.load === undefined ? {} : { reportedLoad: Math.round(report.load * 10_000) / 10_000 };
    await changeAgent(
      tx,
      agent,
      { isAccepting, status, reportedAt: now, lastSeenAt: now, ...load, ...resumed, ...proving },
      now,
    );
    const after = { ...agent, isAccepting, status, lastSeenAt: now };
    await emit(tx, agentEventsOf(agent, after, ctx.nodeLabel), now);
    return once.keep(tx, await readAgentStatus({ ...ctx, db: tx }, agentId));
  });
  if (isDue) ctx.agentChecks.requestRun();
  return answer;
}

const isProofDue = ({ status, lastPingAt }: Agent, now: Date): boolean =>
  status === 'pending_verification' && (lastPingAt === null || now.getTime() - lastPingAt.getTime() >= PROOF_GAP_MS);
