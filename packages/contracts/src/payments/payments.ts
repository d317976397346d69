import { z } from 'zod';
import { WalletSignature } from '../agents/identity.ts';
import { nameText } from '../display-text.ts';
import { endpoint } from '../endpoint.ts';
import { cursorOrOffsetQuery, dayQuery } from '../page.ts';
import { Id, Timestamp, TransactionHash, TreasuryId, Usdc, UsdcInput, WalletAddress } from '../scalars.ts';
import { AssetId, AssetName } from './networks.ts';

const currency = z.literal('USDC');
const network = z.string().meta({ examples: ['base'] });

export const Treasury = z.object({
  treasuryId: TreasuryId,
  address: WalletAddress.describe("The node's wallet, which receives deposits."),
  balance: Usdc,
  currency,
  network,
  createdAt: Timestamp,
  agentId: Id.nullable(),
  label: z.string().nullable(),
});
export type Treasury = z.infer<typeof Treasury>;

const TreasuryBalance = z.object({
  treasuryId: TreasuryId,
  agentId: Id.nullable(),
  label: z.string().nullable(),
  agentName: z.string().nullable().describe("Name of the agent whose treasury it is; null: it is the account's."),
  available: Usdc,
  held: Usdc,
});

/** Limits of the amount that a caller can spend on a call. */
const spendingBounds = ['funds', 'per_call', 'per_day', 'plan', 'scope', 'frozen'] as const;

const Spendable = z.object({
  treasuryId: TreasuryId.nullable().describe(
    'The treasury that pays for calls of this caller; null: there is none, so wallets pay.',
  ),
  perCall: Usdc.describe('The most that one call may cost now.'),
  total: Usdc.describe(
    'The most that calls may cost together now: until funds or the daily limit of the key are used up.',
  ),
  limitedBy: z
    .enum(spendingBounds)
    .describe(
      'The bound of `perCall`: `funds` of the treasury, the limits `per_call` and `per_day` of the key, no calls left in this hour by the `plan`, a key without the `scope` invoke, a `frozen` treasury.',
    ),
  callsLeft: z.int().min(0).describe('Calls left in this hour by the plan, of all keys of the account.'),
});

const AssetBalance = AssetName.extend({
  available: Usdc,
  held: Usdc,
  pending: Usdc,
});

const Balance = z.object({
  spendable: Spendable.describe(
    'Money that this caller can spend on calls, from its treasury. Calls are paid from nothing else.',
  ),
  earnings: Usdc.describe(
    "Available in the agents' treasuries. POST /payments/collect moves it to the account's treasury, from where calls are paid.",
  ),
  alertBelow: Usdc.nullable().describe("Less than this in the account's treasury sends `balance.low`; null: never."),
  available: Usdc.describe('In all treasuries: what can be spent and the earnings together.'),
  held: Usdc.describe('Set aside for requests that are running.'),
  pending: Usdc.describe('Deposits that the chain has not confirmed yet.'),
  currency,
  network,
  treasuries: z.array(TreasuryBalance),
  otherTreasuries: z
    .array(TreasuryBalance.extend(AssetName.shape))
    .describe('Those in other assets than the default one.'),
  byAsset: z
    .array(AssetBalance)
    .describe(
      'The balance in each asset with money in it, the default network first. The fields above are those of the default network.',
    ),
});
export type Balance = z.infer<typeof Balance>;

export const paymentTypes = ['deposit', 'charge', 'earning', 'refund', 'x402', 'withdrawal'] as const;

export const Payment = z.object({
  paymentId: z.string(),
  type: z.enum(paymentTypes),
  amount: Usdc,
  fee: Usdc.optional().describe("The node's fee on an earning. `amount` is net of it."),
  status: z.enum(['pending', 'confirmed', 'failed']),
  requestId: Id.nullable(),
  transactionHash: TransactionHash.nullable(),
  createdAt: Timestamp,
});
export type Payment = z.infer<typeof Payment>;

