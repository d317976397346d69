import { within } from '../../lib/concurrency/within.ts';
import type { Log } from '../../lib/telemetry/log.ts';
import type { Store } from '../database.ts';
import type { Sql } from '../sql.ts';

/** Says whether a recurring job may have something to do. "Yes" in vain costs a run; "no" in vain is a fault. */
export interface WorkCondition {
  /**
   * SQL condition over `given.now`, `given.chain_id` and `given.token`, evaluated at every interval of the job. Write it so that on a large
   * table it reads the first entry of an index, regardless of statistics: `(select min(due_at) from thing) <= given.now`, `(select … order
   * by … limit 1) is not null`.
   */
  readonly sql?: string;
  /** Conditions that only this process knows; either is enough. */
  readonly isDue?: () => boolean | Promise<boolean>;
}

/** Parameters of the conditions. */
export interface WorkParameters {
  readonly now: Date;
  readonly chainId: number;
  /** The token in tables with a chain id, see `tokenKey`. */
  readonly token: string;
}

export interface AskedJob {
  readonly name: string;
  readonly hasWork: WorkCondition | null;
}

export interface DueWork {
  /** Names of jobs that may have work, by one statement for all. An answer that is late counts as "yes". */
  find(asked: readonly AskedJob[]): Promise<Set<string>>;
}

/** Maximum wait for an answer, so that a locked table or a silent chain of one job does not delay the others. */
const PATIENCE_MS = 500;

export function createDueWork(
  ctx: Pick<Store, 'db'> & { log: Log },
  given: () => WorkParameters,
  all: readonly AskedJob[],
): DueWork {
  let pending: Promise<unknown> | null = null;
  const silent = new Set<string>();
  let statement: string | null = null;

  /** Null when not known: asked before and not answered yet, or failed. */
  async function askDatabase(names: readonly string[]): Promise<readonly string[] | null> {
    if (names.length === 0) return [];
    if (pending) return null;
    statement ??= statementOf(all);
    const asking = findDue(ctx.db, statement, given(), names).catch((err: unknown) => {
      ctx.log.warn({ err }, 'due-work query failed; running every recurring job');
      return null;
    });
    pending = asking.finally(() => {
      pending = null;
    });
    return within(asking, PATIENCE_MS, null);
  }

  async function askOwn({ name, hasWork }: AskedJob): Promise<boolean> {
    const { isDue } = hasWork ?? {};
    if (!isDue) return hasWork === null;
    if (silent.has(name)) return true;
    silent.add(name);
    const asking = (async () => isDue())()
      .catch(() => true)
      .finally(() => silent.delete(name));
    return within(asking, PATIENCE_MS, true);
  }

  return {
    async find(asked) {
      const inDatabase = asked.flatMap(({ name, hasWork }) => (hasWork?.sql === undefined ? [] : [name]));
      const [due, own] = await Promise.all([askDatabase(inDatabase), Promise.all(asked.map(askOwn))]);
      return new Set([...(due ?? inDatabase), ...asked.flatMap(({ name }, index) => (own[index] ? [name] : []))]);
    },
  };
}

/** One condition for each name, evaluated only for the queried ones. */
const statementOf = (jobs: readonly AskedJob[]): string => {
  const cases = jobs.flatMap(({ name, hasWork }) =>
    hasWork?.sql === undefined
      ? []
      : [`case when not '${name}' = any($3) then null when ${hasWork.sql} then '${name}' end`],
  );
  return `select array_remove(array[${cases.join(',\n')}]::text[], null) as due
            from (select $1::timestamptz as now, $2::bigint as chain_id, $4::text as token) given`;
};

async function findDue(
  sql: Sql,
  statement: string,
  { now, chainId, token }: WorkParameters,
  names: readonly string[],
): Promise<readonly string[]> {
  const [row] = await sql.query<{ due: string[] }>('due-work', statement, [now, chainId, names, token]);
  return row?.due ?? [];
}
