import { z } from 'zod';
import { nameText } from '../display-text.ts';
import { endpoint } from '../endpoint.ts';
import { queryInteger } from '../page.ts';
import { Id, Timestamp, Usdc, WalletAddress } from '../scalars.ts';
import { Scope, scopes } from './scopes.ts';
import { type ShownOnce, secretNotice, secretShownOnce } from './shown-once.ts';

export const plans = ['free', 'pro', 'enterprise'] as const;
export const Plan = z.enum(plans);
export type Plan = z.infer<typeof Plan>;

/** `ank_live_` or `ank_test_`, a public id, `_`, a secret with its checksum. */
export const apiKeyPattern = /^ank_(live|test)_([0-9A-Za-z]{12})_([0-9A-Za-z]{49})$/;
/** An agent's identityToken: 32 bytes in hex. */
export const identityTokenPattern = /^0x[0-9a-f]{64}$/;

const Account = z.object({
  accountId: Id,
  address: WalletAddress,
  plan: Plan,
  walletProven: z.boolean().describe('true: this account has proven control of its wallet.'),
  createdAt: Timestamp,
  suspension: z
    .object({ at: Timestamp, reason: z.string() })
    .nullable()
    .describe('Set while the operator suspends the account: it reads, cancels and withdraws, and starts nothing.'),
  wallets: z
    .array(z.object({ address: WalletAddress, provenAt: Timestamp }))
    .describe('Further wallets that the account claimed, the latest first; at most 100.'),
});

/** Limits of an API key's spending on invocations; null: no such limit. */
const SpendingLimits = z.object({
  perCall: Usdc.nullable().describe('Maximum cost of one call.'),
  perDay: Usdc.nullable().describe('Maximum cost of its calls in a day (UTC); failed and refunded calls do not count.'),
  allowedAgents: z.array(Id).max(100).nullable().describe('The only agents that it may invoke.'),
});
export type SpendingLimits = z.infer<typeof SpendingLimits>;

export const ApiKey = z.object({
  keyId: z.string(),
  name: z.string(),
  start: z.string().describe('The first characters, to recognise the key by.'),
  scopes: z.array(Scope),
  createdAt: Timestamp,
  expiresAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable(),
  limits: SpendingLimits,
});

const NewApiKey = ApiKey.extend({ apiKey: secretShownOnce('The key itself.'), secretNotice });
const newApiKey: ShownOnce = {
  field: 'apiKey',
  insteadOfIt: 'POST /account/keys/{keyId}/roll makes a new key of the same rights.',
};

const ApiKeyCreation = z.object({
  name: nameText(120).min(1),
  scopes: z.array(Scope).min(1).max(scopes.length).optional(),
  expiresAt: Timestamp.optional(),
  limits: SpendingLimits.partial()
    .optional()
    .describe(
      "Refused for keys whose scopes could bypass them. Default of `perCall`: the node's (`NEW_KEY_PER_CALL`), unless the scopes could bypass it; null: none.",
    ),
});

/** Value of an hourly limit when none is in effect. */
export const UNLIMITED = 1_000_000_000;

export const LimitUse = z.object({
  limit: z.int().describe('1000000000: no limit in effect.'),
  used: z.int().min(0),
  remaining: z.int().min(0),
  resetAt: Timestamp.nullable().describe('null: no call was counted in this hour.'),
});
export type LimitUse = z.infer<typeof LimitUse>;

const KeyUse = z
  .object({
    spentToday: Usdc.nullable().describe(
      'Spending that counts for `limits.perDay` (UTC); null: the key has no such limit.',
    ),
  })
  .nullable()
  .describe('null: the key has ended.');

export const accessEndpoints = {
  getAccount: endpoint({
    method: 'GET',
    path: '/account',
    summary: 'Read the account that the key belongs to',
    tag: 'Account',
    auth: 'key',
    limit: 'api',
    data: Account,
    errors: [],
  }),
  listApiKeys: endpoint({
    method: 'GET',
    path: '/account/keys',
    summary: 'List the API keys of the account',
    tag: 'Account',
    auth: 'key',
    scope: 'keys:manage',
    limit: 'api',
    data: z.object({
      keys: z
        .array(ApiKey.extend({ use: KeyUse }))
        .describe('Active keys first, then ended ones, each newest first; at most 1,000.'),
      limits: z
        .object({ api: LimitUse, invocations: LimitUse })
        .describe('Use of the limits in the current hour: all keys, agents and sessions of the account together.'),
      mostKeys: z.int().describe('Maximum number of active keys of the account.'),
    }),
    errors: [],
  }),
  createApiKey: endpoint({
    method: 'POST',
    path: '/account/keys',
    summary: 'Create an API key; its secret is shown in this answer only',
    tag: 'Account',
    auth: 'key',
    scope: 'keys:manage',
    limit: 'api',
    body: ApiKeyCreation,
    data: NewApiKey,
    shownOnce: newApiKey,
    errors: [],
  }),
  revokeApiKey: endpoint({
    method: 'DELETE',
    path: '/account/keys/{keyId}',
    summary: 'Revoke an API key at once',
    tag: 'Account',
    auth: 'key',
    scope: 'keys:manage',
    limit: 'api',
    params: z.object({ keyId: Id }),
    data: z.object({ keyId: z.string(), revoked: z.literal(true) }),
    errors: [],
  }),
  rollApiKey: endpoint({
    method: 'POST',
    path: '/account/keys/{keyId}/roll',
    summary: 'Replace an API key by a new one with the same rights; the old one stays valid for a while',
    tag: 'Account',
    auth: 'key',
    scope: 'keys:manage',
    limit: 'api',
    params: z.object({ keyId: Id }),
    body: z
      .object({
        overlapS: z
          .int()
          .min(0)
          .max(604_800)
          .default(86_400)
          .describe('Time that the old key stays valid: up to 7 days.'),
      })
      .default({ overlapS: 86_400 }),
    data: NewApiKey.extend({ replaces: z.string(), oldExpiresAt: Timestamp }),
    shownOnce: newApiKey,
    errors: [],
  }),
  getUsage: endpoint({
    method: 'GET',
    path: '/account/usage',
    summary: "Read the account's remaining limits, and its use by day and by agent",
    tag: 'Account',
    auth: 'key',
    scope: 'payments:read',
    accountOnly: true,
    limit: 'api',
    query: z.object({ days: queryInteger(1, 90).optional().describe('Default: 30.') }),
    data: z.object({
      plan: Plan,
      limits: z.object({
        api: LimitUse,
        invocations: LimitUse,
        freeCalls: LimitUse.describe(
          "Calls of agents whose price is 0, in the current hour. Those from the caller's network address have the same limit, whatever the account.",
        ),
      }),
      days: z.array(
        z.object({
          date: z.iso.date(),
          requests: z.int().min(0),
          completed: z.int().min(0),
          failed: z.int().min(0),
          spent: Usdc,
          earned: Usdc.describe('By the day of the request, as `spent`.'),
        }),
      ),
      agents: z
        .array(
          z.object({
            agentId: Id,
            agentName: z.string(),
            requests: z.int().min(0),
            completed: z.int().min(0),
            failed: z.int().min(0),
            spent: Usdc,
          }),
        )
        .describe('The twenty agents with the highest cost in these days.'),
    }),
    errors: [],
  }),
};
