import { readFile } from 'node:fs/promises';
import type { Database } from '../../src/db/database.ts';

const MIGRATION = new URL('../../src/db/migrations/0034-agent-use.sql', import.meta.url);

/** Has the use of agents counted anew from the requests as they are, as a node does when it is upgraded. */
export async function recountUse(db: Database): Promise<void> {
  const text = await readFile(MIGRATION, 'utf8');
  const counting = text.slice(text.indexOf('insert into agent_use'));
  await db.pool.query(`begin; lock table agent_use, call_change; delete from agent_use; ${counting} commit`);
}
