import { z } from 'zod';
import { LimitUse, Plan } from '../access/access.ts';
import { endpoint } from '../endpoint.ts';
import { cursorQuery, queryInteger } from '../page.ts';
import { Id, plainText, Timestamp, Usdc, WalletAddress } from '../scalars.ts';

const Suspension = z
  .object({ at: Timestamp, reason: z.string() })
  .nullable()
  .describe('null: the account is not suspended.');

const AccountItem = z.object({
  accountId: Id,
  address: WalletAddress,
  plan: Plan,
  suspension: Suspension,
  createdAt: Timestamp,
});
export type AccountItem = z.infer<typeof AccountItem>;

const AccountTotals = z.object({
  calls: z.int().min(0).describe('Ended calls that it made.'),
  spent: Usdc.describe('Cost of those calls.'),
  earned: Usdc.describe('Earnings of its agents, without the fee of the node.'),
  available: Usdc.describe('In the treasuries of the account and its agents; the account may withdraw it.'),
  lastSeenAt: Timestamp.describe('Its last call or use of a key, to the minute; else its opening.'),
});
export type AccountTotals = z.infer<typeof AccountTotals>;

export const accountSorts = ['newest', 'calls', 'spent', 'earned', 'available', 'lastSeen'] as const;
export type AccountSort = (typeof accountSorts)[number];

const AccountChange = z.object({
  kind: z.enum(['plan', 'suspended', 'resumed']),
  plan: Plan.nullable().describe('The new plan; null: another change.'),
  reason: z.string(),
  byAccountId: Id.describe('The account of the operator who made it.').meta({
    examples: ['acc_01k9xq3v7m2n8p4r6t0w5y1zab'],
  }),
  byKeyId: Id.describe('The key or session that made it.').meta({ examples: ['key_01k9xq3v7m2n8p4r6t0w5y1zab'] }),
  at: Timestamp,
});

export const OperatorAccount = AccountItem.extend(AccountTotals.shape).extend({
  walletProven: z.boolean(),
  limits: z.object({ api: LimitUse, invocations: LimitUse }).describe('Use of the limits in the current hour.'),
  keys: z
    .object({ used: z.int().min(0), most: z.int().meta({ examples: [50] }) })
    .describe('Active keys of the account.'),
  agents: z
    .object({
      used: z.int().min(0),
      most: z
        .int()
        .nullable()
        .meta({ examples: [200] }),
    })
    .describe('Agents registered here that are not removed; `most` is null without a limit.'),
  storage: z.object({ usedBytes: z.int().min(0), mostBytes: z.int().meta({ examples: [4_294_967_296] }) }),
  changes: z.array(AccountChange).describe('Changes by operators, newest first; at most 50.'),
});
export type OperatorAccount = z.infer<typeof OperatorAccount>;

const Reason = plainText(500).min(1).describe('Kept with the change; the account reads it.');
const params = z.object({ accountId: Id });
const operator = { tag: 'Network', auth: 'key', scope: 'operator', limit: 'api' } as const;

export const operatorAccountEndpoints = {
  listOperatorAccounts: endpoint({
    ...operator,
    method: 'GET',
    path: '/operator/accounts',
    summary: 'List the accounts of the node with calls, amounts and last use, newest first or by one of these',
    query: z.object({
      search: z
        .string()
        .max(100)
        .regex(/^[0-9A-Za-z_]+$/, 'is not an id or the start of an address')
        .optional()
        .describe('Id of an account, of an agent or of a key; an address, or its first characters from 0x on.'),
      plan: Plan.optional(),
      suspended: z.enum(['true', 'false']).optional(),
      sort: z
        .enum(accountSorts)
        .optional()
        .describe(
          'The highest first; default: newest. By `available` and `lastSeen`, places may be some minutes old; the values shown are exact.',
        ),
      limit: queryInteger(1, 100).optional().describe('Default: 50.'),
      ...cursorQuery,
    }),
    data: z.object({
      accounts: z.array(AccountItem.extend(AccountTotals.shape)),
      nextCursor: z.string().nullable(),
    }),
    errors: [],
  }),
  getOperatorAccount: endpoint({
    ...operator,
    method: 'GET',
    path: '/operator/accounts/{accountId}',
    summary: 'Read an account: plan, use of its limits, money, and changes by operators',
    params,
    data: OperatorAccount,
    errors: [],
  }),
  setAccountPlan: endpoint({
    ...operator,
    method: 'PUT',
    path: '/operator/accounts/{accountId}/plan',
    summary: 'Set the plan of an account',
    params,
    body: z.object({ plan: Plan, reason: Reason }),
    data: AccountItem,
    errors: [],
  }),
  suspendAccount: endpoint({
    ...operator,
    method: 'POST',
    path: '/operator/accounts/{accountId}/suspend',
    summary: 'Suspend an account: it starts nothing new, its agents are not called, and its money stays its own',
    params,
    body: z.object({ reason: Reason }),
    data: AccountItem,
    errors: [],
  }),
  resumeAccount: endpoint({
    ...operator,
    method: 'POST',
    path: '/operator/accounts/{accountId}/resume',
    summary: 'End the suspension of an account',
    params,
    body: z.object({ reason: Reason }),
    data: AccountItem,
    errors: [],
  }),
};
