import type { Session } from '@agent-network/contracts/access/sessions';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { notFound } from '../../lib/app-error.ts';
import { DAY_MS } from '../../lib/duration.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import { removeInSteps } from '../../lib/retention.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import { hashSecret } from '../api-key.ts';
import type { AccountCaller } from '../caller.ts';
import { IDLE_MS, newSessionToken, SESSION_MS, sessionScopes } from '../session.ts';
import { type SessionCaller, sessionCaller, toSession } from './session-caller.ts';
import {
  dropSessions,
  endSessionRows,
  findSessions,
  insertSession,
  keepNewestSessions,
  listSessionRows,
} from './session-store.ts';

/** Maximum valid sessions of an account; the oldest is ended. */
const MAX_SESSIONS = 50;

/** A new session with its cookie value, which is returned once. */
export interface StartedSession {
  readonly session: Session;
  readonly token: string;
}

/** Starts a session of an account in the caller's transaction; the caller checks the permission. */
export async function startSession(
  tx: Tx,
  { accountId, userAgent, isLocal, now }: { accountId: string; userAgent: string | null; isLocal: boolean; now: Date },
): Promise<StartedSession> {
  const id = newId('ses');
  const token = newSessionToken(id);
  const expiresAt = new Date(now.getTime() + SESSION_MS);
  const rights = { secretHash: hashSecret(token), scopes: sessionScopes };
  await insertSession(tx, { id, accountId, ...rights, userAgent, isLocal, now, expiresAt });
  await keepNewestSessions(tx, accountId, MAX_SESSIONS, now);
  const [row] = await findSessions(tx, [id], now);
  invariant(row !== undefined, 'a session that was begun is there');
  return { session: toSession(sessionCaller(row)), token };
}

export async function listSessions(
  ctx: Store,
  { accountId, keyId }: AccountCaller,
): Promise<DataOf<Api['listSessions']>> {
  const now = ctx.clock.now();
  const rows = await listSessionRows(ctx.db, accountId, now, new Date(now.getTime() - IDLE_MS));
  return { sessions: rows.map((row) => ({ ...toSession(sessionCaller(row)), isCurrent: row.keyId === keyId })) };
}

/** Ends the caller's own session. No process takes it any more once this call is answered. */
export async function endSession(ctx: Store, caller: SessionCaller): Promise<void> {
  await endSessionRows(ctx.db, caller.accountId, caller.keyId, ctx.clock.now());
}

/** Ends a valid session of the account as `endSession` does. Throws NOT_FOUND when there is none. */
export async function endSessionById(
  ctx: Store,
  { accountId }: AccountCaller,
  sessionId: string,
): Promise<DataOf<Api['endSessionById']>> {
  if ((await endSessionRows(ctx.db, accountId, sessionId, ctx.clock.now())) === 0) throw notFound('session');
  return { sessionId, ended: true };
}

/** Ends every session of the account as `endSession` does. */
export async function endAllSessions(ctx: Store, { accountId }: AccountCaller): Promise<DataOf<Api['endAllSessions']>> {
  const ended = await endSessionRows(ctx.db, accountId, null, ctx.clock.now());
  return { ended };
}

/** Removes sessions a day after their latest possible end. */
export const forgetOldSessions = (ctx: Store): Promise<void> =>
  removeInSteps((most) => dropSessions(ctx.db, new Date(ctx.clock.now().getTime() - SESSION_MS - DAY_MS), most));
