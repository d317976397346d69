import type { Sql, Tx } from '../../store/sql.ts';
import type { RegistryToken } from './registry-logs.ts';

const columns = `t.token_id as "tokenId", t.owner, t.registered_by as "registeredBy", t.uri, t.uri_fault as "uriFault",
  t.uri_block as "uriBlock", t.uri_index as "uriIndex", t.uri_by as "uriBy", t.wallet,
  t.metadata, t.registered_block as "registeredBlock", t.registered_hash as "registeredHash",
  t.changed_block as "changedBlock", t.changed_index as "changedIndex"`;

type TokenRow = Omit<RegistryToken, 'tokenId'> & { tokenId: string };

const toToken = (row: TokenRow): RegistryToken => ({ ...row, tokenId: BigInt(row.tokenId) });

/** The existing ones among these tokens. */
export async function findTokens(
  sql: Sql,
  chainId: number,
  tokenIds: readonly bigint[],
): Promise<Map<bigint, RegistryToken>> {
  const rows = await sql.query<TokenRow>(
    'find-registry-tokens',
    `select ${columns} from registry_token t where t.chain_id = $1 and t.token_id = any($2::numeric[])`,
    [chainId, tokenIds],
  );
  return new Map(rows.map((row) => [BigInt(row.tokenId), toToken(row)]));
}

/** Upserts tokens, deletes those that are null, and records a change for each. */
export async function writeTokens(
  tx: Tx,
  chainId: number,
  tokens: ReadonlyMap<bigint, RegistryToken | null>,
): Promise<void> {
  if (tokens.size === 0) return;
  const living = [...tokens.values()].filter((token) => token !== null);
  const gone = [...tokens].filter(([, token]) => token === null).map(([tokenId]) => tokenId);
  if (living.length > 0) await upsertTokens(tx, chainId, living);
  if (gone.length > 0)
    await tx.query(
      'remove-registry-tokens',
      'delete from registry_token where chain_id = $1 and token_id = any($2::numeric[])',
      [chainId, gone],
    );
  await tx.query(
    'record-registry-changes',
    `insert into registry_change (chain_id, token_id) select $1, unnest($2::numeric[])
     on conflict (chain_id, token_id) do update set number = excluded.number`,
    [chainId, [...tokens.keys()]],
  );
}

async function upsertTokens(tx: Tx, chainId: number, tokens: readonly RegistryToken[]): Promise<void> {
  const of = <T>(pick: (token: RegistryToken) => T): T[] => tokens.map(pick);
  await tx.query(
    'upsert-registry-tokens',
    `insert into registry_token (chain_id, token_id, owner, registered_by, uri, uri_fault, wallet, metadata, registered_block,
        registered_hash, changed_block, changed_index, uri_block, uri_index, uri_by)
     select $1, * from unnest($2::numeric[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[],
       $9::bigint[], $10::text[], $11::bigint[], $12::integer[],
       $13::bigint[], $14::integer[], $15::text[])
     on conflict (chain_id, token_id) do update set owner = excluded.owner, registered_by = excluded.registered_by,
       uri = excluded.uri, uri_fault = excluded.uri_fault, wallet = excluded.wallet, metadata = excluded.metadata,
       registered_block = excluded.registered_block, registered_hash = excluded.registered_hash,
       changed_block = excluded.changed_block, changed_index = excluded.changed_index,
       uri_block = excluded.uri_block, uri_index = excluded.uri_index, uri_by = excluded.uri_by`,
    [
      chainId,
      of((token) => token.tokenId),
      of((token) => token.owner),
      of((token) => token.registeredBy),
      of((token) => token.uri),
      of((token) => token.uriFault),
      of((token) => token.wallet),
      of((token) => JSON.stringify(token.metadata)),
      of((token) => token.registeredBlock),
      of((token) => token.registeredHash),
      of((token) => token.changedBlock),
      of((token) => token.changedIndex),
      of((token) => token.uriBlock),
      of((token) => token.uriIndex),
      of((token) => token.uriBy),
    ],
  );
}

export interface TokenChange {
  readonly number: bigint;
  readonly tokenId: bigint;
  /** Current state; null: burnt. */
  readonly token: RegistryToken | null;
}

/** Tokens that changed after a number, each once, in the order of their last change. */
export async function listChanges(sql: Sql, chainId: number, after: bigint, limit: number): Promise<TokenChange[]> {
  const rows = await sql.query<TokenRow & { number: bigint; id: string }>(
    'list-registry-changes',
    `select c.number, c.token_id as id, ${columns}
       from registry_change c left join registry_token t using (chain_id, token_id)
      where c.chain_id = $1 and c.number > $2 order by c.number limit $3`,
    [chainId, after, limit],
  );
  return rows.map(({ number, id, ...row }) => ({
    number,
    tokenId: BigInt(id),
    token: row.tokenId === null ? null : toToken(row),
  }));
}
