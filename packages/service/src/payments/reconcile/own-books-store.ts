import { type AssetKey, tokenKey } from '../../chain/chain-info.ts';
import type { Sql } from '../../store/sql.ts';

/**
 * Chains other than this one that the books have payments on, without those of further networks. Every key is registered before its chain has
 * a payment.
 */
export async function listOtherChains(sql: Sql, chainId: number): Promise<number[]> {
  const rows = await sql.query<{ chainId: number }>(
    'list-other-chains',
    `select distinct s.chain_id as "chainId" from chain_signer s
      where s.chain_id <> $1 and exists (select from chain_payment p where p.chain_id = s.chain_id)
        and (not exists (select from asset a where a.chain_id = s.chain_id and not a.is_default)
          or exists (select from asset a where a.chain_id = s.chain_id and a.is_default))`,
    [chainId],
  );
  return rows.map((row) => row.chainId);
}

/**
 * Wallets of the books in an asset: those that owed or paid something in it, that channels were claimed for, and that the oldest and the
 * newest payment on its chain came to. Few rows are read, however many payments there are: of several wallets, one between these may escape, if it has
 * only been paid.
 */
export async function listWallets(sql: Sql, { chainId, token }: AssetKey): Promise<string[]> {
  const rows = await sql.query<{ address: string }>(
    'list-wallets-of-books',
    `select s.address from chain_signer s
      where s.chain_id = $1 and exists (select from chain_payment p
        where p.chain_id = $1 and p.token = $2 and p.from_address = s.address and p.direction = 'out')
     union
     select receiver from channel_receiver where chain_id = $1 and token = $3
     union
     (select to_address from chain_payment
       where chain_id = $1 and block_hash is not null and direction = 'in' and state = 'settled'
       order by block_number limit 1)
     union
     (select to_address from chain_payment
       where chain_id = $1 and block_hash is not null and direction = 'in' and state = 'settled'
       order by block_number desc limit 1)
     order by 1`,
    [chainId, token, tokenKey({ chainId, token })],
  );
  return rows.map(({ address }) => address);
}
