import type { StoredTransfer } from '../../chain/blocks/transfer-point-store.ts';
import { type AssetKey, type ChainInfo, ownWallets, tokenKey } from '../../chain/chain-info.ts';
import type { OutgoingTransfer } from '../../chain/outgoing-transfer-client.ts';
import { newId } from '../../lib/id.ts';
import type { Sql, Tx } from '../../store/sql.ts';

/**
 * States of a found payout.
 * - `expected`: a known request will claim it.
 * - `explained`: a payment of the books has it by now.
 * - `booked`: charged to its source account.
 * - `due`: charged, but the account lacks some of it.
 * - `undecided`: waits for an operator.
 */
export type FoundPayoutState = 'found' | 'expected' | 'explained' | 'booked' | 'due' | 'undecided' | 'decided';

/** A transfer out of the wallet that no payment of the books explained when it was read. */
export interface FoundPayout {
  readonly id: string;
  readonly chainId: number;
  readonly token: string;
  /** The node's wallet. */
  readonly from: string;
  readonly nonce: string;
  readonly isPlain: boolean;
  readonly to: string;
  readonly valueMicro: bigint;
  readonly transactionHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly isRestored: boolean;
  readonly state: FoundPayoutState;
  readonly requestId: string | null;
  readonly purpose: string | null;
  readonly source: string | null;
  readonly dueMicro: bigint;
  readonly paymentId: string | null;
  readonly decidedBy: string | null;
  readonly decision: string | null;
  readonly foundAt: Date;
}

const columns = `id, chain_id as "chainId", token, from_address as "from", nonce, is_plain as "isPlain", to_address as "to", value_micro as "valueMicro",
  transaction_hash as "transactionHash", block_number as "blockNumber", block_hash as "blockHash", is_restored as "isRestored", state,
  request_id as "requestId", purpose, source, due_micro as "dueMicro", payment_id as "paymentId", decided_by as "decidedBy", decision,
  found_at as "foundAt"`;

export type NamedTransfer = Omit<OutgoingTransfer, 'nonce' | 'ordinal'> & {
  readonly nonce: string;
  readonly isPlain: boolean;
};

/**
 * Records the transfers that belong to no payment of the books, each once. Returns the number of new ones. Matches payments by nonce,
 * including the nonces under former wallets, as the database may have lost that the current wallet signed again.
 */
export async function insertFoundPayouts(
  tx: Tx,
  chain: ChainInfo,
  transfers: readonly NamedTransfer[],
  { isRestored, now }: { isRestored: boolean; now: Date },
): Promise<number> {
  const { chainId, token, wallet } = chain;
  const of = <T>(pick: (t: NamedTransfer) => T) => transfers.map(pick);
  const rows = await tx.query(
    'insert-found-payouts',
    `insert into found_payout (id, chain_id, token, from_address, nonce, is_plain, to_address, value_micro, transaction_hash, block_number, block_hash,
        is_restored, found_at, changed_at)
     select t.id, $1, $2, $3, t.nonce, t.is_plain, t.to_address, t.value, t.hash, t.block, t.block_hash, $12, $13, $13
       from unnest($4::text[], $5::text[], $6::bool[], $7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::text[])
         as t(id, nonce, is_plain, to_address, value, hash, block, block_hash)
      where not exists (select from chain_payment p
        where p.chain_id = $1 and p.token = $2 and p.from_address = any($14) and p.nonce = t.nonce and p.direction = 'out')
     on conflict do nothing returning id`,
    [
      chainId,
      token,
      wallet,
      of(() => newId('fpo')),
      of((t) => t.nonce),
      of((t) => t.isPlain),
      of((t) => t.to),
      of((t) => t.valueMicro),
      of((t) => t.transactionHash),
      of((t) => t.blockNumber),
      of((t) => t.blockHash),
      isRestored,
      now,
      ownWallets(chain),
    ],
  );
  return rows.length;
}

export const HAS_FOUND_PAYOUTS = `exists (select from found_payout where state in ('found', 'expected', 'due'))`;

/** Found payouts in an asset, or in all assets if it is null. */
export const listFoundPayouts = (
  sql: Sql,
  asset: AssetKey | null,
  states: readonly FoundPayoutState[] | null,
): Promise<FoundPayout[]> =>
  sql.query<FoundPayout>(
    'list-found-payouts',
    `select ${columns} from found_payout
      where ($1::text[] is null or state = any($1)) and ($2::int is null or chain_id = $2 and token = $3) order by block_number, id`,
    [states, asset?.chainId ?? null, asset?.token ?? null],
  );

/** Locks one until the transaction ends; null when it is not in one of these states any more. */
export async function lockFoundPayout(
  tx: Tx,
  id: string,
  states: readonly FoundPayoutState[],
): Promise<FoundPayout | null> {
  const [row] = await tx.query<FoundPayout>(
    'lock-found-payout',
    `select ${columns} from found_payout where id = $1 and state = any($2) for update`,
    [id, states],
  );
  return row ?? null;
}

