import type pg from 'pg';
import { type Asked, askFor, type Times, timesOf } from './ask.ts';

export interface Trimming {
  readonly calls: Times;
  readonly seconds: number;
  /** Rows that retention changed or removed meanwhile, by table. */
  readonly rows: Readonly<Record<string, number>>;
}

/** Queries of progress; sessions report their changes at most once a second. */
const counted = {
  'results and inputs': 'select n_tup_upd as n from pg_stat_user_tables where relname = $1',
  chunks: 'select n_tup_del as n from pg_stat_user_tables where relname = $1',
  events: 'select n_tup_del as n from pg_stat_user_tables where relname = $1',
  deliveries: 'select n_tup_del as n from pg_stat_user_tables where relname = $1',
} as const;
const tables: Readonly<Record<keyof typeof counted, string>> = {
  'results and inputs': 'invocation',
  chunks: 'invocation_chunk',
  events: 'event',
  deliveries: 'webhook_delivery',
};
/** A call paid from a treasury changes its row twice: when its work begins, and when it ends. */
const UPDATES_OF_CALL = 2;

/** Calls the node, one call after the other, while it removes what is past its retention. */
export async function callWhileTrimming(node: Asked, client: pg.Client, seconds: number): Promise<Trimming> {
  const [call] = node.questions;
  if (!call) throw new Error('there is no call to make');
  const before = await readCounts(client);
  const startMs = performance.now();
  const latencies = await askFor(node, call, seconds * 1000);
  const took = (performance.now() - startMs) / 1000;
  const after = await readCounts(client);
  const rows = Object.fromEntries(
    Object.keys(tables).map((name) => {
      const ofCalls = name === 'results and inputs' ? latencies.length * UPDATES_OF_CALL : 0;
      return [name, Math.max(0, (after[name] ?? 0) - (before[name] ?? 0) - ofCalls)];
    }),
  );
  return { calls: timesOf(latencies), seconds: took, rows };
}

async function readCounts(client: pg.Client): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [name, text] of Object.entries(counted)) {
    const { rows } = await client.query<{ n: string }>(text, [tables[name as keyof typeof tables]]);
    counts[name] = Number(rows[0]?.n ?? 0);
  }
  return counts;
}
