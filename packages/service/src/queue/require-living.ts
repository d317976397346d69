import type { Tx } from '../db/sql.ts';
import { AppError } from '../lib/app-error.ts';
import { findSilent } from './process-store.ts';

/**
 * Throws UNAVAILABLE when the process that is to run the requests was not heard of for seconds: others may take it for dead, and would run
 * them too. In the transaction that stores the requests, by the clock of the database: its next heartbeat comes before anybody may.
 */
export async function requireLiving(tx: Tx, requests: readonly { readonly worker: string | null }[]): Promise<void> {
  const workers = [...new Set(requests.flatMap(({ worker }) => worker ?? []))];
  if (workers.length === 0 || (await findSilent(tx, workers)).length === 0) return;
  throw new AppError(
    'UNAVAILABLE',
    'This process was cut off from the database. Nothing was done; repeat the request.',
    {
      details: { outcome: 'nothing' },
    },
  );
}