export const writeFoundPayout = (
  tx: Tx,
  { id, state, source, dueMicro, paymentId, requestId, purpose, decidedBy, decision }: FoundPayout,
  now: Date,
): Promise<unknown> =>
  tx.query(
    'write-found-payout',
    `update found_payout set state = $2, source = $3, due_micro = $4, payment_id = $5, request_id = $6, purpose = $7, decided_by = $8,
            decision = $9, changed_at = $10 where id = $1`,
    [id, state, source, dueMicro, paymentId, requestId, purpose, decidedBy, decision, now],
  );

/**
 * Closes found payouts of a chain that the books explain by now, from any of the node's wallets, even while they wait for an operator.
 * Returns the number closed.
 */
export async function closeExplained(
  sql: Sql,
  { chainId, token }: AssetKey,
  wallets: readonly string[],
  now: Date,
): Promise<number> {
  const rows = await sql.query(
    'close-explained-payouts',
    `update found_payout f set state = 'explained', payment_id = p.id, changed_at = $3 from chain_payment p
      where f.chain_id = $4 and f.token = $1 and f.state in ('found', 'expected', 'undecided') and p.chain_id = f.chain_id and p.token = $1 and p.from_address = any($2)
        and p.nonce = f.nonce and p.direction = 'out' returning f.id`,
    [token, wallets, now, chainId],
  );
  return rows.length;
}

/**
 * SQL: three days before the end of the books, or a little earlier. The end is the newest of the last failed payment, the last open one and
 * the last one in a block of each chain; each is the last entry of an index.
 */
const LAST_DAYS_OF_BOOKS = `(select coalesce(greatest(
    (select max(newest.created_at) from chain_signer s cross join lateral (
       select created_at from chain_payment
        where chain_id = s.chain_id and block_hash is not null order by block_number desc limit 1) newest),
    (select created_at from chain_payment where state in ('claimed', 'broadcasting') order by created_at desc, id desc limit 1),
    (select created_at from chain_payment where state = 'failed' and direction <> 'out' order by created_at desc, id desc limit 1)
  ), 'epoch') - interval '3 days')`;

/** The time since which payments count as of the last days of the books. */
export async function readLastDays(sql: Sql): Promise<Date> {
  const [row] = await sql.query<{ since: Date }>('read-last-days', `select ${LAST_DAYS_OF_BOOKS} as since`);
  return (row as NonNullable<typeof row>).since;
}

/**
 * True while a request may still claim a payout: it has not ended, its payment is under way, or within the last three days of the books it
 * has a bill (part of which may be returned) or a failed payment (which may still be mined).
 */
export async function mayComeToPayout(tx: Tx, requestId: string): Promise<boolean> {
  const [row] = await tx.query<{ may: boolean }>(
    'may-come-to-payout',
    `select exists (select from invocation where id = $1 and completed_at is null)
         or exists (select from chain_payment where subject_id = $1
              and (state in ('claimed', 'broadcasting') or (purpose = 'bill' or purpose = 'invocation' and state = 'failed')
                    and created_at > ${LAST_DAYS_OF_BOOKS})) as may`,
    [requestId],
  );
  return row?.may ?? false;
}

/** Sum of transfers out of the wallet that are not in the books yet. */
export async function sumUnbookedPayouts(sql: Sql, { chainId, token }: AssetKey): Promise<bigint> {
  const [row] = await sql.query<{ sum: bigint }>(
    'sum-unbooked-payouts',
    `select coalesce(sum(value_micro), 0)::bigint as sum from found_payout
      where chain_id = $1 and token = $2 and state in ('found', 'expected', 'undecided')`,
    [chainId, token],
  );
  return row?.sum ?? 0n;
}

/** Ledger accounts that withdrawals are paid from, in the order of ids. */
export async function listSources(sql: Sql, after: string, limit: number): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'list-withdrawal-sources',
    `select id from ledger_account where kind in ('treasury', 'agent') and id > $1 order by id limit $2`,
    [after, limit],
  );
  return rows.map(({ id }) => id);
}

/** Transfers of a wallet to this node by authorizations that were never presented, locked until the transaction ends. */
export const listUnshownOf = (tx: Tx, asset: AssetKey, from: string): Promise<StoredTransfer[]> =>
  tx.query<StoredTransfer>(
    'list-unshown-transfers-of',
    `select from_address as "from", nonce, value_micro as "valueMicro", transaction_hash as "transactionHash",
            block_number as "blockNumber", block_hash as "blockHash"
       from unshown_transfer u where u.chain_id = $1 and u.token = $3 and u.from_address = $2
        and not exists (select from awaited_refund a
          where a.chain_id = u.chain_id and a.token = u.token and a.from_address = u.from_address and a.nonce = u.nonce)
        and not exists (select from chain_payment p where p.chain_id = u.chain_id and p.token = $4 and p.from_address = u.from_address
          and p.nonce = u.nonce and p.value_micro = u.value_micro and p.direction = 'in' and p.state in ('claimed', 'broadcasting', 'failed'))
      order by u.block_number, u.nonce for update of u`,
    [asset.chainId, from, tokenKey(asset), asset.token],
  );
