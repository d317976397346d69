import type { OperatorClaim } from '@agent-network/contracts/network/operator-channels';
import { tokenKey } from '../chain/chain-info.ts';
import type { KnownAsset } from '../chain/networks.ts';
import type { PagePosition } from '../lib/page-position.ts';
import type { Sql } from '../store/sql.ts';

const unclaimed = 'c.charged_micro - c.claimed_micro - c.lost_micro';

/** End of the oldest call of a channel that is not claimed. */
const oldestCall = `left join lateral (select min(ended_at) as at from channel_charge
  where channel_id = c.id and max_micro > c.claimed_micro and charged_micro > 0) oldest on true`;

export interface ChannelTotals {
  readonly open: number;
  readonly unclaimedMicro: bigint;
  readonly oldestAt: Date | null;
  readonly lostMicro: bigint;
  readonly withdrawing: number;
}

type OfAsset = Pick<KnownAsset, 'chainId' | 'token'>;

export async function readChannelTotals(sql: Sql, { chainId, token }: OfAsset): Promise<ChannelTotals> {
  const [row] = await sql.query<ChannelTotals>(
    'read-channel-totals',
    `select (select count(*)::int from channel where chain_id = $1 and token = $2 and has_rest) as open,
            (select count(*)::int from channel where chain_id = $1 and token = $2 and withdraw_requested_at is not null) as withdrawing,
            (select coalesce(sum(lost_micro), 0)::bigint from channel where chain_id = $1 and token = $2 and is_lossy) as "lostMicro",
            coalesce(sum(${unclaimed}), 0)::bigint as "unclaimedMicro", min(oldest.at) as "oldestAt"
       from channel c ${oldestCall}
      where c.chain_id = $1 and c.token = $2 and c.owes`,
    [chainId, token],
  );
  return row as ChannelTotals;
}

export interface OwingRow {
  readonly channelId: string;
  readonly payer: string;
  readonly unclaimedMicro: bigint;
  readonly oldestAt: Date | null;
  readonly withdrawRequestedAt: Date | null;
  readonly withdrawDelayS: number;
  readonly isClaiming: boolean;
}

/** Channels that owe something or have a payer who withdraws: withdrawals first, then by debt. */
export const listOwing = (sql: Sql, { chainId, token }: OfAsset, limit: number): Promise<OwingRow[]> =>
  sql.query<OwingRow>(
    'list-owing-channels',
    `select c.id as "channelId", c.payer, ${unclaimed} as "unclaimedMicro", oldest.at as "oldestAt",
            c.withdraw_requested_at as "withdrawRequestedAt", c.withdraw_delay_s as "withdrawDelayS",
            exists (select from channel_claim_row r where r.channel_id = c.id and r.is_open) as "isClaiming"
       from (select * from channel c
              where chain_id = $1 and token = $2 and (owes or withdraw_requested_at is not null)
              order by withdraw_requested_at is null, ${unclaimed} desc, id limit $3) c ${oldestCall}
      order by c.withdraw_requested_at is null, "unclaimedMicro" desc, c.id`,
    [chainId, token, limit],
  );

export interface ClaimRow extends Pick<OperatorClaim, 'claimId' | 'reason' | 'state' | 'channels' | 'transactionHash'> {
  readonly gasUsed: bigint | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

export const listClaims = (
  sql: Sql,
  { chainId, token }: OfAsset,
  { after, limit }: { after: PagePosition | null; limit: number },
): Promise<ClaimRow[]> =>
  sql.query<ClaimRow>(
    'list-channel-claims',
    `select id as "claimId", reason, state, transaction_hash as "transactionHash", gas_used as "gasUsed", created_at as "createdAt",
            ended_at as "endedAt", (select count(*)::int from channel_claim_row where claim_id = k.id) as channels
       from channel_claim k
      where chain_id = $1 and token = $5 and ($2::timestamptz is null or created_at < $2 or (created_at = $2 and id > $3))
      order by created_at desc, id limit $4`,
    [chainId, after?.createdAt ?? null, after?.id ?? '', limit, tokenKey({ chainId, token })],
  );
