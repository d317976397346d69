import type { Sql } from '../../db/sql.ts';

/** What the node is paying out and has not recorded as paid: it may have left the wallet or not. */
export async function sumOpenPayouts(sql: Sql, chainId: number): Promise<bigint> {
  const [row] = await sql.query<{ sum: bigint }>(
    'sum-open-payouts',
    `select coalesce(sum(value_micro), 0)::bigint as sum from chain_payment
      where chain_id = $1 and direction = 'out' and state in ('claimed', 'broadcasting')`,
    [chainId],
  );
  return row?.sum ?? 0n;
}
