import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StopList } from '../stop-list.ts';
import type { LoadAnswer } from './load-child.ts';
import type { OpenLoop, OpenLoopResult } from './open-loop.ts';

export interface LoadProcess {
  run(job: OpenLoop): Promise<OpenLoopResult>;
}

export function startLoadProcess(stops: StopList): LoadProcess {
  const child = fork(fileURLToPath(new URL('load-child.ts', import.meta.url)), {
    execArgv: [],
    serialization: 'advanced',
  });
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
