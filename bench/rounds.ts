import type { LoadGenerator } from './load-generator.ts';
import type { LoadJob, LoadResult } from './load-jobs.ts';
import { median } from './measure.ts';

export interface Contestant {
  readonly name: string;
  readonly job: LoadJob;
  /** Runs before the next contestant's turn. */
  readonly after?: (result: LoadResult) => Promise<void>;
}

/** The medians of all rounds of one contestant, and its calls per second in each. */
export interface RoundsResult extends LoadResult {
  readonly eachPerSecond: readonly number[];
}

/** Measures everybody in turn, round after round: what else the machine does meanwhile meets all of them alike. */
export async function runRounds(
  load: LoadGenerator,
  rounds: number,
  contestants: readonly Contestant[],
): Promise<RoundsResult[]> {
  const results = contestants.map((): LoadResult[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, { job, after }] of contestants.entries()) {
      const result = await load.run(job);
      results[index]?.push(result);
      await after?.(result);
    }
  return results.map(toRoundsResult);
}

function toRoundsResult(results: readonly LoadResult[]): RoundsResult {
  const of = (read: (result: LoadResult) => number) => median(results.map(read));
  return {
    calls: results.reduce((sum, { calls }) => sum + calls, 0),
    perSecond: of((result) => result.perSecond),
    p50Ms: of((result) => result.p50Ms),
    p99Ms: of((result) => result.p99Ms),
    generatorCpu: of((result) => result.generatorCpu),
    signMs: of((result) => result.signMs ?? 0),
    eachPerSecond: results.map(({ perSecond }) => perSecond),
  };
}

/** Speed of `ours` as a multiple of the peer's: the median of the rounds' ratios, each between neighbours in time. */
export const ratioOf = (ours: RoundsResult, peer: RoundsResult): number =>
  median(ours.eachPerSecond.map((perSecond, round) => perSecond / (peer.eachPerSecond[round] ?? Number.NaN)));
