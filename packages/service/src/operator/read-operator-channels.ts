import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { OperatorChannels } from '@agent-network/contracts/network/operator-channels';
import { type NodeIdentity, nameAsset } from '../chain/chain-info.ts';
import { assetAsked, type KnownAsset, knownAssets, type Networks } from '../chain/networks.ts';
import { invariant } from '../lib/invariant.ts';
import { iso } from '../lib/iso.ts';
import { pageCursor, pageStartOf } from '../lib/page-position.ts';
import { availableAt } from '../payments/schemes/batch-settlement/channel-view.ts';
import type { Store } from '../store/database.ts';
import {
  type ChannelTotals,
  listClaims,
  listOwing,
  type OwingRow,
  readChannelTotals,
} from './operator-channel-store.ts';

const MAX_OWING = 50;
const DEFAULT_LIMIT = 20;

type Context = Store & NodeIdentity & Networks;

/** Payment channels of all payers in one asset: totals, debts and withdrawals; and the totals of each asset. */
export async function readOperatorChannels(
  ctx: Context,
  query: Parsed<Api['getOperatorChannels']>['query'],
): Promise<OperatorChannels> {
  const asked = assetAsked(ctx, query.network);
  const assets = knownAssets(ctx);
  const totalsOf = async (each: KnownAsset) => ({ ...each, totals: toTotals(await readChannelTotals(ctx.db, each)) });
  const [owing, ...all] = await Promise.all([listOwing(ctx.db, asked, MAX_OWING), ...assets.map(totalsOf)]);
  const own = all.find(({ asset }) => asset === asked.asset);
  invariant(own, 'the asset that is asked for is known');
  return {
    asOf: ctx.clock.now().toISOString(),
    ...own.totals,
    owing: owing.map(toOwing),
    byAsset: all.map(({ asset, totals }) => ({ ...nameAsset(asset), ...totals })),
  };
}

const toTotals = ({ open, unclaimedMicro, oldestAt, lostMicro, withdrawing }: ChannelTotals) => ({
  ...{ open, withdrawing },
  unclaimed: formatUsdc(unclaimedMicro),
  oldestUnclaimedAt: iso(oldestAt),
  lost: formatUsdc(lostMicro),
});

const toOwing = ({ channelId, payer, unclaimedMicro, oldestAt, isClaiming, ...row }: OwingRow) => ({
  ...{ channelId, payer, isClaiming },
  unclaimed: formatUsdc(unclaimedMicro > 0n ? unclaimedMicro : 0n),
  oldestUnclaimedAt: iso(oldestAt),
  withdrawRequestedAt: iso(row.withdrawRequestedAt),
  withdrawAvailableAt: iso(row.withdrawRequestedAt && availableAt(row.withdrawRequestedAt, row.withdrawDelayS)),
});

/** Transactions on one network that claim vouchers or refund channels, newest first. */
export async function listOperatorClaims(
  ctx: Context,
  query: Parsed<Api['listOperatorClaims']>['query'],
): Promise<DataOf<Api['listOperatorClaims']>> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const rows = await listClaims(ctx.db, assetAsked(ctx, query.network), {
    after: pageStartOf(query),
    limit: limit + 1,
  });
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
