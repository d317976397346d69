import type { AgentReputation } from '@agent-network/contracts/agents/reputation';
import { formatDuration } from '../../lib/duration.ts';
import { type Component, HALF_LIFE_DAYS, UPTIME_DAYS } from './reputation.ts';
import type { ReputationParts } from './reputation-parts.ts';

const thousandths = (value: number) => Math.round(value * 1000) / 1000;
const percent = (value: number) => `${Math.round(value * 1000) / 10} %`;
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
  const from = `from ${count(crediblePayers, 'well-known payer')} and ${count(weakPayers, 'payer')} hardly known yet`;
  const seen =
    calls === 0
      ? 'No payer without ties to the owner has paid for a call yet, so a medium success rate is assumed.'
      : `${goodCalls} of ${count(calls, 'paid call')} succeeded, ${from}.`;
  const leftOut = `${count(linkedCalls, 'call')} of ${count(linkedPayers, 'payer')} with ties to the owner left out.`;
  const sure = `By a cautious estimate, ${percent(quality)} of calls succeed.`;
  return [seen, ...(linkedPayers > 0 ? [leftOut] : []), sure].join(' ');
}

const explainUptime = ({ value }: Component, probes: number): string =>
  probes === 0
    ? `No health probe was made in the last ${UPTIME_DAYS} days.`
    : `${percent(value)} of ${count(probes, 'health probe')} of the last ${UPTIME_DAYS} days were answered.`;

const explainLatency = (responseMs: number | null): string =>
  responseMs === null
    ? 'No response time has been measured yet.'
    : `Probes are answered in ${formatDuration(responseMs)} on average; five seconds or more give no points.`;
