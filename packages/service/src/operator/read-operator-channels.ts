import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { OperatorChannels } from '@agent-network/contracts/network/operator-channels';
import type { HasChain } from '../chain/chain-info.ts';
import type { HasClock } from '../lib/clock.ts';
import { iso } from '../lib/iso.ts';
import { pageCursor, pageStartOf } from '../lib/page-position.ts';
import { availableAt } from '../payments/schemes/batch-settlement/channel-view.ts';
import type { HasDb } from '../store/database.ts';
import { listClaims, listOwing, type OwingRow, readChannelTotals } from './operator-channel-store.ts';

const MAX_OWING = 50;
const DEFAULT_LIMIT = 20;

type Context = HasDb & HasChain & HasClock;

/** Payment channels of all payers: totals, debts and withdrawals. */
export async function readOperatorChannels({ db, chain, clock }: Context): Promise<OperatorChannels> {
  const [totals, owing] = await Promise.all([
    readChannelTotals(db, chain.chainId),
    listOwing(db, chain.chainId, MAX_OWING),
  ]);
  return {
    asOf: clock.now().toISOString(),
    open: totals.open,
    unclaimed: formatUsdc(totals.unclaimedMicro),
    oldestUnclaimedAt: iso(totals.oldestAt),
    lost: formatUsdc(totals.lostMicro),
    withdrawing: totals.withdrawing,
    owing: owing.map(toOwing),
  };
}

const toOwing = ({ channelId, payer, unclaimedMicro, oldestAt, isClaiming, ...row }: OwingRow) => ({
  ...{ channelId, payer, isClaiming },
  unclaimed: formatUsdc(unclaimedMicro > 0n ? unclaimedMicro : 0n),
  oldestUnclaimedAt: iso(oldestAt),
  withdrawRequestedAt: iso(row.withdrawRequestedAt),
  withdrawAvailableAt: iso(row.withdrawRequestedAt && availableAt(row.withdrawRequestedAt, row.withdrawDelayS)),
});

/** Transactions that claim vouchers or refund channels, newest first. */
export async function listOperatorClaims(
  { db, chain }: Context,
  query: Parsed<Api['listOperatorClaims']>['query'],
): Promise<DataOf<Api['listOperatorClaims']>> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const rows = await listClaims(db, chain.chainId, { after: pageStartOf(query), limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  return {
    claims: shown.map(({ gasUsed, createdAt, endedAt, ...claim }) => ({
      ...claim,
      gasUsed: gasUsed === null ? null : String(gasUsed),
      createdAt: createdAt.toISOString(),
      endedAt: iso(endedAt),
    })),
    hasMore,
    nextCursor: hasMore && last ? pageCursor({ createdAt: last.createdAt, id: last.claimId }) : null,
  };
}
