import { until } from '../../../src/lib/concurrency/until.ts';
import { askDatabase } from '../../support/books.ts';

const OPEN = `
  select 'request ' || id || ' is ' || status as open from invocation where completed_at is null
  union all
  select purpose || ' ' || subject_id || ' is ' || state from chain_payment where state not in ('settled', 'failed')
  union all
  select 'hold ' || id || ' has not ended' from hold where ended_at is null`;

/** Work that some process still has to finish, in words; empty: none. */
export async function openWork(databaseUrl: string): Promise<string[]> {
  return (await askDatabase<{ open: string }>(databaseUrl, OPEN)).map(({ open }) => open);
}

/** Waits until nothing is open; answers what is still open in the end. */
export async function untilNothingIsOpen(databaseUrl: string, timeoutMs: number): Promise<string[]> {
  const isDone = async () => ((await openWork(databaseUrl)).length === 0 ? true : null);
  await until(isDone, { timeoutMs, firstMs: 10, maxMs: 250 });
  return openWork(databaseUrl);
}
