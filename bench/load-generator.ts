import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadAnswer, LoadJob, LoadResult } from './load-jobs.ts';
import type { StopList } from './stop-list.ts';

export interface LoadGenerator {
  /** Warms up, measures, and checks every answer; throws with the first answer that is not as asked. */
  run(job: LoadJob): Promise<LoadResult>;
}

/** Starts the process that makes the calls. */
export function startLoadGenerator(stops: StopList): LoadGenerator {
  const child = fork(fileURLToPath(new URL('load-child.ts', import.meta.url)), { execArgv: [] });
  const ended = once(child, 'exit');
  stops.add(async () => {
    if (child.connected) child.disconnect();
    await ended;
  });
  return {
    async run(job) {
      child.send(job);
      const [answer] = (await Promise.race([once(child, 'message'), ended])) as [LoadAnswer | number | null];
      if (typeof answer !== 'object' || answer === null) throw new Error('the load generator ended');
      if ('error' in answer) throw new Error(answer.error);
      return answer.result;
    },
  };
}
