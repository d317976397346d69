import { DAY_MS } from '../../lib/duration.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import type { Agent } from '../agent.ts';
import { updateAgentRow } from '../agent-change-store.ts';
import { lockAgentRow } from '../agent-lock-store.ts';
import { findAgentRow } from '../agent-store.ts';
import { ENOUGH_OWNERS } from './credibility.ts';
import { type JudgeContext, readEvidence } from './judge-payers.ts';
import { countOutcomes, type Pace } from './outcome-store.ts';
import { FORMULA_VERSION, FULL_MICRO, isNewAgent } from './reputation.ts';
import { judgeOutcomes, newcomer, partsOf, type ReputationParts } from './reputation-parts.ts';
import { findReputation, forgetReputation, saveReputation, takeDueReputations } from './reputation-store.ts';

const COUNT_BATCH = 5000;
/** Computed at once; each has the payers of its agent in memory. */
const BATCH = 4;
/**
 * A computation costs some microseconds for each record, and one more paid call makes it due: an agent with 31,000 records (a payer, its
 * wallet and a day) is worked out once a minute at most.
 */
const PACE: Pace = { quickRecords: 1000, msPerRecord: 2 };
/** Lease of a computation: after it the computation counts as lost with its process, and is due again. */
const LOST_AFTER_MS = 60_000;
/** Recomputation interval: outcomes age, and payers gain credibility, by the day. */
const INTERVAL_MS = DAY_MS;

/** Counts new outcomes and recomputes the reputations that are due. */
export async function recomputeReputations(
  ctx: JudgeContext & Telemetry & { readonly feedbackGiver: string | null },
): Promise<void> {
  const givesFeedback = ctx.feedbackGiver !== null;
  const counted = { limit: COUNT_BATCH, fullMicro: FULL_MICRO, enoughOwners: ENOUGH_OWNERS };
  const counting = { ...counted, givesFeedback, pace: PACE };
  while ((await countOutcomes(ctx.db, { ...counting, now: ctx.clock.now() })) === COUNT_BATCH);
  for (;;) {
    const now = ctx.clock.now();
    const busyUntil = new Date(now.getTime() + LOST_AFTER_MS);
    const due = await takeDueReputations(ctx.db, now, busyUntil, BATCH);
    await Promise.all(
      due.map((agentId) =>
        recomputeReputation(ctx, agentId, busyUntil).catch((err: unknown) =>
          ctx.log.error({ err, agentId }, 'reputation computation failed'),
        ),
      ),
    );
    if (due.length < BATCH) return;
  }
}

/** Recomputes the reputation of an agent from all counted outcomes; `due`: the time it was postponed to, if it was due. */
export async function recomputeReputation(ctx: JudgeContext, agentId: string, due: Date | null = null): Promise<void> {
  const agent = await findAgentRow(ctx.db, agentId);
  if (!agent) return forget(ctx, agentId);
  const outcomes = judgeOutcomes(await readEvidence(ctx, agent));
  await ctx.db.transaction(async (tx) => {
    const current = await lockAgentRow(tx, agentId);
    if (!current) return;
    const reputation = await keepReputation(tx, current, outcomes, { now: ctx.clock.now(), due });
    const isNew = isNewAgent(outcomes);
    if (reputation === current.reputation && isNew === current.isNew) return;
    await updateAgentRow(tx, agentId, { reputation, isNew });
  });
}

/** Ends the computations of a removed agent, under its lock: who lists it again does so under this lock, and then makes one due. */
const forget = (ctx: Store, agentId: string): Promise<void> =>
  ctx.db.transaction(async (tx) => {
    if ((await lockAgentRow(tx, agentId)) === null) await forgetReputation(tx, agentId);
  });

/** The reputation of an agent after a probe, with unchanged outcomes. The caller holds the agent's lock and writes it. */
export async function reputationAfterProbe(tx: Tx, agent: Agent, now: Date): Promise<number> {
  const before = await findReputation(tx, agent.id);
  return keepReputation(tx, agent, before?.parts.outcomes ?? judgeOutcomes(), { now, due: null });
}

async function keepReputation(
  tx: Tx,
  agent: Agent,
  outcomes: ReputationParts['outcomes'],
  { now, due }: { now: Date; due: Date | null },
): Promise<number> {
  const parts = partsOf(outcomes, agent);
  const next = new Date(now.getTime() + INTERVAL_MS);
  await saveReputation(tx, { agentId: agent.id, formulaVersion: FORMULA_VERSION, parts, now, next, due });
  return parts.score.score;
}

/** The initial reputation of a new agent. */
export async function startReputation(tx: Tx, agentId: string, now: Date): Promise<void> {
  const next = new Date(now.getTime() + INTERVAL_MS);
  await saveReputation(tx, { agentId, formulaVersion: FORMULA_VERSION, parts: newcomer, now, next, due: null });
}
