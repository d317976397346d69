import type { Plan } from '@agent-network/contracts/access/access';
import type { KnownCaller } from '../../access/caller/caller.ts';
import type { HasDb } from '../../db/database.ts';
import { AppError } from '../../lib/app-error.ts';
import { storedBytes } from './storage-store.ts';

export interface HasStorageLimits {
  /** Storage limit in bytes of inputs, results and streams by plan; running requests may exceed it. */
  readonly storageLimits: Readonly<Record<Plan, number>>;
}

/** Throws STORAGE_LIMIT_EXCEEDED, before any charge, when the account is over its plan's storage limit. */
export async function requireStorage(ctx: HasDb & HasStorageLimits, { accountId, plan }: KnownCaller): Promise<void> {
  const limit = ctx.storageLimits[plan];
  const stored = Number(await storedBytes(ctx.db, accountId));
  if (stored < limit) return;
  throw new AppError(
    'STORAGE_LIMIT_EXCEEDED',
    'The stored request contents of the account have reached the limit of its plan; they are removed after their retention period. Nothing was charged.',
    { details: { storedBytes: stored, limitBytes: limit } },
  );
}
