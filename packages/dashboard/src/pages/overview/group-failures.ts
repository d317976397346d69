import type { Overview } from '@agent-network/contracts/invocations/figures';

type Failure = Overview['recentFailures'][number];

/** The latest of failures that are alike, and how many there are. */
export interface FailureGroup extends Failure {
  readonly count: number;
}

/** Failures of one agent with the same code and message as one, at the place of the latest. They come newest first. */
export function groupFailures(failures: readonly Failure[]): readonly FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const failure of failures) {
    const key = JSON.stringify([failure.agentId, failure.code, failure.message]);
    const known = groups.get(key);
    groups.set(key, known ? { ...known, count: known.count + 1 } : { ...failure, count: 1 });
  }
  return [...groups.values()];
}
