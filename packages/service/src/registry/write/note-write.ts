import type { HasDb } from '../../db/database.ts';
import type { Sql, Tx } from '../../db/sql.ts';
import type { HasRegistry } from '../read/registry-info.ts';
import type { NewWrite, RegistryWrite, WriteKind } from './registry-write.ts';
import { dropDueWrite, findWrite, insertWrite, isFailedAfter } from './registry-write-store.ts';

/** Queues a registry write in the caller's transaction; one that is already queued or done is left unchanged. */
export const noteWrite = ({ registry }: HasRegistry, tx: Tx, write: NewWrite, now: Date): Promise<void> =>
  insertWrite(tx, registry.chainId, write, now);

/** Withdraws a write that has not been sent; one that has been sent runs to its end. */
export const dropWrite = (
  { registry }: HasRegistry,
  tx: Tx,
  write: Pick<NewWrite, 'kind' | 'subjectId'> & { failure: string; now: Date },
): Promise<void> => dropDueWrite(tx, registry.chainId, write);

/** The newest write of these kinds for a subject, preferring one that has not failed; null when there is none. */
export const latestWrite = (
  ctx: HasDb & HasRegistry,
  kinds: readonly WriteKind[],
  subjectId: string,
  sql: Sql = ctx.db,
): Promise<RegistryWrite | null> => findWrite(sql, ctx.registry.chainId, kinds, subjectId);

/** True if the registry has reverted a write of this kind and URI for the subject since a time, as often as it is tried. */
export const hasFailedAfter = (
  ctx: HasDb & HasRegistry,
  write: Pick<NewWrite, 'kind' | 'subjectId' | 'uri'>,
  after: Date,
): Promise<boolean> => isFailedAfter(ctx.db, ctx.registry.chainId, write, after);
