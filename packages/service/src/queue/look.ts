import type { HasDb } from '../db/database.ts';
import type { Sql } from '../db/sql.ts';
import { within } from '../lib/concurrency/within.ts';
import type { Log } from '../lib/log/log.ts';

/** Says whether a recurring job may have something to do. "Yes" in vain costs a run; "no" in vain is a fault. */
export interface Look {
  /**
   * SQL condition over `given.now` and `given.chain_id`, asked at every interval of the job. On a large table it reads the first entry of
   * an index, whatever the statistics say: `(select min(due_at) from thing) <= given.now`, `(select … order by … limit 1) is not null`.
   */
  readonly sql?: string;
  /** Conditions that only this process knows; either is enough. */
  readonly isDue?: () => boolean | Promise<boolean>;
}

/** Parameters of the conditions. */
export interface LookGiven {
  readonly now: Date;
  readonly chainId: number;
}

export interface Looking {
  readonly name: string;
  readonly look: Look | null;
}

export interface Looks {
  /** The names of those that may have something to do, by one statement for all. What is not known in time counts as "yes". */
  find(asked: readonly Looking[]): Promise<Set<string>>;
}

/** Longest wait for an answer: a locked table or a silent chain of one job must not hold up the others. */
const PATIENCE_MS = 500;

export function createLooks(ctx: HasDb & { log: Log }, given: () => LookGiven, all: readonly Looking[]): Looks {
  let pending: Promise<unknown> | null = null;
  const silent = new Set<string>();
  let statement: string | null = null;

  /** Null when not known: asked before and not answered yet, or failed. */
  async function askDatabase(names: readonly string[]): Promise<readonly string[] | null> {
    if (names.length === 0) return [];
    if (pending) return null;
    statement ??= statementOf(all);
    const asking = findDue(ctx.db, statement, given(), names).catch((err: unknown) => {
      ctx.log.warn({ err }, 'cannot look for recurring work: all of it runs');
      return null;
    });
    pending = asking.finally(() => {
      pending = null;
    });
    return within(asking, PATIENCE_MS, null);
  }

  async function askOwn({ name, look }: Looking): Promise<boolean> {
    const { isDue } = look ?? {};
    if (!isDue) return look === null;
    if (silent.has(name)) return true;
    silent.add(name);
    const asking = (async () => isDue())()
      .catch(() => true)
      .finally(() => silent.delete(name));
    return within(asking, PATIENCE_MS, true);
  }

  return {
    async find(asked) {
      const inDatabase = asked.flatMap(({ name, look }) => (look?.sql === undefined ? [] : [name]));
      const [due, own] = await Promise.all([askDatabase(inDatabase), Promise.all(asked.map(askOwn))]);
      return new Set([...(due ?? inDatabase), ...asked.flatMap(({ name }, index) => (own[index] ? [name] : []))]);
    },
  };
}

/** One condition for each name, evaluated only for those that are asked about. */
const statementOf = (looks: readonly Looking[]): string => {
  const cases = looks.flatMap(({ name, look }) =>
    look?.sql === undefined ? [] : [`case when not '${name}' = any($3) then null when ${look.sql} then '${name}' end`],
  );
  return `select array_remove(array[${cases.join(',\n')}]::text[], null) as due
            from (select $1::timestamptz as now, $2::bigint as chain_id) given`;
};

async function findDue(
  sql: Sql,
  statement: string,
  { now, chainId }: LookGiven,
  names: readonly string[],
): Promise<readonly string[]> {
  const [row] = await sql.query<{ due: string[] }>('recurring-look', statement, [now, chainId, names]);
  return row?.due ?? [];
}
