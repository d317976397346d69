import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { queryInteger } from '../page.ts';
import { Id, Timestamp, TransactionHash, Usdc, WalletAddress } from '../scalars.ts';

/** Id of a payment channel: the EIP-712 digest of its configuration. */
export const ChannelId = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be a 0x-prefixed 32-byte id')
  .meta({ examples: [`0x${'4a'.repeat(32)}`] });

export const channelStates = ['open', 'used_up', 'refunding', 'withdrawing'] as const;
export type ChannelState = (typeof channelStates)[number];

/** A payment channel as the node's books have it, without its vouchers. */
export const ChannelItem = z.object({
  channelId: ChannelId,
  chainId: z.int().min(1),
  payer: WalletAddress,
  state: z
    .enum(channelStates)
    .describe(
      '`used_up`: it holds nothing beyond what calls cost; the next call needs a deposit. `refunding`: a refund is under way. `withdrawing`: the payer has begun to withdraw on chain. The last two do not accept vouchers.',
    ),
  balance: Usdc.describe('Deposits less refunds and withdrawals, as deep in the chain as the node asks for.'),
  charged: Usdc.describe('Cost of the calls that have ended.'),
  inFlight: Usdc.describe('Prices of the calls that have not ended.'),
  remaining: Usdc.describe('Amount left for further calls; a refund returns it.'),
  claimed: Usdc.describe('Part of `charged` that the node has claimed on chain.'),
  withdrawal: z
    .object({
      requestedAt: Timestamp,
      availableAt: Timestamp.describe('From then on the payer can take the rest out.'),
    })
    .nullable(),
  createdAt: Timestamp,
  changedAt: Timestamp,
});
export type ChannelItem = z.infer<typeof ChannelItem>;

/** The channel's configuration for the settlement contract; with it the payer can withdraw without the node. */
const ChannelDetail = ChannelItem.extend({
  config: z.object({
    payer: WalletAddress,
    payerAuthorizer: WalletAddress,
    receiver: WalletAddress,
    receiverAuthorizer: WalletAddress,
    token: WalletAddress,
    withdrawDelay: z.int().min(0),
    salt: TransactionHash.meta({ examples: [`0x${'0'.repeat(64)}`] }),
  }),
});
export type ChannelDetail = z.infer<typeof ChannelDetail>;

export const channelEntryTypes = ['deposit', 'claim', 'refund'] as const;

const ChannelEntry = z.object({
  entryId: z.string(),
  type: z.enum(channelEntryTypes),
  state: z.enum(['pending', 'done', 'failed']),
  amount: Usdc.describe('For a claim: the total of all claims of the channel after it; claims are cumulative.'),
  transactionHash: TransactionHash.nullable().describe('null: not sent yet.'),
  createdAt: Timestamp,
  endedAt: Timestamp.nullable(),
});
export type ChannelEntry = z.infer<typeof ChannelEntry>;

const ChannelCharge = z.object({
  requestId: Id,
  voucher: Usdc.describe('Sum of the voucher that came with the call: all calls before it, and its price.'),
  price: Usdc,
  charged: Usdc.nullable().describe('Final cost of the call; null: still running. A failed call costs 0.'),
  createdAt: Timestamp,
  endedAt: Timestamp.nullable(),
});
export type ChannelCharge = z.infer<typeof ChannelCharge>;

const pageOf = {
  limit: queryInteger(1, 100).optional().describe('Default: 20.'),
  cursor: z.string().max(200).optional().describe('`nextCursor` of the previous page.'),
};
const next = { hasMore: z.boolean(), nextCursor: z.string().nullable() };
const read = {
  tag: 'Payments',
  auth: 'key',
  scope: 'payments:read',
  accountOnly: true,
  limit: 'api',
  errors: [],
} as const;

export const channelEndpoints = {
  listChannels: endpoint({
    ...read,
    method: 'GET',
    path: '/payments/channels',
    summary: 'List payment channels that your wallets have opened here, newest first',
    query: z.object(pageOf),
    data: z.object({ channels: z.array(ChannelItem), ...next }),
  }),
  getChannel: endpoint({
    ...read,
    method: 'GET',
    path: '/payments/channels/{channelId}',
    summary: 'Read your payment channel: balance, charges, claims, withdrawal',
    params: z.object({ channelId: Id }),
    data: ChannelDetail,
  }),
  listChannelHistory: endpoint({
    ...read,
    method: 'GET',
    path: '/payments/channels/{channelId}/history',
    summary: 'List deposits into your payment channel, its refunds, and claims of the last month, newest first',
    params: z.object({ channelId: Id }),
    query: z.object(pageOf),
    data: z.object({ entries: z.array(ChannelEntry), ...next }),
  }),
  listChannelCharges: endpoint({
    ...read,
    method: 'GET',
    path: '/payments/channels/{channelId}/charges',
    summary:
      'List calls that vouchers of your payment channel paid for, highest voucher first, kept as long as results',
    params: z.object({ channelId: Id }),
    query: z.object(pageOf),
    data: z.object({ charges: z.array(ChannelCharge), ...next }),
  }),
};
