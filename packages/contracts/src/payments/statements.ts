import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { queryInteger } from '../page.ts';
import { Id, Timestamp, TransactionHash, TreasuryId, Usdc } from '../scalars.ts';
import { Treasury } from './payments.ts';

export const entryTypes = [
  'deposit',
  'charge',
  'earning',
  'fee',
  'refund',
  'withdrawal',
  'return',
  'reversal',
  'claim',
  'bill',
  'bill_return',
  'fee_payout',
  'collect',
] as const;

const StatementEntry = z.object({
  entryId: z.string(),
  type: z
    .enum(entryTypes)
    .describe(
      "`fee`: the node's fee on an earning. `return`: a withdrawal that failed. `reversal`: a deposit that a chain reorganisation removed. `claim`: USDC from a wallet that was proven later. `bill`: a direct payment on chain to an agent. `bill_return`: such a bill that the agent did not collect. `fee_payout`: fees of the node, withdrawn by its operator. `collect`: earnings of an agent, moved to the account's treasury.",
    ),
  direction: z.enum(['credit', 'debit']),
  amount: Usdc,
  balance: Usdc.describe('Balance of the treasury after this entry.'),
  requestId: Id.nullable(),
  paymentId: z.string().nullable(),
  withdrawalId: Id.nullable(),
  transactionHash: TransactionHash.nullable(),
  counterparty: z
    .string()
    .nullable()
    .describe(
      'The agent that was paid, or that earned what was collected; or the wallet that a deposit came from or a withdrawal goes to.',
    ),
  counterpartyName: z.string().nullable().describe('The name of that agent; null: it is a wallet.'),
  createdAt: Timestamp,
});

/** Every entry of a period: the opening balance, and all entries added up, are the closing balance. */
const Statement = z.object({
  treasuryId: TreasuryId,
  currency: z.literal('USDC'),
  network: z.string().meta({ examples: ['base'] }),
  from: Timestamp.nullable().describe('null: from the first entry on.'),
  to: Timestamp.nullable().describe('null: up to the last entry there is.'),
  openingBalance: Usdc,
  closingBalance: Usdc,
  entries: z.array(StatementEntry),
  hasMore: z.boolean(),
  nextCursor: z.string().nullable(),
});
export type Statement = z.infer<typeof Statement>;
export type StatementEntry = Statement['entries'][number];

export const statementEndpoints = {
  getTreasury: endpoint({
    method: 'GET',
    path: '/payments/treasury/{treasuryId}',
    summary: 'Read your treasury',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:read',
    limit: 'api',
    params: z.object({ treasuryId: TreasuryId }),
    data: Treasury,
    errors: [],
  }),
  getStatement: endpoint({
    method: 'GET',
    path: '/payments/treasury/{treasuryId}/statement',
    summary: 'Read the statement of a treasury: every entry of a period with the balance after it',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:read',
    limit: 'api',
    params: z.object({ treasuryId: TreasuryId }),
    query: z.object({
      from: Timestamp.optional().describe('Entries at or after this time.'),
      to: Timestamp.optional().describe('Entries before this time.'),
      cursor: z.string().max(200).optional().describe('`nextCursor` of the previous page, for the same period.'),
      order: z.enum(['asc', 'desc']).optional().describe('`asc`: oldest first (default); `desc`: newest first.'),
      limit: queryInteger(1, 500).optional().describe('Default: 100.'),
    }),
    data: Statement,
    errors: [],
  }),
};
