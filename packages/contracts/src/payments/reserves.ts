import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { SignedUsdc, Timestamp, TransactionHash, Usdc, WalletAddress } from '../scalars.ts';
import { AssetId, NetworkId } from './networks.ts';

const Liabilities = z.object({
  treasuries: Usdc.describe('Treasuries of accounts, including holds for running requests.'),
  agents: Usdc.describe('Earnings of agents that are not withdrawn yet.'),
  payers: Usdc.describe('Payments of wallets for requests that have not ended.'),
  channels: Usdc.describe('Vouchers of payment channels for requests that have not ended.'),
  outgoing: Usdc.describe('Refunds and withdrawals that the chain has not confirmed yet.'),
  suspense: Usdc.describe('USDC from wallets that no account has proven.'),
  fees: Usdc.describe("The node's own fees."),
  total: Usdc,
});

const ChannelAssets = z.object({
  vouchers: Usdc.describe(
    'Owed by vouchers: what calls were charged, calls in flight included, as far as the deposits of their channels cover it, less what was claimed.',
  ),
  claimed: Usdc.describe('Claimed for the wallet in the settlement contract, and not swept into it yet.'),
});

/**
 * The reserves of one asset in short. Without `inFlight`: `onChain` + `escrow` - `difference` is the amount that the books expect there.
 */
export const AssetReserves = z.object({
  asset: AssetId,
  network: NetworkId,
  wallet: WalletAddress,
  onChain: Usdc.nullable().describe('Balance of the wallet; null: it cannot be read now.'),
  owed: Usdc.describe('Amount that the node owes to others in this asset.'),
  outgoing: Usdc.describe('Part of it that the node has to pay on chain: pending refunds and withdrawals.'),
  escrow: Usdc.nullable().describe(
    'Held by contracts for the node, such as that of payment channels; null: it cannot be read now.',
  ),
  difference: SignedUsdc.nullable().describe('On chain less what the books expect; null: it cannot be read now.'),
  status: z
    .enum(['balanced', 'settling', 'drift', 'away', 'removed'])
    .describe(
      'The first three as below, of this asset. `away`: its chain does not answer. `removed`: the node is not on its network any more.',
    ),
});
export type AssetReserves = z.infer<typeof AssetReserves>;

/**
 * The node's liabilities, the balance of its wallet, and the debts of payment channels. Always: `onChain` + `channels.vouchers` +
 * `channels.claimed` + `bookedAfterBlock` - `difference` + `loss` = `liabilities.total`. The books are read in one snapshot, the chain at
 * one block.
 */
export const Reserves = z.object({
  asOf: Timestamp,
  network: z.string().meta({ examples: ['base'] }),
  currency: z.literal('USDC'),
  wallet: WalletAddress.describe(
    'The wallet that holds all USDC that the node keeps for others: look it up on the chain.',
  ),
  block: z.object({ number: z.int().min(0), hash: TransactionHash }),
  onChain: Usdc.describe('Balance of the wallet at that block.'),
  channels: ChannelAssets.describe(
    'Amount that the settlement contract of payment channels owes the wallet at that block.',
  ),
  liabilities: Liabilities,
  inFlight: z.object({
    incoming: Usdc.describe('Pending payments to the node.'),
    outgoing: Usdc.describe('Pending payments by the node; `liabilities.outgoing` includes them.'),
  }),
  bookedAfterBlock: SignedUsdc.describe('Payments received less payments sent after that block that are in the books.'),
  difference: SignedUsdc.describe(
    'Balance of the wallet and what channels owe at that block, less what the books expect of both.',
  ),
  loss: Usdc.describe(
    'Deposits that a chain reorganisation removed after they were spent, and vouchers that can not be claimed any more: a loss that the node must cover.',
  ),
  status: z
    .enum(['balanced', 'settling', 'drift'])
    .describe(
      '`settling`: the difference equals, to the last micro-USDC, payments that are on chain and not in the books yet. `drift`: it does not, or a loss is above the fees of the node, which cover it.',
    ),
  platformFeeBps: z.int().min(0).max(5000).describe("The node's fee on agents' earnings, in hundredths of a percent."),
});
export type Reserves = z.infer<typeof Reserves>;

export const reserveEndpoints = {
  getReserves: endpoint({
    method: 'GET',
    path: '/payments/reserves',
    summary: "Proof of reserves: the node's liabilities, and the balance of its wallet and its channels on chain",
    tag: 'Payments',
    auth: 'none',
    isPublic: true,
    limit: 'api',
    data: Reserves.extend({
      assets: z
        .array(AssetReserves)
        .describe('Each asset, that of the default network first, of which everything above is.'),
    }),
    errors: [],
  }),
};
