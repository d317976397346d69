import type { Authorization } from '../../chain/authorization.ts';
import type { Sql, Tx } from '../../db/sql.ts';
import type { LedgerAccountKind } from '../ledger/ledger-store.ts';
import { sumByKind } from '../ledger/ledger-total-store.ts';
import type { DriftEpisode } from './reserves.ts';

/** A payment about which chain and books may differ. */
export type PaymentUnderWay = Authorization & {
  readonly direction: 'in' | 'out';
  /** `failed`: but anybody may still submit it. `lost`: the books have it, but a reorg took its block. */
  readonly standing: 'open' | 'failed' | 'lost';
};

export interface Books {
  readonly sums: ReadonlyMap<LedgerAccountKind, bigint>;
  readonly bookedAfterBlockMicro: bigint;
  readonly underWay: readonly PaymentUnderWay[];
  /** Came by an authorization that no payment of the books, or under way, stands for; credited after a while. */
  readonly unshownMicro: bigint;
  /** Up to which block incoming transfers were read; null: none were. */
  readonly readUpTo: bigint | null;
}

/** Whether a payment accounts for its transfer: it is in the books, or under way in them. */
const accountsFor = (nowS: string) =>
  `(p.state in ('claimed', 'broadcasting', 'settled') or (p.state = 'failed' and p.valid_before > ${nowS}))`;

/** The books as they stand beside a block of the chain. All of it is one snapshot only in a transaction that is `repeatable read`. */
export async function readBooks(tx: Tx, chainId: number, block: bigint, nowS: number): Promise<Books> {
  const sums = await sumByKind(tx);
  const [row] = await tx.query<Omit<Books, 'sums' | 'underWay'>>(
    'read-books',
    `select (select coalesce(sum(case direction when 'in' then value_micro else -value_micro end), 0)::bigint from chain_payment
              where chain_id = $1 and block_hash is not null and block_number > $2 and state = 'settled' and lost_at is null) as "bookedAfterBlockMicro",
            (select coalesce(sum(value_micro), 0)::bigint from unshown_transfer u
              where u.chain_id = $1 and u.block_number <= $2 and not exists (select from chain_payment p
                where p.chain_id = u.chain_id and p.from_address = u.from_address and p.nonce = u.nonce
                  and p.value_micro = u.value_micro and ${accountsFor('$3')})) as "unshownMicro",
            (select max(block_number) from transfer_point where chain_id = $1) as "readUpTo"`,
    [chainId, block, nowS],
  );
  const underWay = await tx.query<PaymentUnderWay>(
    'list-under-way',
    `select from_address as from, to_address as to, nonce, value_micro as "valueMicro", valid_after as "validAfterS",
            valid_before as "validBeforeS", direction, 'open' as standing
       from chain_payment where chain_id = $1 and state in ('claimed', 'broadcasting')
     union all
     select from_address, to_address, nonce, value_micro, valid_after, valid_before, direction, 'failed'
       from chain_payment where chain_id = $1 and state = 'failed' and direction = 'in' and valid_before > $2
     union all
     select from_address, to_address, nonce, value_micro, valid_after, valid_before, direction, 'lost'
       from chain_payment where chain_id = $1 and state = 'settled' and lost_at is not null`,
    [chainId, nowS],
  );
  return { ...(row as NonNullable<typeof row>), sums, underWay };
}

export interface KnownTransfer {
  readonly from: string;
  readonly nonce: string;
  readonly valueMicro: bigint;
}

/** What a transfer by an authorization is known by in `findAccountedFor`. */
export const transferKey = ({ from, nonce, valueMicro }: KnownTransfer): string => `${from} ${nonce} ${valueMicro}`;

/** Which of the transfers payments account for that we know, by `transferKey`. */
export async function findAccountedFor(
  sql: Sql,
  { chainId, nowS }: { chainId: number; nowS: number },
  transfers: readonly KnownTransfer[],
): Promise<Set<string>> {
  const rows = await sql.query<KnownTransfer>(
    'find-accounted-for',
    `select p.from_address as "from", p.nonce, p.value_micro as "valueMicro" from chain_payment p
       join unnest($3::text[], $4::text[], $5::bigint[]) as k(from_address, nonce, value_micro) using (from_address, nonce, value_micro)
      where p.chain_id = $1 and ${accountsFor('$2')}`,
    [
      chainId,
      nowS,
      transfers.map(({ from }) => from),
      transfers.map(({ nonce }) => nonce),
      transfers.map(({ valueMicro }) => valueMicro),
    ],
  );
  return new Set(rows.map(transferKey));
}

/** The episode as it stands, kept from changing until the transaction ends. */
export async function lockEpisode(tx: Tx): Promise<DriftEpisode> {
  const [row] = await tx.query<DriftEpisode>(
    'lock-episode',
    'select drifted_checks as "driftedChecks", is_told as "isTold" from reserves_watch for update',
  );
  return row as DriftEpisode;
}

export async function writeEpisode(tx: Tx, { driftedChecks, isTold }: DriftEpisode): Promise<void> {
  await tx.query('write-episode', 'update reserves_watch set drifted_checks = $1, is_told = $2', [
    driftedChecks,
    isTold,
  ]);
}
