import { until as poll } from '../../src/lib/concurrency/until.ts';

/** For how long tests wait for what has to come: longer than a machine that is busy with something else takes for it. */
export const WAIT_MS = 60_000;

/** Asks until the answer is something else than null or false, and returns it. Throws when nothing comes in time. `firstMs`: the shortest pause. */
export async function until<T>(ask: () => Promise<T>, firstMs = 2): Promise<NonNullable<Exclude<T, false>>> {
  const answered = async () => {
    const answer = await ask();
    return answer === false ? null : answer;
  };
  const came = await poll(answered, { timeoutMs: WAIT_MS, firstMs, maxMs: Math.max(firstMs, 50) });
  if (came === null) throw new Error(`did not come within ${WAIT_MS} ms: ${ask.name || ask}`);
  return came as NonNullable<Exclude<T, false>>;
}
