import type { HasDb } from '../db/database.ts';
import type { Subject } from '../events/subjects.ts';
import { findBulk } from './bulk-store.ts';
import { toBulkRecord } from './bulk-view.ts';
import { findBulkRequests, findInvocation } from './invocation-store.ts';
import { toRecord } from './invocation-view.ts';

/** What events of requests and bulk requests are about, as the matching GET shows it. */
export async function readSubject(ctx: HasDb, { type, subjectId }: Subject): Promise<unknown> {
  if (type === 'bulk.completed') {
    const bulk = await findBulk(ctx.db, subjectId);
    if (bulk) return toBulkRecord(bulk, await findBulkRequests(ctx.db, subjectId));
  } else {
    const invocation = await findInvocation(ctx.db, subjectId);
    if (invocation) return toRecord(invocation);
  }
  throw new Error(`event ${type} is about ${subjectId}, which does not exist`);
}
