import { z } from 'zod';
import { WalletSignature } from '../agents/identity.ts';
import { endpoint } from '../endpoint.ts';
import { Id, Timestamp, Usdc, WalletAddress } from '../scalars.ts';
import { Plan } from './access.ts';
import { Scope } from './scopes.ts';

/** Name of the session cookie. The prefix binds it to this host, to `Path=/` and to `Secure`. */
export const SESSION_COOKIE = '__Host-agent-network';

/** A browser session. */
export const Session = z.object({
  sessionId: Id,
  accountId: Id,
  address: WalletAddress,
  plan: Plan,
  scopes: z
    .array(Scope)
    .describe(
      'Scopes of the session. Never `payments:withdraw`: each withdrawal needs a signature of the wallet instead.',
    ),
  createdAt: Timestamp,
  lastSeenAt: Timestamp.describe('Updated at most once a minute.'),
  expiresAt: Timestamp.describe('Latest end: 30 days after sign-in.'),
  idleExpiresAt: Timestamp.describe('End unless it is used before: 12 hours after its last use.'),
  userAgent: z.string().nullable(),
  isLocal: z
    .boolean()
    .describe("Signed in as local mode's own account, without a wallet; such a session withdraws without a signature."),
});
export type Session = z.infer<typeof Session>;

const common = { tag: 'Account', limit: 'api' } as const;
const managed = { ...common, auth: 'key', scope: 'keys:manage' } as const;

export const sessionEndpoints = {
  createSession: endpoint({
    ...common,
    limit: 'signIns',
    method: 'POST',
    path: '/auth/session',
    summary:
      "Sign in with a browser: the signed challenge creates the wallet's account if necessary, and sets the session cookie",
    auth: 'none',
    sameOrigin: true,
    body: WalletSignature,
    data: Session,
    errors: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'],
  }),
  createLocalSession: endpoint({
    ...common,
    limit: 'signIns',
    method: 'POST',
    path: '/auth/session/local',
    summary: "Sign in as local mode's own account, without a wallet; only from the node's machine",
    auth: 'none',
    sameOrigin: true,
    data: Session,
    errors: ['NOT_FOUND', 'FORBIDDEN'],
  }),
  getSession: endpoint({
    ...common,
    method: 'GET',
    path: '/auth/session',
    summary: 'Read the session of this browser, and the requirements of signing in',
    auth: 'none',
    data: z.object({
      session: Session.nullable(),
      hasLocalAccount: z.boolean().describe('true: `POST /auth/session/local` would sign this client in.'),
      eventsAt: z
        .int()
        .min(0)
        .nullable()
        .describe(
          'Position for `GET /events`: a stream after this number has every later change; null without a session.',
        ),
      label: z.string(),
      chainId: z.int(),
      isLocalChain: z
        .boolean()
        .describe('true: a development chain on the machine of the node; it only has the chain id of Base Sepolia.'),
      usdc: WalletAddress.describe('The USDC contract on that chain.'),
      testFunds: Usdc.nullable().describe(
        'Amount that `POST /payments/test-funds` adds; null: this node gives no test money.',
      ),
      version: z.string(),
    }),
    errors: [],
  }),
  endSession: endpoint({
    ...common,
    method: 'DELETE',
    path: '/auth/session',
    summary: 'Sign out: the session of the cookie ends at once, and the cookie is cleared',
    auth: 'none',
    sameOrigin: true,
    data: z.object({ signedOut: z.boolean().describe('false: there was no active session.') }),
    errors: ['FORBIDDEN'],
  }),
  listSessions: endpoint({
    ...managed,
    method: 'GET',
    path: '/auth/sessions',
    summary: 'List the active sessions of the account, newest first',
    data: z.object({ sessions: z.array(Session.extend({ isCurrent: z.boolean() })) }),
    errors: [],
  }),
  endSessionById: endpoint({
    ...managed,
    method: 'DELETE',
    path: '/auth/sessions/{sessionId}',
    summary: 'End a session of the account at once',
    params: z.object({ sessionId: Id }),
    data: z.object({ sessionId: Id, ended: z.literal(true) }),
    errors: [],
  }),
  endAllSessions: endpoint({
    ...managed,
    method: 'DELETE',
    path: '/auth/sessions',
    summary: 'Sign out everywhere: every session of the account ends at once, this one included',
    data: z.object({ ended: z.int().min(0).describe('Number of ended sessions, expired ones included.') }),
    errors: [],
  }),
};
