import type { Statement } from '../../store/sql.ts';
import type { PaidOutcome } from './paid-outcome.ts';

/** Sums over the calls of one agent that ended in one batch. */
export interface AgentTally {
  readonly agentId: string;
  readonly completed: number;
  readonly failed: number;
  readonly durationMs: number;
}

/**
 * Adds to the sums of agents' calls and appends the outcomes of paid ones for later counting; one statement, because every ending call
 * waits for it.
 */
export const callsAdded = (tallies: readonly AgentTally[], outcomes: readonly PaidOutcome[], now: Date): Statement => ({
  name: 'add-calls',
  text: `with added as (
       insert into outcome (request_id, agent_id, account_id, wallet, amount_micro, is_good, ended_at)
       select *, $5::timestamptz from unnest($6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], $11::boolean[])
     ), due as (
       insert into outcome_due (request_id) select unnest($6::text[])
     )
     update agent_totals t
        set completed = t.completed + n.completed, failed = t.failed + n.failed, duration_ms = t.duration_ms + n.duration_ms
       from unnest($1::text[], $2::int[], $3::int[], $4::bigint[]) as n(agent_id, completed, failed, duration_ms)
      where t.agent_id = n.agent_id`,
  params: [
    tallies.map((t) => t.agentId),
    tallies.map((t) => t.completed),
    tallies.map((t) => t.failed),
    tallies.map((t) => Math.round(t.durationMs)),
    now,
    outcomes.map((each) => each.requestId),
    outcomes.map((each) => each.agentId),
    outcomes.map((each) => each.accountId),
    outcomes.map((each) => each.wallet),
    outcomes.map((each) => each.amountMicro),
    outcomes.map((each) => each.isGood),
  ],
});
