import { emit } from '../../events/outbox/outbox.ts';
import type { Tx } from '../../store/sql.ts';
import { writeFinalBlock } from './agent-token-store.ts';

/** Records, once, the block of an agent's removal, and emits the event. */
export async function endRemoval(
  tx: Tx,
  { agentId, finalBlock, now }: { agentId: string; finalBlock: bigint; now: Date },
): Promise<void> {
  const removed = await writeFinalBlock(tx, agentId, finalBlock);
  if (!removed) return;
  const data = { id: agentId, unregistered: true, finalBlock: Number(finalBlock) } as const;
  await emit(tx, [{ type: 'agent.removed', accountId: removed.accountId, subjectId: agentId, data }], now);
}
