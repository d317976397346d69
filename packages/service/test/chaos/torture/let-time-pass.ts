import { takeDeadProcess } from '../../../src/store/queue/process-store.ts';
import { askDatabase } from '../../support/books.ts';
import { withDatabaseOf } from '../../support/kept-connections.ts';

/** SQL: shifts the times that others wait by into the past. */
const AGE = `
  update process set seen_at = seen_at - interval '1 minute';
  update recurring set due_at = now();
  update chain_payment set created_at = created_at - interval '1 minute' where state not in ('settled', 'failed');
  update chain_signer set leased_until = leased_until - interval '1 minute';
  update chain_transaction set created_at = created_at - interval '1 minute' where state <> 'mined'`;

/**
 * A minute without any process, in no time: all that lived is as good as dead, and gone as if one that lives had noticed it
 * (test/store/queue/heartbeat.test.ts proves that one does); and what is left to others after a while is theirs now.
 */
export async function letTimePass(databaseUrl: string): Promise<void> {
  await askDatabase(databaseUrl, AGE);
  await withDatabaseOf(databaseUrl, async (db) => {
    while (await db.transaction((tx) => takeDeadProcess(tx)));
  });
}
