import type { Queryable } from './server-position-store.ts';

/** A database that lacks acknowledged commits, as a process found it. */
export interface Hole {
  readonly reason: string;
  readonly foundBy: string;
  readonly foundAt: Date;
  readonly acceptedAt: Date | null;
  readonly acceptedBy: string | null;
}

export interface Holes {
  readonly open: Pick<Hole, 'reason' | 'foundBy' | 'foundAt'> | null;
  /** Time at which an operator last accepted a hole, in microseconds; 0: never. */
  readonly acceptedAt: bigint;
}

const UNDEFINED_TABLE = '42P01';

/** Holes that were found in this database. A schema from before they were recorded has none. */
export async function readHoles(client: Queryable): Promise<Holes> {
  try {
    const { rows } = await client.query<
      Pick<Hole, 'reason' | 'foundBy' | 'foundAt'> & { acceptedMicro: string | null }
    >(
      `select o.reason, o.found_by as "foundBy", o.found_at as "foundAt", a.micro::text as "acceptedMicro"
         from (select (extract(epoch from max(accepted_at)) * 1000000)::int8 as micro from database_hole) a
         left join database_hole o on o.is_open`,
    );
    const [row] = rows;
    const { reason, foundBy, foundAt } = row ?? {};
    return {
      open: reason && foundBy && foundAt ? { reason, foundBy, foundAt } : null,
      acceptedAt: BigInt(row?.acceptedMicro ?? 0),
    };
  } catch (error) {
    if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return { open: null, acceptedAt: 0n };
    throw error;
  }
}

/**
 * Records a hole for all processes, unless one is open. The only change on a server that lacks commits; it waits for no standby, which may
 * be lost as well.
 */
export async function insertHole(
  client: Queryable,
  { reason, foundBy }: Pick<Hole, 'reason' | 'foundBy'>,
): Promise<void> {
  await client.query('begin');
  await client.query('set local synchronous_commit = local');
  await client.query(
    'insert into database_hole (reason, found_by) values ($1, $2) on conflict (is_open) where is_open do nothing',
    [reason, foundBy],
  );
  await client.query('commit');
}

/** Closes the open hole on an operator's word. Returns it; null if there is none. */
export async function acceptHole(client: Queryable, acceptedBy: string): Promise<Hole | null> {
  const { rows } = await client.query<Hole>(
    `update database_hole set is_open = false, accepted_at = now(), accepted_by = $1 where is_open
     returning reason, found_by as "foundBy", found_at as "foundAt", accepted_at as "acceptedAt", accepted_by as "acceptedBy"`,
    [acceptedBy],
  );
  return rows[0] ?? null;
}
