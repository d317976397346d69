import type { Tx } from '../../db/sql.ts';
import { emit } from '../../events/outbox/outbox.ts';
import { networkListeners } from '../../events/webhooks/network-listeners.ts';

/** Emits the joining or leaving of a node to the network's listeners, in the caller's transaction. */
export async function tellNode(
  tx: Tx,
  type: 'network.node_joined' | 'network.node_left',
  { nodeId, label, baseUrl }: { nodeId: string; label: string; baseUrl: string },
  now: Date,
): Promise<void> {
  const listeners = await networkListeners(tx, type, now);
  const data = { nodeId, label, baseUrl };
  await emit(
    tx,
    listeners.map((accountId) => ({ type, accountId, subjectId: nodeId, data })),
    now,
  );
}
