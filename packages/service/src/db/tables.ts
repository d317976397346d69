import type { Generated } from 'kysely';

/** One row per living process of this node; see queue/heartbeat.ts. */
export interface ProcessTable {
  id: string;
  worker_ids: string[];
  started_at: Generated<Date>;
  seen_at: Generated<Date>;
  label: string;
}

/** Kysely's view of the schema: the tables that statements are built for rather than written as SQL. */
export interface Tables {
  process: ProcessTable;
}
