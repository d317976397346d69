import type { Store } from '../store/database.ts';
import { findOwner } from './agent-store.ts';

/** The owner's address of an agent that has been here, removed or not. */
export async function readOwner({ db }: Store, agentId: string): Promise<string> {
  const owner = await findOwner(db, agentId);
  if (owner === null) throw new Error(`agent ${agentId} has no row`);
  return owner;
}
