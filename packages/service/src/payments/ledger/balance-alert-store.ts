import type { Sql, Tx } from '../../store/sql.ts';

/** Limit of an account's low-balance alert; null: it has none. */
export async function findBalanceAlert(sql: Sql, accountId: string): Promise<bigint | null> {
  const [row] = await sql.query<{ belowMicro: bigint }>(
    'find-balance-alert',
    'select below_micro as "belowMicro" from balance_alert where account_id = $1',
    [accountId],
  );
  return row?.belowMicro ?? null;
}

/** Sets or removes the limit. A changed limit sends its event again. */
export const saveBalanceAlert = (sql: Sql, accountId: string, belowMicro: bigint | null): Promise<unknown> =>
  belowMicro === null
    ? sql.query('drop-balance-alert', 'delete from balance_alert where account_id = $1', [accountId])
    : sql.query(
        'save-balance-alert',
        `insert into balance_alert as b (account_id, below_micro) values ($1, $2)
         on conflict (account_id) do update set below_micro = excluded.below_micro,
           is_told = b.is_told and b.below_micro = excluded.below_micro`,
        [accountId, belowMicro],
      );

export const HAS_ALERTS = 'exists (select from balance_alert)';

export interface CrossedAlert {
  readonly accountId: string;
  readonly treasuryId: string | null;
  readonly availableMicro: bigint;
  readonly belowMicro: bigint;
  readonly isLow: boolean;
}

/** A turn of alerts. */
export interface JudgedAlerts {
  /** Accounts with a balance that crossed the limit in either direction. */
  readonly crossed: readonly string[];
  /** The last account of the turn; null: there is none. */
  readonly last: string | null;
}

/** Judges at most `limit` alerts of accounts after this one, in the order of their ids. */
export async function judgeAlerts(sql: Sql, after: string, limit: number): Promise<JudgedAlerts> {
  const [row] = await sql.query<JudgedAlerts>(
    'judge-balance-alerts',
    `with turn as (select * from balance_alert where account_id > $1 order by account_id limit $2)
     select max(b.account_id) as last,
            coalesce(array_agg(b.account_id) filter (where b.is_told <> (${available} < b.below_micro)), '{}') as crossed
       from turn b left join ${treasury}`,
    [after, limit],
  );
  return row ?? { last: null, crossed: [] };
}

const treasury = `ledger_account t on t.account_id = b.account_id and t.kind = 'treasury' and t.asset is null`;
const available = 'coalesce(t.posted_micro - t.held_micro, 0)';

/** Marks and returns the alerts of these accounts with a balance still beyond the limit. */
export const markCrossedAlerts = (tx: Tx, accountIds: readonly string[]): Promise<CrossedAlert[]> =>
  tx.query<CrossedAlert>(
    'mark-crossed-alerts',
    `with crossed as (
       select b.account_id, t.id as treasury_id, ${available} as available, ${available} < b.below_micro as is_low
         from balance_alert b left join ${treasury}
        where b.account_id = any($1) and b.is_told <> (${available} < b.below_micro)
        order by b.account_id for no key update of b
     )
     update balance_alert b set is_told = c.is_low from crossed c where b.account_id = c.account_id
     returning b.account_id as "accountId", c.treasury_id as "treasuryId", c.available as "availableMicro",
               b.below_micro as "belowMicro", c.is_low as "isLow"`,
    [accountIds],
  );
