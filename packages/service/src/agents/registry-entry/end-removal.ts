import type { Tx } from '../../db/sql.ts';
import { emit } from '../../events/outbox/outbox.ts';
import { writeFinalBlock } from './agent-token-store.ts';

/** Notes, once, which block recorded the removal of an agent, and tells of it. */
export async function endRemoval(
  tx: Tx,
  { agentId, finalBlock, now }: { agentId: string; finalBlock: bigint; now: Date },
): Promise<void> {
  const removed = await writeFinalBlock(tx, agentId, finalBlock);
  if (!removed) return;
  const data = { id: agentId, unregistered: true, finalBlock: Number(finalBlock) } as const;
  await emit(tx, [{ type: 'agent.removed', accountId: removed.accountId, subjectId: agentId, data }], now);
}
