import type { HasDb } from '../../db/database.ts';
import type { HasSubjects, Subject } from '../../events/outbox/subjects.ts';
import { createBatcher } from '../../lib/batcher.ts';
import { findBulk } from '../bulk/bulk-store.ts';
import { toBulkRecord } from '../bulk/bulk-view.ts';
import type { Invocation } from '../invocation.ts';
import { findBulkRequests, findInvocations } from '../invocation-store.ts';
import { toRecord } from '../invocation-view.ts';

/** Batch size: records are large, so at most this many are in memory. */
const MAX_BATCH = 50;

/** Reads the subjects of request and bulk events as the matching GET shows them; batches concurrent reads into one query. */
export function createSubjectReader(ctx: HasDb): HasSubjects['readSubject'] {
  const requests = createBatcher<string, Invocation | null>({
    maxSize: MAX_BATCH,
    maxConcurrent: 2,
    run: async (ids) => {
      const found = new Map((await findInvocations(ctx.db, [...new Set(ids)])).map((each) => [each.id, each]));
      return ids.map((id) => found.get(id) ?? null);
    },
  });
  return async ({ type, subjectId }: Subject) => {
    if (type === 'bulk.completed') {
      const bulk = await findBulk(ctx.db, subjectId);
      if (bulk) return toBulkRecord(bulk, await findBulkRequests(ctx.db, subjectId));
    } else {
      const invocation = await requests.add(subjectId);
      if (invocation) return toRecord(invocation);
    }
    throw new Error(`event ${type} is about ${subjectId}, which does not exist`);
  };
}
