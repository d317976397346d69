import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { HasAuthenticator } from '../access/authenticate.ts';
import type { AccountCaller } from '../access/caller.ts';
import type { HasDb } from '../db/database.ts';
import { emit } from '../events/outbox.ts';
import { AppError } from '../lib/app-error.ts';
import type { HasClock } from '../lib/clock.ts';
import type { HasLog } from '../lib/log.ts';
import type { HasUsdc } from '../payments/x402/usdc-client.ts';
import { nextAgentStatus } from './agent.ts';
import { updateAgentRow } from './agent-store.ts';
import { writeListing } from './listing-store.ts';
import { lockOwnAgent } from './update-agent.ts';

/**
 * Removes an agent for good: it is no longer found or invoked, and its identityToken is worthless. Its treasury stays with the
 * account, and calls that are running come to their end. `finalBlock` is the head of the chain when it was removed.
 */
export async function removeAgent(
  ctx: HasDb & HasClock & HasUsdc & HasAuthenticator & HasLog,
  caller: Pick<AccountCaller, 'accountId'>,
  agentId: string,
): Promise<DataOf<Api['removeAgent']>> {
  await ctx.db.transaction((tx) => lockOwnAgent(tx, caller.accountId, agentId));
  const finalBlock = await ctx.usdc.headBlock().catch((cause) => {
    throw new AppError('UNAVAILABLE', 'The chain cannot be reached; the agent was not removed.', {}, { cause });
  });
  const now = ctx.clock.now();
  const removed = { id: agentId, unregistered: true, finalBlock: Number(finalBlock) } as const;
  await ctx.db.transaction(async (tx) => {
    const agent = await lockOwnAgent(tx, caller.accountId, agentId);
    const status = nextAgentStatus(agent.status, 'removed');
    await updateAgentRow(tx, agentId, { status, removedAt: now, finalBlock, nextCheckAt: null, updatedAt: now });
    await writeListing(tx, agent);
    const { accountId } = agent;
    await emit(tx, [{ type: 'agent.removed', accountId, subjectId: agentId, data: removed }], now);
  });
  ctx.authenticator.forget();
  return removed;
}
