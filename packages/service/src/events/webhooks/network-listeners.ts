import type { EventType } from '@agent-network/contracts/events';
import { operatorAccounts } from '../../access/accounts/operators.ts';
import type { Sql } from '../../db/sql.ts';
import { listSubscribers } from './webhook-store.ts';

/** Events of one transaction are numbered, and there are only so many numbers. */
const MOST = 4000;

/**
 * The accounts that hear what happens to the network, which belongs to nobody: the operators, and those with an endpoint that asks for
 * this event by name. One that asks for everything means what happens to its account.
 */
export async function networkListeners(sql: Sql, type: EventType, now: Date): Promise<string[]> {
  const [operators, subscribers] = [await operatorAccounts(sql, now), await listSubscribers(sql, type, MOST)];
  return [...new Set([...operators, ...subscribers])].slice(0, MOST);
}
