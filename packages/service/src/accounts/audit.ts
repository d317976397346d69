import type { Api } from '@agent-network/contracts/api';
import type { DataOf, Parsed } from '@agent-network/contracts/endpoint';
import { type ErrorCode, errorCatalogue } from '@agent-network/contracts/errors';
import { AppError } from '../lib/app-error.ts';
import { DAY_MS } from '../lib/duration.ts';
import { newId } from '../lib/id.ts';
import { removeInSteps } from '../lib/retention.ts';
import type { Store } from '../store/database.ts';
import { DatabaseAwayError } from '../store/database-away.ts';
import {
  type AuditRow,
  dropAuditEntries,
  endAuditEntry,
  hasAuditEntry,
  insertAuditEntry,
  listAuditRows,
} from './audit-store.ts';
import type { AccountCaller } from './caller.ts';

/** Retention period of entries. */
const KEPT_MS = 400 * DAY_MS;
const PAGE = 50;

/** The fields of a change besides its time and end: ids and names, never secrets or bodies. */
export type NewAuditEntry = Omit<AuditRow, 'id' | 'at' | 'outcome' | 'code'>;

/** The end of a change in its entry. */
export type AuditEnd = Pick<AuditRow, 'outcome' | 'code'>;

/** Writes an entry; without an end it is `unknown` until `endEntry`. */
export async function writeEntry(
  ctx: Store,
  entry: NewAuditEntry,
  end: AuditEnd = { outcome: 'unknown', code: null },
): Promise<string> {
  const at = ctx.clock.now();
  const id = newId('aud', at.getTime());
  await insertAuditEntry(ctx.db, { ...entry, ...end, id, at });
  return id;
}

/** True if the account has done this to the thing of that id by a key or in a session, as far as entries are kept. */
export const hasDone = (ctx: Store, done: Parameters<typeof hasAuditEntry>[1]): Promise<boolean> =>
  hasAuditEntry(ctx.db, done);

/** Records the end of a change in its entry. */
export const endEntry = (ctx: Store, id: string, end: AuditEnd & Pick<AuditRow, 'subject'>): Promise<void> =>
  endAuditEntry(ctx.db, { id, ...end });

/** The end of a change by its error: refused by a rule, or unknown. */
export function endByError(error: unknown): AuditEnd {
  if (error instanceof DatabaseAwayError) return { outcome: 'unknown', code: 'UNAVAILABLE' };
  if (!(error instanceof AppError)) return { outcome: 'unknown', code: 'INTERNAL_ERROR' };
  const code: ErrorCode = error.code;
  return { outcome: errorCatalogue[code].status < 500 ? 'refused' : 'unknown', code };
}

export const actorOf = (caller: AccountCaller): Pick<AuditRow, 'actorKind' | 'actorId' | 'actorName'> => ({
  actorKind: caller.session ? 'session' : 'key',
  actorId: caller.keyId,
  actorName: caller.name,
});

/** The account's entries, newest first. */
export async function listAudit(
  ctx: Store,
  { accountId }: AccountCaller,
  { limit = PAGE, cursor }: Parsed<Api['listAudit']>['query'],
): Promise<DataOf<Api['listAudit']>> {
  const rows = await listAuditRows(ctx.db, accountId, { before: cursor ?? null, limit: limit + 1 });
  const entries = rows.slice(0, limit);
  return { entries: entries.map(toEntry), nextCursor: rows.length > limit ? (entries.at(-1)?.id ?? null) : null };
}

const toEntry = ({ id, at, accountId: _, actorKind, actorId, actorName, ...rest }: AuditRow) => ({
  entryId: id,
  at: at.toISOString(),
  actor: { kind: actorKind, id: actorId, name: actorName },
  ...rest,
});

/** Removes entries older than 400 days, in batches. */
export const forgetOldEntries = (ctx: Store): Promise<void> =>
  removeInSteps((most) => dropAuditEntries(ctx.db, new Date(ctx.clock.now().getTime() - KEPT_MS), most));
