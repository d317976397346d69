import type { Sql } from '../../store/sql.ts';
import { type AssetKey, tokenKey } from '../chain-info.ts';

/**
 * `head`, `safe`: blocks that the RPC node reports. The others are followers of the head, with the head up to which they have seen
 * everything.
 */
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

/** Selects the gates of a chain, and of the followers of a token on it; without `token`: of its USDC. */
export type GatesOf = Pick<AssetKey, 'chainId'> & Partial<Pick<AssetKey, 'token'>>;

const ofChain: ReadonlySet<GateName> = new Set(['head', 'safe', 'registry']);

/** Suffix of the name of a gate that each token of a chain has; empty for its USDC. */
function suffixOf({ chainId, token }: GatesOf): string {
  const key = token === undefined ? '' : tokenKey({ chainId, token });
  return key === '' ? '' : `@${key}`;
}

/** Records the positions of gates. Writes nothing if nothing changed. */
export async function recordGates(sql: Sql, of: GatesOf, gates: readonly GateNews[], now: Date): Promise<void> {
  const { chainId } = of;
  const names = gates.map(({ name }) => (ofChain.has(name) ? name : name + suffixOf(of)));
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
    [chainId, names, gates.map(({ block }) => block), gates.map(({ reason }) => reason), now],
  );
}

export const listGates = (sql: Sql, of: GatesOf): Promise<GateRow[]> =>
  sql.query<GateRow>(
    'list-chain-gates',
    `select split_part(name, '@', 1) as name, block_number as block, moved_at as "movedAt", reason from chain_gate
      where chain_id = $1 and (name = any($2) or substring(name from '@.*') is not distinct from $3) order by name`,
    [of.chainId, [...ofChain], suffixOf(of) || null],
  );
