import { z } from 'zod';
import { WalletSignature } from '../agents/identity.ts';
import { nameText } from '../display-text.ts';
import { endpoint } from '../endpoint.ts';
import { Id, Timestamp, viaHeader, WalletAddress } from '../scalars.ts';
import { ApiKey } from './access.ts';
import { defaultScopes } from './scopes.ts';

const YEAR_S = 31_536_000;

/** Body of POST /auth/sign-in: the signed challenge, and the properties of the key. */
const SignIn = WalletSignature.extend({
  name: nameText(120).min(1).default('sign-in'),
  scopes: z
    .array(z.enum(defaultScopes))
    .min(1)
    .max(defaultScopes.length)
    .default([...defaultScopes])
    .describe('Scopes of the key. Never withdrawals, key management or the operator scope.'),
  expiresInS: z.int().min(60).max(YEAR_S).default(2_592_000).describe('Lifetime of the key: 30 days by default.'),
});
export type SignIn = z.output<typeof SignIn>;

export const authEndpoints = {
  requestSignIn: endpoint({
    method: 'POST',
    path: '/auth/challenge',
    summary: 'Request the text that a wallet signs to sign in; valid for five minutes, and for one sign-in',
    tag: 'Account',
    auth: 'none',
    limit: 'signIns',
    body: z.object({ address: WalletAddress.describe('The wallet that will sign.') }),
    data: z.object({
      challengeId: Id,
      message: z.string().describe('Sign exactly this text with the wallet (EIP-4361, EIP-191 or EIP-1271).'),
      nonce: z.string(),
      expiresAt: Timestamp,
    }),
    errors: [],
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
    errors: ['NOT_FOUND', 'CONFLICT'],
  }),
};
