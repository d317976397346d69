import type { ChannelEntry } from '@agent-network/contracts/payments/channels';
import type { PagePosition } from '../../../lib/page-position.ts';
import type { Sql } from '../../../store/sql.ts';
import type { ChannelFacts } from './channel-view.ts';

const columns = `id, chain_id as "chainId", payer, payer_authorizer as "payerAuthorizer", receiver,
  receiver_authorizer as "receiverAuthorizer", token, withdraw_delay_s as "withdrawDelayS", salt, balance_micro as "balanceMicro",
  claimed_micro as "claimedMicro", charged_micro as "chargedMicro", reserved_micro as "reservedMicro",
  withdraw_requested_at as "withdrawRequestedAt", refund_id is not null as "isRefunding", created_at as "createdAt",
  changed_at as "changedAt"`;

/** Wallets that the account $1 has proven. An account that a payment has opened without a proof sees no channel. */
const provenWallets = `(select address from account where id = $1 and wallet_proven_at is not null
  union all select address from account_wallet where account_id = $1)`;

interface Page {
  readonly after: PagePosition | null;
  readonly limit: number;
}

const placeValues = ({ after, limit }: Page) => [after?.createdAt ?? null, after?.id ?? '', limit];

export const listChannelsOf = (sql: Sql, accountId: string, page: Page): Promise<ChannelFacts[]> =>
  sql.query<ChannelFacts>(
    'list-channels-of-account',
    `select ${columns} from channel
      where payer in ${provenWallets} and ($2::timestamptz is null or created_at < $2 or (created_at = $2 and id > $3))
      order by created_at desc, id limit $4`,
    [accountId, ...placeValues(page)],
  );

/** A channel with a payer wallet that the account has proven; null: none. */
export async function findChannelOf(sql: Sql, accountId: string, id: string): Promise<ChannelFacts | null> {
  const [row] = await sql.query<ChannelFacts>(
    'find-channel-of-account',
    `select ${columns} from channel where id = $2 and payer in ${provenWallets}`,
    [accountId, id],
  );
  return row ?? null;
}

export interface ChannelEntryRow extends Pick<ChannelEntry, 'entryId' | 'type' | 'state' | 'transactionHash'> {
  readonly amountMicro: bigint;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** Deposits, claims and refunds of a channel, newest first. */
export const listEntries = (sql: Sql, channelId: string, page: Page): Promise<ChannelEntryRow[]> =>
  sql.query<ChannelEntryRow>(
    'list-channel-entries',
    `select * from (
       select id as "entryId", 'deposit' as type,
              case when state = 'settled' and lost_at is null then 'done' when state in ('failed', 'reversed') then 'failed' else 'pending' end as state,
              value_micro as "amountMicro", transaction_hash as "transactionHash", created_at as "createdAt", ended_at as "endedAt"
         from chain_payment where channel_id = $1
       union all
       select k.id, 'claim', ${claimState('k')}, r.total_micro, k.transaction_hash, k.created_at, k.ended_at
         from channel_claim_row r join channel_claim k on k.id = r.claim_id where r.channel_id = $1
       union all
       select f.id, 'refund', ${claimState('f')}, coalesce(f.refunded_micro, f.amount_micro), k.transaction_hash, f.created_at, f.ended_at
         from channel_refund f join channel_claim k on k.id = f.claim_id where f.channel_id = $1
     ) entry
      where $2::timestamptz is null or "createdAt" < $2 or ("createdAt" = $2 and "entryId" > $3)
      order by "createdAt" desc, "entryId" limit $4`,
    [channelId, ...placeValues(page)],
  );

/** State of a claim or refund as readers see it: a sent one is pending. */
function claimState(table: 'k' | 'f'): string {
  return `case ${table}.state when 'sent' then 'pending' else ${table}.state end`;
}

/** Position in the calls of a channel: the sum of a voucher, and the request, as a call that failed frees its sum for the next. */
export interface VoucherPosition {
  readonly maxMicro: bigint;
  readonly requestId: string;
}

export interface ChargeRow extends VoucherPosition {
  readonly amountMicro: bigint;
  readonly chargedMicro: bigint | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** Calls that vouchers of a channel paid for, highest voucher first. */
export const listCharges = (
  sql: Sql,
  channelId: string,
  { after, limit }: { after: VoucherPosition | null; limit: number },
): Promise<ChargeRow[]> =>
  sql.query<ChargeRow>(
    'list-channel-charges',
    `select request_id as "requestId", max_micro as "maxMicro", amount_micro as "amountMicro", charged_micro as "chargedMicro",
            created_at as "createdAt", ended_at as "endedAt"
       from channel_charge
      where channel_id = $1 and ($2::bigint is null or max_micro < $2 or (max_micro = $2 and request_id < $3))
      order by max_micro desc, request_id desc limit $4`,
    [channelId, after?.maxMicro ?? null, after?.requestId ?? '', limit],
  );
