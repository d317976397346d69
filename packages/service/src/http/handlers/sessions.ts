import { requireAccount } from '../../access/caller/caller.ts';
import {
  endAllSessions,
  endSession,
  endSessionById,
  listSessions,
  type StartedSession,
} from '../../access/sessions/manage-sessions.ts';
import { isSession, toSession } from '../../access/sessions/session-caller.ts';
import { eventsAt } from '../../events/outbox/live-events.ts';
import { signInLocally, signInSession } from '../../identity/sign-in-session.ts';
import { NODE_VERSION } from '../../lib/process/node-version.ts';
import type { Handlers } from '../request/handler.ts';
import { clearedCookie, sessionCookie } from '../request/session-cookie.ts';

interface SetsHeaders {
  setHeader(name: string, value: string): void;
}

function begin(call: SetsHeaders, { session, token }: StartedSession) {
  call.setHeader('set-cookie', sessionCookie(token));
  return session;
}

export const sessionHandlers = {
  createSession: async (ctx, call) => begin(call, await signInSession(ctx, call.body, call.client.userAgent)),
  createLocalSession: async (ctx, call) => begin(call, await signInLocally(ctx, call.client)),
  getSession: async (ctx, { caller, client }) => ({
    session: isSession(caller) ? toSession(caller) : null,
    hasLocalAccount: ctx.localAccount !== null && client.isLocal,
    eventsAt: isSession(caller) ? await eventsAt(ctx) : null,
    label: ctx.nodeLabel,
    chainId: ctx.chain.chainId,
    isLocalChain: ctx.chain.isLocal,
    usdc: ctx.chain.token,
    version: NODE_VERSION,
  }),
  async endSession(ctx, { caller, setHeader }) {
    // With a key the cookie is ignored.
    if (caller.kind === 'anonymous' || isSession(caller)) setHeader('set-cookie', clearedCookie);
    if (isSession(caller)) await endSession(ctx, caller);
    return { signedOut: isSession(caller) };
  },
  listSessions: (ctx, { caller }) => listSessions(ctx, requireAccount(caller)),
  endSessionById: (ctx, { caller, params }) => endSessionById(ctx, requireAccount(caller), params.sessionId),
  endAllSessions: (ctx, { caller }) => endAllSessions(ctx, requireAccount(caller)),
} satisfies Partial<Handlers>;