/** The account's treasury has less than the account wants to have. */
export const LowBalance = z.object({
  treasuryId: TreasuryId.nullable().describe("The account's treasury; null: it was never opened."),
  available: Usdc,
  below: Usdc.describe('The limit that the account has set.'),
});

const Collected = z.object({
  treasuryId: TreasuryId.describe("The account's treasury."),
  amount: Usdc.describe('Sum of what was moved, in the default asset.'),
  balance: Usdc.describe("Available in the account's treasury now."),
  byAgent: z
    .array(AssetName.extend({ agentId: Id, agentName: z.string().nullable(), amount: Usdc }))
    .describe("Amounts by agent and asset. They are in the account's treasury in the same asset."),
  left: z
    .array(Id)
    .describe(
      'Agents whose earnings were left: their token belongs to another wallet, the chain could not be asked for its owner, or there were more than 100.',
    )
    .meta({ examples: [[]] }),
});

/** Plain transfers that were credited together, in one event. */
export const CreditedDeposits = z.object({
  treasuryId: TreasuryId,
  count: z.int().min(1).describe('Number of deposits; GET /payments/history lists each.'),
  amount: Usdc.describe('Sum of them.'),
  firstPaymentId: Id,
  lastPaymentId: Id,
  createdAt: Timestamp,
});
export type CreditedDeposits = z.infer<typeof CreditedDeposits>;

/** A payment in a list, with where the money came from or went. */
const PaymentItem = Payment.extend({
  treasuryId: TreasuryId.nullable().describe('The treasury that it was paid from or into; null: a wallet.'),
  counterparty: z.string().nullable().describe('The agent that was called, or the wallet on the other side.'),
  counterpartyName: z.string().nullable().describe('The name of that agent.'),
  withdrawalId: Id.nullable(),
});
export type PaymentItem = z.infer<typeof PaymentItem>;

/** A withdrawal. `failed`: nothing was sent, and the amount is back in the treasury. */
export const Withdrawal = z.object({
  withdrawalId: Id,
  status: z.enum(['pending', 'confirmed', 'failed']),
  amount: Usdc,
  to: WalletAddress,
  transactionHash: TransactionHash.nullable(),
  treasuryId: TreasuryId,
  held: z
    .object({ paymentId: z.string(), reason: z.string(), since: Timestamp, nextTryAt: Timestamp })
    .optional()
    .describe('The token refuses the transfer. It is tried again; POST /payments/held/{paymentId}/credit ends it.'),
  createdAt: Timestamp,
});
export type Withdrawal = z.infer<typeof Withdrawal>;

const WithdrawalInput = z.object({
  amount: UsdcInput,
  to: WalletAddress.optional().describe('Default: the wallet of the account.'),
  treasuryId: TreasuryId.optional().describe('Default: the treasury of the account.'),
  asset: AssetId.optional().describe(
    "Out of the holder's treasury in this asset; GET /payments/networks lists them. Default: that of the treasury.",
  ),
  from: z
    .enum(['treasury', 'fees'])
    .optional()
    .describe(
      "`fees`: the node's fee income, through the treasury and in its statement. Needs the scope `operator`. The reserves show the amount.",
    ),
});

const DepositReceipt = z.object({
  paymentId: z.string(),
  treasuryId: TreasuryId,
  amount: Usdc,
  balance: Usdc,
  transactionHash: TransactionHash,
});

