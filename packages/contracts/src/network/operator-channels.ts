import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { queryInteger } from '../page.ts';
import { ChannelId } from '../payments/channels.ts';
import { AssetName, networkQuery } from '../payments/networks.ts';
import { Timestamp, TransactionHash, Usdc, WalletAddress } from '../scalars.ts';

export const claimReasons = ['threshold', 'age', 'payout', 'stop', 'withdrawal', 'refund'] as const;

const OwingChannel = z.object({
  channelId: ChannelId,
  payer: WalletAddress,
  unclaimed: Usdc,
  oldestUnclaimedAt: Timestamp.nullable(),
  withdrawRequestedAt: Timestamp.nullable(),
  withdrawAvailableAt: Timestamp.nullable().describe('Until then the node has to have claimed.'),
  isClaiming: z.boolean().describe('true: it is in a transaction whose outcome is not known yet.'),
});

const ChannelTotals = z.object({
  open: z.int().min(0).describe('Channels that hold more than was charged.'),
  unclaimed: Usdc.describe('Charged and not claimed.'),
  oldestUnclaimedAt: Timestamp.nullable().describe('End of the oldest call that is not claimed.'),
  lost: Usdc.describe('Charged, and never to be claimed any more.'),
  withdrawing: z.int().min(0).describe('Channels whose payers have begun to withdraw.'),
});

/** Payment channels of all payers, for the operator. */
export const OperatorChannels = ChannelTotals.extend({
  asOf: Timestamp,
  owing: z
    .array(OwingChannel)
    .describe('Channels that owe something or are in withdrawal, at most 50: withdrawals first, then by the sum.'),
  byAsset: z
    .array(AssetName.extend(ChannelTotals.shape))
    .describe(
      'The totals of each asset, the default one first, also of networks that are away or removed. Everything above is of the default network, or of that of the query.',
    ),
});
export type OperatorChannels = z.infer<typeof OperatorChannels>;

const OperatorClaim = z.object({
  claimId: z.string().meta({ examples: ['clm_01k9xq3v7m2n8p4r6t0w5y1zab'] }),
  reason: z
    .enum(claimReasons)
    .describe(
      '`threshold`: a channel owed enough; `age`: for long enough; `payout`: a withdrawal of an agent needed the money; `stop`: the node stopped; `withdrawal`: a payer withdraws; `refund`: asked for by a payer.',
    ),
  state: z.enum(['sent', 'done', 'failed']),
  channels: z.int().min(0).describe('Channels that it claims from.'),
  transactionHash: TransactionHash,
  gasUsed: z.string().nullable().describe('null: not mined yet, or before the node recorded it.'),
  createdAt: Timestamp,
  endedAt: Timestamp.nullable(),
});
export type OperatorClaim = z.infer<typeof OperatorClaim>;

const read = { tag: 'Network', auth: 'key', scope: 'operator', limit: 'api', errors: [] } as const;

export const operatorChannelEndpoints = {
  getOperatorChannels: endpoint({
    ...read,
    method: 'GET',
    path: '/operator/channels',
    summary: 'Payment channels of the node: open ones, what is not claimed, withdrawals of payers',
    query: z.object({ network: networkQuery }),
    data: OperatorChannels,
  }),
  listOperatorClaims: endpoint({
    ...read,
    method: 'GET',
    path: '/operator/claims',
    summary: 'List claims of vouchers and refunds of channels, newest first: transaction, gas, outcome',
    query: z.object({
      network: networkQuery,
      limit: queryInteger(1, 100).optional().describe('Default: 20.'),
      cursor: z.string().max(200).optional().describe('`nextCursor` of the previous page.'),
    }),
    data: z.object({ claims: z.array(OperatorClaim), hasMore: z.boolean(), nextCursor: z.string().nullable() }),
  }),
};
