import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../lib/app-error.ts';

/**
 * Runs `work` for any number of callers at once. They wait so long for a run, counted from its start; while it still hangs, callers
 * are refused, and no second one begins.
 */
export function createSharedRun(work: () => Promise<void>, patienceMs: number): { run(): Promise<void> } {
  let answered: Promise<void> | null = null;
  // A run belongs to no caller: not to one that is in the middle of a transaction, either.
  const outside = AsyncLocalStorage.snapshot();
  return {
    run() {
      if (answered) return answered;
      const working = outside(work);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(behind()), patienceMs);
      });
      answered = Promise.race([working, late]);
      answered.catch(() => undefined);
      const end = () => {
        clearTimeout(timer);
        answered = null;
      };
      working.then(end, end);
      return answered;
    },
  };
}

const behind = () =>
  new AppError(
    'UNAVAILABLE',
    'The node does not know the latest changes of the registry at the moment. Repeat the request.',
    {
      details: { outcome: 'nothing' },
    },
  );