export const paymentEndpoints = {
  createTreasury: endpoint({
    method: 'POST',
    path: '/payments/treasury',
    summary: 'Create the treasury of the account or of your agent; returns the existing one if there is one',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:write',
    limit: 'api',
    body: z
      .object({
        agentId: Id.optional(),
        label: nameText(120).optional().describe('Replaces that of a treasury which exists.'),
      })
      .default({}),
    data: Treasury,
    errors: ['NOT_FOUND'],
  }),
  depositToTreasury: endpoint({
    method: 'POST',
    path: '/payments/treasury/deposit',
    summary: 'Deposit USDC into a treasury: 402 with terms, credited when paid',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:write',
    limit: 'api',
    headers: z.object({
      'payment-signature': z.string().max(16_384).optional(),
      'x-payment': z.string().max(16_384).optional(),
    }),
    body: z.object({
      amount: UsdcInput,
      treasuryId: TreasuryId.optional(),
      asset: AssetId.optional().describe('The terms are in this asset only; GET /payments/networks lists them.'),
    }),
    data: DepositReceipt,
    errors: ['NOT_FOUND', 'PAYMENT_REQUIRED', 'PAYMENT_PENDING'],
  }),
  addTestFunds: endpoint({
    method: 'POST',
    path: '/payments/test-funds',
    summary:
      "Add test USDC to the account's treasury: in local mode, and on test networks whose node has a faucet; elsewhere 404",
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:write',
    accountOnly: true,
    limit: 'api',
    data: DepositReceipt,
    errors: ['NOT_FOUND', 'PAYMENT_PENDING'],
  }),
  getBalance: endpoint({
    method: 'GET',
    path: '/payments/balance',
    summary: 'Read the balances of the treasuries of the account',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:read',
    limit: 'api',
    data: Balance,
    errors: [],
  }),
  setBalanceAlert: endpoint({
    method: 'PUT',
    path: '/payments/balance/alert',
    summary: 'Set the balance below which the event `balance.low` is sent, once until there is enough again',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:write',
    accountOnly: true,
    limit: 'api',
    body: z.object({ below: UsdcInput.nullable().describe('null: no event.') }),
    data: z.object({ below: Usdc.nullable() }),
    errors: [],
  }),
  listPayments: endpoint({
    method: 'GET',
    path: '/payments/history',
    summary: 'List the payments of the account, newest first',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:read',
    limit: 'api',
    query: z.object({ type: z.enum(paymentTypes).optional(), ...dayQuery, ...cursorOrOffsetQuery }),
    data: z.object({
      payments: z.array(PaymentItem),
      total: z.int().min(0).describe('How many match: exact up to 10,000, where counting ends; `nextCursor` goes on.'),
      hasMore: z.boolean(),
      nextCursor: z.string().nullable(),
    }),
    errors: [],
  }),
  withdraw: endpoint({
    method: 'POST',
    path: '/payments/withdraw',
    summary: "Send USDC from a treasury to a wallet on chain: the owner's, unless another is named",
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:withdraw',
    limit: 'api',
    sessionProof: true,
    body: WithdrawalInput.extend({
      proof: WalletSignature.optional().describe(
        'From a session, in place of the scope: the challenge for exactly these values, signed by the wallet of the account.',
      ),
    }),
    data: Withdrawal,
    errors: ['NOT_FOUND', 'INSUFFICIENT_FUNDS', 'INSUFFICIENT_BALANCE'],
  }),
  requestWithdrawal: endpoint({
    method: 'POST',
    path: '/payments/withdraw/challenge',
    summary:
      'Request the text that the wallet signs for a withdrawal by session: valid for five minutes, once, for these values only',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:write',
    limit: 'api',
    body: WithdrawalInput,
    data: z.object({
      challengeId: Id,
      message: z.string().describe('Sign exactly this text with the wallet of the account (EIP-4361).'),
      expiresAt: Timestamp,
    }),
    errors: ['NOT_FOUND'],
  }),
  getWithdrawal: endpoint({
    method: 'GET',
    path: '/payments/withdrawals/{withdrawalId}',
    summary: 'Read your withdrawal',
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:read',
    limit: 'api',
    params: z.object({ withdrawalId: Id }),
    data: Withdrawal,
    errors: [],
  }),
  collectEarnings: endpoint({
    method: 'POST',
    path: '/payments/collect',
    summary: "Move the earnings of your agents, or of one of them, to the account's treasury",
    tag: 'Payments',
    auth: 'key',
    scope: 'payments:write',
    accountOnly: true,
    limit: 'api',
    body: z.object({ agentId: Id.optional().describe('Default: all of them.') }).default({}),
    data: Collected,
    errors: ['NOT_FOUND'],
  }),
};
