import { run, type Statement, type Tx } from '../../store/sql.ts';
import { checkSoon } from '../agent-store.ts';
import { type AgentTally, callsAdded } from './call-store.ts';
import type { PaidOutcome } from './paid-outcome.ts';

/** An ended call of an agent. `void`: it says nothing about the agent. */
export interface EndedCall {
  readonly agentId: string;
  readonly end: 'completed' | 'failed' | 'unreachable' | 'void';
  readonly durationMs: number;
  /** Evidence about the agent; null when the call was free, or says nothing about the agent. */
  readonly outcome: PaidOutcome | null;
}

/** Adds ended calls to the records of their agents in the caller's transaction; makes a check of unreachable agents due. */
export async function recordCalls(tx: Tx, calls: readonly EndedCall[], now: Date): Promise<void> {
  if (calls.length === 0) return;
  await run(tx, callsRecorded(calls, now));
  const unreachable = calls.filter(({ end }) => end === 'unreachable').map(({ agentId }) => agentId);
  if (unreachable.length > 0) await checkSoon(tx, unreachable, now);
}

/** Statement that adds ended calls to the records of their agents; it makes no checks due. */
export const callsRecorded = (calls: readonly EndedCall[], now: Date): Statement =>
  callsAdded(
    talliesOf(calls),
    calls.flatMap(({ outcome }) => outcome ?? []),
    now,
  );

function talliesOf(calls: readonly EndedCall[]): AgentTally[] {
  const tallies = new Map<string, { completed: number; failed: number; durationMs: number }>();
  for (const { agentId, end, durationMs } of calls) {
    const tally = tallies.get(agentId) ?? { completed: 0, failed: 0, durationMs: 0 };
    tallies.set(agentId, tally);
    if (end === 'completed') {
      tally.completed += 1;
      tally.durationMs += durationMs;
    } else if (end !== 'void') tally.failed += 1;
  }
  // In the order of ids, so that batches of two processes take locks in the same order.
  const sorted = [...tallies].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([agentId, tally]) => ({ agentId, ...tally }));
}
