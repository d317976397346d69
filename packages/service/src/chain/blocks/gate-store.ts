import type { Sql } from '../../store/sql.ts';

/** `head`, `safe`: blocks that the RPC node tells. The others are followers of the head, and their block is the head that they have seen all of. */
export type GateName = 'head' | 'safe' | 'registry' | 'transfers' | 'payments';

export interface GateRow {
  readonly name: GateName;
  readonly block: bigint;
  /** Time at which the block last rose. */
  readonly movedAt: Date;
  readonly reason: string | null;
}

export interface GateNews {
  readonly name: GateName;
  /** null: as before. */
  readonly block: bigint | null;
  readonly reason: string | null;
}

/** Notes where gates stand. Writes nothing where nothing changed. */
export async function recordGates(sql: Sql, chainId: number, gates: readonly GateNews[], now: Date): Promise<void> {
  await sql.query(
    'record-chain-gates',
    `insert into chain_gate as g (chain_id, name, block_number, moved_at, reason)
     select $1, n.name, coalesce(n.block, o.block_number, 0), $5, n.reason
       from unnest($2::text[], $3::bigint[], $4::text[]) as n(name, block, reason)
       left join chain_gate o on o.chain_id = $1 and o.name = n.name
      where o.name is null or o.block_number <> n.block or o.reason is distinct from n.reason
      order by n.name
     on conflict (chain_id, name) do update
        set block_number = excluded.block_number, reason = excluded.reason,
            moved_at = case when excluded.block_number > g.block_number then excluded.moved_at else g.moved_at end`,
    [chainId, gates.map(({ name }) => name), gates.map(({ block }) => block), gates.map(({ reason }) => reason), now],
  );
}

export const listGates = (sql: Sql, chainId: number): Promise<GateRow[]> =>
  sql.query<GateRow>(
    'list-chain-gates',
    `select name, block_number as block, moved_at as "movedAt", reason from chain_gate where chain_id = $1 order by name`,
    [chainId],
  );
