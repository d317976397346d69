import type { Sql } from '../../db/sql.ts';

/** Sum of payouts not recorded as paid: the money may or may not have left the wallet. */
export async function sumOpenPayouts(sql: Sql, chainId: number): Promise<bigint> {
  const [row] = await sql.query<{ sum: bigint }>(
    'sum-open-payouts',
    `select coalesce(sum(value_micro), 0)::bigint as sum from chain_payment
      where chain_id = $1 and direction = 'out' and state in ('claimed', 'broadcasting')`,
    [chainId],
  );
  return row?.sum ?? 0n;
}
