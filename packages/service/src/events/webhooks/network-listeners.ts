import type { EventType } from '@agent-network/contracts/events';
import { operatorAccounts } from '../../accounts/operators.ts';
import type { Sql } from '../../store/sql.ts';
import { listSubscribers } from './webhook-store.ts';

/** Maximum events of one transaction, with a reserve below the numbers available. */
const MAX_LISTENERS = 4000;

/**
 * Accounts that receive network events, which belong to no account: the operators, and those with an endpoint that names this event type. A
 * wildcard subscription covers the account's own events only.
 */
export async function networkListeners(sql: Sql, type: EventType, now: Date): Promise<string[]> {
  const [operators, subscribers] = [await operatorAccounts(sql, now), await listSubscribers(sql, type, MAX_LISTENERS)];
  return [...new Set([...operators, ...subscribers])].slice(0, MAX_LISTENERS);
}
