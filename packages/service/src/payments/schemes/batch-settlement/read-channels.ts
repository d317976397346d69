import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import { type KnownCaller, requireAccount } from '../../../accounts/caller.ts';
import { invalid, notFound } from '../../../lib/app-error.ts';
import { pageCursor, pageStartOf } from '../../../lib/page-position.ts';
import type { Store } from '../../../store/database.ts';
import {
  type ChannelEntryRow,
  type ChargeRow,
  findChannelOf,
  listChannelsOf,
  listCharges,
  listEntries,
  type VoucherPosition,
} from './channel-reader-store.ts';
import { type ChannelFacts, toChannelDetail, toChannelItem } from './channel-view.ts';

const DEFAULT_LIMIT = 20;

type Query = Parsed<Api['listChannels']>['query'];

/** Channels of the wallets that the caller's account has proven, newest first. */
export async function listChannels(
  ctx: Store,
  caller: KnownCaller,
  query: Query,
): Promise<DataOf<Api['listChannels']>> {
  const { accountId } = requireAccount(caller);
  const limit = query.limit ?? DEFAULT_LIMIT;
  const rows = await listChannelsOf(ctx.db, accountId, { after: pageStartOf(query), limit: limit + 1 });
  const { shown, ...next } = pageOf(rows, limit, pageCursor);
  return { channels: shown.map(toChannelItem), ...next };
}

/** Finds a channel of the caller. Throws NOT_FOUND unless the caller's account has proven the payer's wallet. */
async function requireChannel(ctx: Store, caller: KnownCaller, channelId: string): Promise<ChannelFacts> {
  const channel = await findChannelOf(ctx.db, requireAccount(caller).accountId, channelId.toLowerCase());
  if (!channel) throw notFound('channel');
  return channel;
}

export const readChannel = async (
  ctx: Store,
  caller: KnownCaller,
  channelId: string,
): Promise<DataOf<Api['getChannel']>> => toChannelDetail(await requireChannel(ctx, caller, channelId));

/** Deposits, claims and refunds of a channel of the caller's, newest first. Throws NOT_FOUND. */
export async function listChannelHistory(
  ctx: Store,
  caller: KnownCaller,
  channelId: string,
  query: Query,
): Promise<DataOf<Api['listChannelHistory']>> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = pageStartOf(query);
  const { id } = await requireChannel(ctx, caller, channelId);
  const rows = await listEntries(ctx.db, id, { after, limit: limit + 1 });
  const { shown, ...next } = pageOf(rows, limit, ({ createdAt, entryId }) => pageCursor({ createdAt, id: entryId }));
  return { entries: shown.map(toEntry), ...next };
}

const toEntry = ({ amountMicro, createdAt, endedAt, ...rest }: ChannelEntryRow) => ({
  ...rest,
  amount: formatUsdc(amountMicro),
  createdAt: createdAt.toISOString(),
  endedAt: endedAt?.toISOString() ?? null,
});

/** Calls that vouchers of a channel of the caller's paid for, highest voucher first. Throws NOT_FOUND. */
export async function listChannelCharges(
  ctx: Store,
  caller: KnownCaller,
  channelId: string,
  query: Query,
): Promise<DataOf<Api['listChannelCharges']>> {
  const limit = query.limit ?? DEFAULT_LIMIT;
  const after = query.cursor === undefined ? null : readChargeCursor(query.cursor);
  const { id } = await requireChannel(ctx, caller, channelId);
  const rows = await listCharges(ctx.db, id, { after, limit: limit + 1 });
  const { shown, ...next } = pageOf(rows, limit, chargeCursor);
  return { charges: shown.map(toCharge), ...next };
}

const toCharge = ({ requestId, maxMicro, amountMicro, chargedMicro, createdAt, endedAt }: ChargeRow) => ({
  requestId,
  voucher: formatUsdc(maxMicro),
  price: formatUsdc(amountMicro),
  charged: chargedMicro === null ? null : formatUsdc(chargedMicro),
  createdAt: createdAt.toISOString(),
  endedAt: endedAt?.toISOString() ?? null,
});

const chargeCursor = ({ maxMicro, requestId }: VoucherPosition): string =>
  Buffer.from(`${maxMicro}.${requestId}`).toString('base64url');

function readChargeCursor(cursor: string): VoucherPosition {
  const [, sum, requestId] =
    /^(\d{1,18})\.([\w:-]{1,100})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? [];
  if (sum === undefined || requestId === undefined) throw invalid('cursor', 'is not a cursor of this node');
  return { maxMicro: BigInt(sum), requestId };
}

/** A page of rows of which one more was read than is shown. */
function pageOf<T>(rows: readonly T[], limit: number, cursorOf: (last: T) => string) {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { shown, hasMore, nextCursor: hasMore ? cursorOf(last) : null };
}
