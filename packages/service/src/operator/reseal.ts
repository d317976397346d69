import type { Secrets } from '../lib/secrets.ts';
import type { Store } from '../store/database.ts';
import { resealAt, type SealedColumn, sealedAfter, sealedColumns } from './sealed-store.ts';

/** Outcome for the sealed values of a column. */
export interface Resealed {
  readonly column: string;
  /** Values that the newest SECRET_KEY seals from now on. */
  readonly sealedAnew: number;
  /** Values that none of the keys opens. */
  readonly unreadable: number;
}

const PAGE = 500;

/**
 * Seals everything that the database keeps sealed with the newest SECRET_KEY, so that older ones can be removed. A value that changes
 * meanwhile is left to whoever changes it, who has the newest key too; running it again does no harm.
 */
export async function reseal(ctx: Pick<Store, 'db'>, secrets: Secrets): Promise<Resealed[]> {
  const done: Resealed[] = [];
  for (const each of sealedColumns) done.push(await resealColumn(ctx, secrets, each));
  return done;
}

async function resealColumn({ db }: Pick<Store, 'db'>, secrets: Secrets, of: SealedColumn): Promise<Resealed> {
  let [after, sealedAnew, unreadable] = ['(0,0)', 0, 0];
  for (;;) {
    const rows = await sealedAfter(db, of, after, PAGE);
    for (const { place, sealed } of rows) {
      const anew = secrets.sealAnew(sealed);
      if (anew !== null) sealedAnew += await resealAt(db, of, { place, sealed, anew });
      else if (secrets.openOrNull(sealed) === null) unreadable += 1;
    }
    const last = rows.at(-1);
    if (last === undefined) return { column: `${of.table}.${of.column}`, sealedAnew, unreadable };
    after = last.place;
  }
}
