import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { Id, plainText, Timestamp, WalletAddress } from './scalars.ts';
import { Scope, scopes } from './scopes.ts';

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
  walletProven: z.boolean().describe('Whether this account has proven control of its wallet.'),
  createdAt: Timestamp,
});

const ApiKey = z.object({
  keyId: z.string(),
  name: z.string(),
  start: z.string().describe('The first characters, to recognise the key by.'),
  scopes: z.array(Scope),
  createdAt: Timestamp,
  expiresAt: Timestamp.nullable(),
  revokedAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable(),
});

const ApiKeyCreation = z.object({
  name: plainText(120).min(1),
  scopes: z.array(Scope).min(1).max(scopes.length).optional(),
  expiresAt: Timestamp.optional(),
});

export const accessEndpoints = {
  getAccount: endpoint({
    method: 'GET',
    path: '/account',
    summary: 'The account that the key belongs to',
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
    data: z.object({ keys: z.array(ApiKey) }),
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
    data: ApiKey.extend({ apiKey: z.string() }),
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
};
