import type { AgentSortField } from '@agent-network/contracts/agents/agent-search';
import type { Sql } from '../../db/sql.ts';

const KEPT_MS = 60_000;

/** For each first key of an order, the values of some agents, ascending: tells how to search, never what is found. */
export type Sample = Partial<Record<AgentSortField, readonly number[]>>;

const samples = new WeakMap<object, { readonly readAtMs: number; readonly values: Sample }>();

/** The sample of a database, taken anew from time to time. */
export async function sampleOf(db: object, sql: Sql): Promise<Sample> {
  const kept = samples.get(db);
  if (kept && performance.now() - kept.readAtMs < KEPT_MS) return kept.values;
  const rows = await sql.query<{ reputation: number; price: bigint; hour: bigint }>(
    'sample-agents',
    `select l.reputation, l.price_micro as price, l.per_hour_micro as hour from (
         select (random() * last)::int as slot from (select max(slot) as last from agent_listing where capability = '') l
           cross join generate_series(1, 1000) as n offset 0
       ) s join agent_listing l on l.slot = s.slot where l.capability = ''`,
  );
  const ascending = (values: number[]) => values.sort((a, b) => a - b);
  const values = {
    reputation: ascending(rows.map(({ reputation }) => reputation)),
    'rates.perRequest': ascending(rows.map(({ price }) => Number(price))),
    'rates.perHour': ascending(rows.map(({ hour }) => Number(hour))),
  };
  samples.set(db, { readAtMs: performance.now(), values });
  return values;
}
