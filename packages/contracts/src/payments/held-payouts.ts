import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Id, Timestamp, TransactionHash, TreasuryId, Usdc, WalletAddress } from '../scalars.ts';

export const HeldPayout = z.object({
  paymentId: z.string(),
  type: z.enum(['withdrawal', 'refund']),
  amount: Usdc,
  to: WalletAddress,
  requestId: Id.nullable().describe('The request that is refunded.'),
  withdrawalId: Id.nullable(),
  reason: z.string().describe("The token's words for its refusal."),
  heldSince: Timestamp,
  tries: z.int().min(1),
  nextTryAt: Timestamp.describe('The node tries again then, with pauses that double up to an hour.'),
  creditableFrom: Timestamp.nullable().describe(
    'The signed transfer was sent, and anybody can submit it until then. null: it was never sent, so the payout can be credited now.',
  ),
});
export type HeldPayout = z.infer<typeof HeldPayout>;

export const heldPayoutEndpoints = {
  listHeldPayouts: endpoint({
    method: 'GET',
    path: '/payments/held',
    summary:
      'List payouts that the token refuses: withdrawals of the account, refunds to its wallets or for its requests; for an operator, of all accounts',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:read',
    accountOnly: true,
    limit: 'api',
    data: z.object({ payouts: z.array(HeldPayout).describe('The oldest 200.') }),
    errors: [],
  }),
  creditHeldPayout: endpoint({
    method: 'POST',
    path: '/payments/held/{paymentId}/credit',
    summary:
      'End a held payout by crediting it here: a withdrawal to its treasury, a refund to the treasury of the account that has proven the wallet, otherwise to the wallet itself (POST /payments/claims). Withdraw it to another address after that',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:write',
    accountOnly: true,
    limit: 'api',
    params: z.object({ paymentId: Id }),
    data: z.object({
      paymentId: z.string(),
      amount: Usdc,
      treasuryId: TreasuryId.nullable().describe('null: it waits for whoever proves the wallet.'),
      transactionHash: TransactionHash.nullable(),
    }),
    errors: [],
  }),
};
