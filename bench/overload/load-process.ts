import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StopList } from '../stop-list.ts';
import type { LoadAnswer } from './load-child.ts';
import type { OpenLoop, OpenLoopResult } from './open-loop.ts';

export interface LoadProcess {
  run(job: OpenLoop): Promise<OpenLoopResult>;
}

/**
 * The measuring process shares a processor with the database, the agents and the flood: its own wait for that processor is no time of the node. It
 * goes before the others where the system allows it (Linux, root).
 */
function goFirst(pid: number): void {
  try {
    execFileSync('chrt', ['-f', '-p', '1', String(pid)], { stdio: 'ignore' });
  } catch {
    console.log('what measures has no priority: its own wait for a processor counts as the time of the node.');
  }
}

export function startLoadProcess(stops: StopList, { isMeasuring = false } = {}): LoadProcess {
  const child = fork(fileURLToPath(new URL('load-child.ts', import.meta.url)), {
    execArgv: [],
    serialization: 'advanced',
  });
  if (isMeasuring && child.pid !== undefined) goFirst(child.pid);
  const ended = once(child, 'exit');
  stops.add(async () => {
    if (child.connected) child.disconnect();
    await ended;
  });
  return {
    async run(job) {
      child.send(job);
      const [answer] = (await Promise.race([once(child, 'message'), ended])) as [LoadAnswer | number | null];
      if (typeof answer !== 'object' || answer === null) throw new Error('the load process ended');
      if ('error' in answer) throw new Error(answer.error);
      return answer.result;
    },
  };
}
