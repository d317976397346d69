import { AppError } from '../../lib/app-error.ts';
import type { Statement, Tx } from '../sql.ts';
import { findSilent, noneSilent } from './process-store.ts';

/**
 * Throws UNAVAILABLE when the process that is to run the requests was not heard of for seconds: others may take it for dead, and would run
 * them too. In the transaction that stores the requests, by the clock of the database: its next heartbeat comes before anybody may.
 */
export async function requireLiving(tx: Tx, requests: readonly Run[]): Promise<void> {
  const workers = workersOf(requests);
  if (workers.length === 0 || (await findSilent(tx, workers)).length === 0) return;
  throw new AppError(
    'UNAVAILABLE',
    'This process was cut off from the database. Nothing was done; repeat the request.',
    {
      details: { outcome: 'nothing' },
    },
  );
}

/** Flush guards that fail if any of these processes is silent. */
export const livingGuards = (requests: readonly Run[]): Statement[] => {
  const workers = workersOf(requests);
  return workers.length === 0 ? [] : [noneSilent(workers)];
};

interface Run {
  readonly worker: string | null;
}

const workersOf = (requests: readonly Run[]): string[] => [...new Set(requests.flatMap(({ worker }) => worker ?? []))];
