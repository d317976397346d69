import { readFile } from 'node:fs/promises';
import { askDatabase } from './books.ts';

const MIGRATION = new URL('../../src/db/migrations/0034-agent-use.sql', import.meta.url);

/** Has the use of agents counted anew from the requests as they are, as a node does when it is upgraded. */
export async function recountUse(databaseUrl: string): Promise<void> {
  const text = await readFile(MIGRATION, 'utf8');
  const counting = text.slice(text.indexOf('insert into agent_use'));
  await askDatabase(databaseUrl, `begin; lock table agent_use, call_change; delete from agent_use; ${counting} commit`);
}
