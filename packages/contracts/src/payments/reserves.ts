import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { SignedUsdc, Timestamp, TransactionHash, Usdc, WalletAddress } from '../scalars.ts';

const Liabilities = z.object({
  treasuries: Usdc.describe('Treasuries of accounts, with what is held for running requests.'),
  agents: Usdc.describe('What agents earned and have not withdrawn.'),
  payers: Usdc.describe('What wallets paid for requests that have not ended.'),
  outgoing: Usdc.describe('Refunds and withdrawals that the chain has not confirmed yet.'),
  suspense: Usdc.describe('USDC from wallets that no account has proven.'),
  fees: Usdc.describe("What is the node's own."),
  total: Usdc,
});

/**
 * The node's liabilities and the balance of its wallet. Always: `onChain` + `bookedAfterBlock` - `difference` + `loss` =
 * `liabilities.total`. The books are read in one snapshot, the balance at one block.
 */
export const Reserves = z.object({
  asOf: Timestamp,
  network: z.string().meta({ examples: ['base'] }),
  currency: z.literal('USDC'),
  wallet: WalletAddress.describe('Holds all the USDC that the node keeps for others: look it up on the chain.'),
  block: z.object({ number: z.int().min(0), hash: TransactionHash }),
  onChain: Usdc.describe('What the wallet held at that block.'),
  liabilities: Liabilities,
  inFlight: z.object({
    incoming: Usdc.describe('Payments to the node that are on their way.'),
    outgoing: Usdc.describe('Payments by the node that are on their way; `liabilities.outgoing` has them too.'),
  }),
  bookedAfterBlock: SignedUsdc.describe('What came in, less what went out, after that block and is in the books.'),
  difference: SignedUsdc.describe('What the wallet held at that block beyond what the books say for it.'),
  loss: Usdc.describe("What the chain took back after it was spent: the node's own loss, which it must make good."),
  status: z
    .enum(['balanced', 'settling', 'drift'])
    .describe(
      '`settling`: the difference is, to the last micro-USDC, payments that the chain has and the books do not have yet. `drift`: it is not.',
    ),
  platformFeeBps: z
    .int()
    .min(0)
    .max(5000)
    .describe('What the node keeps of what agents earn, in hundredths of a percent.'),
});
export type Reserves = z.infer<typeof Reserves>;

export const reserveEndpoints = {
  getReserves: endpoint({
    method: 'GET',
    path: '/payments/reserves',
    summary: 'Proof of reserves: what the node owes, and what its wallet holds on chain',
    tag: 'Payments',
    auth: 'none',
    limit: 'api',
    data: Reserves,
    errors: [],
  }),
};
