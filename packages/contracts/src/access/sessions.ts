import { z } from 'zod';
import { WalletSignature } from '../agents/identity.ts';
import { endpoint } from '../endpoint.ts';
import { Id, Timestamp, WalletAddress } from '../scalars.ts';
import { Plan } from './access.ts';
import { Scope } from './scopes.ts';

/** The cookie that a session is known by. The prefix binds it to this host, to `Path=/` and to `Secure`. */
export const SESSION_COOKIE = '__Host-agent-network';

/** Somebody who is signed in with a browser. */
export const Session = z.object({
  sessionId: Id,
  accountId: Id,
  address: WalletAddress,
  plan: Plan,
  scopes: z
    .array(Scope)
    .describe(
      'What the session may do. Never `payments:withdraw`: each withdrawal takes a signature of the wallet instead.',
    ),
  createdAt: Timestamp,
  lastSeenAt: Timestamp.describe('Noted at most once a minute.'),
  expiresAt: Timestamp.describe('It ends then at the latest: 30 days after signing in.'),
  idleExpiresAt: Timestamp.describe('It ends then unless it is used before: 12 hours after it was last seen.'),
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
    summary: 'Sign in with a browser: the signed challenge opens the account of the wallet and sets the session cookie',
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
    summary: "Sign in as local mode's own account, without a wallet; only on the machine of the node",
    auth: 'none',
    sameOrigin: true,
    data: Session,
    errors: ['NOT_FOUND', 'FORBIDDEN'],
  }),
  getSession: endpoint({
    ...common,
    method: 'GET',
    path: '/auth/session',
    summary: 'Who is signed in with this browser, and what signing in takes here',
    auth: 'none',
    data: z.object({
      session: Session.nullable(),
      hasLocalAccount: z.boolean().describe('Whether `POST /auth/session/local` would sign this client in.'),
      eventsAt: z
        .int()
        .min(0)
        .nullable()
        .describe(
          'A stream of `GET /events` behind this number tells whatever changes from now on; null without a session.',
        ),
      label: z.string(),
      chainId: z.int(),
      usdc: WalletAddress.describe('The USDC contract on that chain.'),
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
    data: z.object({ signedOut: z.boolean().describe('false: there was no living session.') }),
    errors: ['FORBIDDEN'],
  }),
  listSessions: endpoint({
    ...managed,
    method: 'GET',
    path: '/auth/sessions',
    summary: 'The living sessions of the account, newest first',
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
    data: z.object({ ended: z.int().min(0).describe('How many there were, expired ones included.') }),
    errors: [],
  }),
};
