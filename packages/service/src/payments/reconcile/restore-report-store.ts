import { tokenKey } from '../../chain/chain-info.ts';
import type { Sql } from '../../store/sql.ts';
import type { AssetRow } from '../ledger/asset-store.ts';

/** A transfer that arrived in the blocks that were read after a restore, credited to its sender because no request of the books has it. */
export interface CreditedTransfer {
  readonly from: string;
  readonly valueMicro: bigint;
  readonly transactionHash: string | null;
  readonly account: string;
}

export interface WaitingMoney {
  /**
   * Money that arrived by authorizations not presented yet. Until the node credits it to its sender, presenting the authorization completes
   * its purchase.
   */
  readonly unshownCount: number;
  readonly unshownMicro: bigint;
  readonly suspenseCount: number;
  readonly suspenseMicro: bigint;
  /** Amounts claimed from channels on chain beyond the charges in the books: calls that the database has lost. */
  readonly channelCount: number;
  readonly channelMicro: bigint;
}

/** Transfers of an asset credited after the fact in blocks after one, up to another. */
export const listCredited = (
  sql: Sql,
  { chainId, token }: AssetRow,
  { fromBlock, toBlock }: { readonly fromBlock: bigint; readonly toBlock: bigint },
): Promise<CreditedTransfer[]> =>
  sql.query<CreditedTransfer>(
    'list-credited-since',
    `select from_address as "from", value_micro as "valueMicro", transaction_hash as "transactionHash", ledger_account_id as account
       from chain_payment where direction = 'in' and purpose = 'deposit' and signature = '0x' and state = 'settled'
        and chain_id = $3 and token = $4 and block_number > $1 and block_number <= $2 order by block_number, id limit 10000`,
    [fromBlock, toBlock, chainId, token],
  );

export async function readWaitingMoney(sql: Sql, { id, chainId, token, isDefault }: AssetRow): Promise<WaitingMoney> {
  const [row] = await sql.query<WaitingMoney>(
    'read-waiting-money',
    `select u.*, s.*, c.* from
      (select count(*)::int as "unshownCount", coalesce(sum(value_micro), 0)::bigint as "unshownMicro" from unshown_transfer t
        where t.chain_id = $1 and t.token = $4
          and not exists (select from chain_payment p where p.chain_id = t.chain_id and p.from_address = t.from_address and p.nonce = t.nonce
            and p.value_micro = t.value_micro and p.state = 'settled' and p.token = $2)) u,
      (select count(*)::int as "suspenseCount", coalesce(sum(posted_micro), 0)::bigint as "suspenseMicro"
         from ledger_account where kind = 'suspense' and posted_micro > 0 and asset is not distinct from $3) s,
      (select count(*)::int as "channelCount", coalesce(sum(claimed_micro - charged_micro - reserved_micro), 0)::bigint as "channelMicro"
         from channel where chain_id = $1 and token = $2 and claimed_micro > charged_micro + reserved_micro) c`,
    [chainId, token, isDefault ? null : id, tokenKey({ chainId, token })],
  );
  if (!row) throw new Error('sums have a row');
  return row;
}
