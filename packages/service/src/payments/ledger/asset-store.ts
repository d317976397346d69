import { type TokenFacts, tokenKey } from '../../chain/chain-info.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import type { LedgerAsset } from './asset-account.ts';

/** A token of a network, as the books know it. */
export interface AssetRow {
  /** CAIP-19. */
  readonly id: string;
  readonly chainId: number;
  readonly token: string;
  /** Accounts of the default asset have plain ids. */
  readonly isDefault: boolean;
  /** The token's EIP-712 domain, as last read from its chain; null: recorded by an earlier release. */
  readonly domain: TokenFacts | null;
}

export const listAssets = (sql: Sql): Promise<AssetRow[]> =>
  sql.query<AssetRow>(
    'list-assets',
    `select id, chain_id as "chainId", token, is_default as "isDefault",
            case when domain_separator is not null then
              json_build_object('name', token_name, 'version', token_version, 'domainSeparator', domain_separator) end as domain
       from asset order by is_default desc, id`,
  );

/** The asset of a token in the ledger; the default asset if the books have no other for it. */
export async function findLedgerAsset(
  sql: Sql,
  { chainId, token }: Pick<AssetRow, 'chainId' | 'token'>,
): Promise<LedgerAsset> {
  const [row] = await sql.query<{ id: string }>(
    'find-ledger-asset',
    'select id from asset where chain_id = $1 and token = $2 and not is_default',
    [chainId, token],
  );
  return row?.id ?? null;
}

/** True if the ledger has a transfer. */
export async function hasTransfers(sql: Sql): Promise<boolean> {
  const rows = await sql.query('has-transfers', 'select from transfer limit 1');
  return rows.length > 0;
}

/** Records assets, in the caller's transaction; of one that is known, the domain of its token. */
export async function insertAssets(tx: Tx, assets: readonly AssetRow[]): Promise<void> {
  await tx.query(
    'insert-assets',
    `insert into asset (id, chain_id, token, is_default, token_name, token_version, domain_separator, token_key)
     select * from unnest($1::text[], $2::int[], $3::text[], $4::bool[], $5::text[], $6::text[], $7::text[], $8::text[])
     on conflict (id) do update set token_name = excluded.token_name, token_version = excluded.token_version,
       domain_separator = excluded.domain_separator`,
    [
      assets.map(({ id }) => id),
      assets.map(({ chainId }) => chainId),
      assets.map(({ token }) => token),
      assets.map(({ isDefault }) => isDefault),
      assets.map(({ domain }) => domain?.name ?? null),
      assets.map(({ domain }) => domain?.version ?? null),
      assets.map(({ domain }) => domain?.domainSeparator ?? null),
      assets.map(tokenKey),
    ],
  );
}

/** Deletes the assets of books without transfers, as of a node that was set up again. */
export const deleteAssets = (tx: Tx): Promise<unknown> => tx.query('delete-assets', 'delete from asset');

/** Locks the assets until the transaction ends. */
export const lockAssets = (tx: Tx): Promise<unknown> =>
  tx.query('lock-assets', 'lock table asset in share row exclusive mode');
