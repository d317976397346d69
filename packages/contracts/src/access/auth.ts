import { z } from 'zod';
import { WalletSignature } from '../agents/identity.ts';
import { nameText } from '../display-text.ts';
import { endpoint } from '../endpoint.ts';
import { Id, Timestamp, viaHeader, WalletAddress } from '../scalars.ts';
import { ApiKey } from './access.ts';
import { defaultScopes, OwnScope, ownScopes } from './scopes.ts';

const YEAR_S = 31_536_000;
/** Lifetime of a key that withdraws, by default and at most. */
const DAY_S = 86_400;

const GrantScopes = z
  .array(OwnScope)
  .min(1)
  .max(ownScopes.length)
  .refine((list) => new Set(list).size === list.length, 'names a scope twice')
  .refine(
    (list) => !list.includes('payments:withdraw') || !list.includes('keys:manage'),
    'cannot have payments:withdraw and keys:manage for one key: sign in for two',
  );
const Lifetime = z.int().min(60).max(YEAR_S);

/** Lifetime of a key made by signing in: 30 days by default, one day if it can withdraw. */
export const lifetimeOf = ({ scopes, expiresInS }: { scopes: readonly string[]; expiresInS?: number | undefined }) =>
  expiresInS ?? (scopes.includes('payments:withdraw') ? DAY_S : 2_592_000);

const livesBriefly = (grant: { scopes?: readonly string[] | undefined; expiresInS?: number | undefined }) =>
  !grant.scopes?.includes('payments:withdraw') || (grant.expiresInS ?? 0) <= DAY_S;
const tooLong = { message: 'is more than a day for a key that withdraws', path: ['expiresInS'] };

/** Body of POST /auth/challenge. */
const AskSignIn = z
  .object({
    address: WalletAddress.describe('The wallet that will sign.'),
    scopes: GrantScopes.optional().describe(
      'Names the scopes of the key in the text to sign; needed for a key with more than the default scopes.',
    ),
    expiresInS: Lifetime.optional().describe('Lifetime of that key, named in the text as well.'),
  })
  .refine(livesBriefly, tooLong);

/** Body of POST /auth/sign-in: the signed challenge, and the properties of the key. */
const SignIn = WalletSignature.extend({
  name: nameText(120).min(1).default('sign-in'),
  scopes: GrantScopes.default([...defaultScopes]).describe(
    'Scopes of the key. More than the default ones take a challenge that names exactly these scopes and this lifetime. Never the operator scope.',
  ),
  expiresInS: Lifetime.optional().describe(
    'Lifetime of the key: 30 days by default; for a key that withdraws a day, by default and at most.',
  ),
}).refine(livesBriefly, tooLong);
export type SignIn = z.output<typeof SignIn>;
export type AskSignIn = z.output<typeof AskSignIn>;

export const authEndpoints = {
  requestSignIn: endpoint({
    method: 'POST',
    path: '/auth/challenge',
    summary: 'Request the text that a wallet signs to sign in; valid for five minutes, and for one sign-in',
    tag: 'Account',
    auth: 'none',
    limit: 'signIns',
    body: AskSignIn,
    data: z.object({
      challengeId: Id,
      message: z.string().describe('Sign exactly this text with the wallet (EIP-4361, EIP-191 or EIP-1271).'),
      nonce: z.string(),
      expiresAt: Timestamp,
    }),
    errors: ['FORBIDDEN'],
  }),
  signIn: endpoint({
    method: 'POST',
    path: '/auth/sign-in',
    summary:
      "Sign in with a wallet: the signed challenge creates the wallet's account if necessary, and returns an API key",
    tag: 'Account',
    auth: 'none',
    limit: 'signIns',
    body: SignIn,
    headers: z.object({
      'x-agent-network-via': viaHeader.describe('Base URL of the node that owns this wallet, when a node signs in.'),
    }),
    data: ApiKey.extend({ apiKey: z.string(), accountId: Id, address: WalletAddress }),
    errors: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'],
  }),
};
