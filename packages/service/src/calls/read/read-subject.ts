import type { Subject, Subjects } from '../../events/outbox/subjects.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import type { Store } from '../../store/database.ts';
import { toBulkRecord } from '../bulk/bulk.ts';
import { findBulk } from '../bulk/bulk-store.ts';
import { toRecord } from '../invocation-view.ts';
import { findBulkRecords, findRecords, findRecordsWithin, type InvocationRecord } from '../record-store.ts';

/** Batch size: records are large, so at most this many are in memory. */
const MAX_BATCH = 50;

/** Reads the subjects of request and bulk events as the matching GET shows them; batches concurrent reads of single ones. */
export function createSubjectReader(ctx: Pick<Store, 'db'>): Subjects {
  const requests = createBatcher<string, InvocationRecord | null>({
    maxSize: MAX_BATCH,
    maxConcurrent: 2,
    run: async (ids) => {
      const found = await findRecords(ctx.db, ids);
      return ids.map((id) => found.get(id) ?? null);
    },
  });
  return {
    readSubject: async (subject) =>
      isBulk(subject) ? readBulk(ctx, subject) : shown(subject, await requests.add(subject.subjectId)),
    async readSubjects(subjects, { maxBytes }) {
      const bulk = subjects.findIndex(isBulk);
      if (bulk === 0 && subjects[0]) return [await readBulk(ctx, subjects[0])];
      const first = bulk === -1 ? subjects : subjects.slice(0, bulk);
      const ids = first.map(({ subjectId }) => subjectId);
      const found = await findRecordsWithin(ctx.db, ids, maxBytes);
      return found.map((record, index) => shown(first[index] as Subject, record));
    },
  };
}

const isBulk = ({ type }: Subject) => type === 'bulk.completed';

async function readBulk({ db }: Pick<Store, 'db'>, subject: Subject) {
  const bulk = await findBulk(db, subject.subjectId);
  if (!bulk) throw missing(subject);
  return toBulkRecord(bulk, await findBulkRecords(db, bulk.id, bulk.winner));
}

function shown(subject: Subject, record: InvocationRecord | null) {
  if (!record) throw missing(subject);
  return toRecord(record);
}

const missing = ({ type, subjectId }: Subject) =>
  new Error(`event ${type} is about ${subjectId}, which does not exist`);
