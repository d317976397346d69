import type { AgentReputation } from '@agent-network/contracts/agents/reputation';
import { notFound } from '../../lib/app-error.ts';
import { durationText, formatDuration } from '../../lib/duration.ts';
import { findAgentRow } from '../agent-store.ts';
import type { JudgeContext } from './judge-payers.ts';
import { recomputeReputation } from './recompute-reputations.ts';
import { type Component, HALF_LIFE_DAYS, UPTIME_DAYS } from './reputation.ts';
import type { ReputationParts } from './reputation-parts.ts';
import { findReputation } from './reputation-store.ts';

const thousandths = (value: number) => Math.round(value * 1000) / 1000;
const percent = (value: number) => `${Math.round(value * 1000) / 10}%`;
const count = (number: number, one: string, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

/** The parts of a reputation on the wire, with explanations for people. */
export function toAgentReputation(
  agentId: string,
  { parts, formulaVersion, computedAt }: { parts: ReputationParts; formulaVersion: number; computedAt: Date },
): AgentReputation {
  const { score, outcomes, liveness } = parts;
  const { probes, responseMs } = liveness;
  return {
    agentId,
    score: score.score,
    formulaVersion,
    computedAt: computedAt.toISOString(),
    components: {
      outcomes: {
        ...shown(score.outcomes, explainOutcomes(outcomes)),
        calls: { good: outcomes.goodCalls, bad: outcomes.badCalls },
        evidence: { good: thousandths(outcomes.good), bad: thousandths(outcomes.bad) },
        payers: { credible: outcomes.crediblePayers, weak: outcomes.weakPayers, linked: outcomes.linkedPayers },
        linkedCalls: outcomes.linkedCalls,
        pool: { offered: thousandths(outcomes.weakOffered), counted: thousandths(outcomes.weakUsed) },
        halfLifeDays: HALF_LIFE_DAYS,
      },
      uptime: { ...shown(score.uptime, explainUptime(score.uptime, probes)), days: UPTIME_DAYS, probes },
      latency: {
        ...shown(score.latency, explainLatency(responseMs)),
        responseTime: responseMs === null ? null : formatDuration(responseMs),
      },
    },
  };
}

const shown = ({ points, value, contribution }: Component, explanation: string) => ({
  weight: points / 1000,
  value: thousandths(value),
  contribution,
  explanation,
});

function explainOutcomes(outcomes: ReputationParts['outcomes']): string {
  const { goodCalls, badCalls, crediblePayers, weakPayers, linkedPayers, linkedCalls, quality } = outcomes;
  const calls = goodCalls + badCalls;
  const from = `from ${crediblePayers} established and ${count(weakPayers, 'new payer')}`;
  const seen =
    calls === 0
      ? 'No independent customer has paid for a call yet, so an average success rate is assumed.'
      : `${goodCalls} of ${count(calls, 'paid call')} succeeded, ${from}.`;
  const leftOut = `${count(linkedCalls, 'call')} by the owner or linked wallets ${linkedCalls === 1 ? 'is' : 'are'} excluded.`;
  const sure = `By a cautious estimate, ${percent(quality)} of calls succeed.`;
  return [seen, ...(linkedPayers > 0 ? [leftOut] : []), sure].join(' ');
}

const explainUptime = ({ value }: Component, probes: number): string =>
  probes === 0
    ? `No health probe was made in the last ${UPTIME_DAYS} days.`
    : `${percent(value)} of ${count(probes, 'health probe')} of the last ${UPTIME_DAYS} days succeeded.`;

const explainLatency = (responseMs: number | null): string =>
  responseMs === null
    ? 'No response time has been measured yet.'
    : `The average probe takes ${durationText(responseMs)}; five seconds or more give no points.`;

/** The parts of an agent's reputation; computed now if it never was. Throws NOT_FOUND. */
export async function readReputation(ctx: JudgeContext, agentId: string): Promise<AgentReputation> {
  if (!(await findAgentRow(ctx.db, agentId))) throw notFound('agent');
  const known = await findReputation(ctx.db, agentId);
  if (!known) await recomputeReputation(ctx, agentId);
  const reputation = known ?? (await findReputation(ctx.db, agentId));
  if (!reputation) throw notFound('agent');
  return toAgentReputation(agentId, reputation);
}
