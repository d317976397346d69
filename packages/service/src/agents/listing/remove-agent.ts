import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import type { AccountCaller } from '../../accounts/caller.ts';
import type { ChainAccess } from '../../chain/chain-access.ts';
import { AppError } from '../../lib/app-error.ts';
import { until } from '../../lib/concurrency/until.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { dropWrite, latestWrite, queueWrite } from '../../registry/write/queue-write.ts';
import { retireCall } from '../../registry/write/registry-calls.ts';
import { nextAgentStatus } from '../agent.ts';
import { changeAgent, lockOwnAgent } from '../change-agent.ts';
import { readFinalBlock } from '../onchain/agent-token-store.ts';
import { endRemoval } from '../onchain/end-removal.ts';
import type { RegistrationContext } from '../onchain/register-verified.ts';
import { endTypes } from './declare-types.ts';

/** Maximum wait of a request for the chain to record the removal. */
const RECORDED_WITHIN_MS = 5000;

type RemoveContext = RegistrationContext &
  ChainAccess &
  Telemetry & { readonly registryWrites: { requestRun(): void } };

/**
 * Removes an agent for good: it can't be found or invoked, and its identityToken stops working. Its treasury stays with the account, and
 * running calls finish. A registry entry with a token that the node holds is retired: `finalBlock` is the block of that transaction if it
 * is mined in time, else the head of the chain at the removal.
 */
export async function removeAgent(
  ctx: RemoveContext,
  caller: Pick<AccountCaller, 'accountId'>,
  agentId: string,
): Promise<DataOf<Api['removeAgent']>> {
  await ctx.db.transaction((tx) => lockOwnAgent(tx, caller.accountId, agentId));
  const headBlock = await ctx.usdc.headBlock().catch((cause) => {
    throw new AppError('UNAVAILABLE', 'The chain cannot be reached; the agent was not removed.', {}, { cause });
  });
  const isRetired = await commitRemoval(ctx, caller, agentId, headBlock);
  if (isRetired) {
    ctx.registryWrites.requestRun();
    await untilRetired(ctx, agentId);
    await ctx.db.transaction((tx) => endRemoval(tx, { agentId, finalBlock: headBlock, now: ctx.clock.now() }));
  }
  const finalBlock = (await readFinalBlock(ctx.db, agentId)) ?? headBlock;
  return { id: agentId, unregistered: true, finalBlock: Number(finalBlock) };
}

/** Returns whether a write to the chain was planned as well. */
async function commitRemoval(
  ctx: RemoveContext,
  caller: Pick<AccountCaller, 'accountId'>,
  agentId: string,
  headBlock: bigint,
): Promise<boolean> {
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const agent = await lockOwnAgent(tx, caller.accountId, agentId);
    const status = nextAgentStatus(agent.status, 'removed');
    await changeAgent(tx, agent, { status, removedAt: now, nextCheckAt: null, updatedAt: now, typesId: null }, now);
    if (agent.typesId !== null) await endTypes(tx, agent.typesId, now);
    await dropWrite(ctx, tx, { kind: 'register', subjectId: agentId, failure: 'the agent was removed', now });
    const { tokenId, tokenClaimedAt } = agent;
    if (!ctx.registrar || tokenId === null || tokenClaimedAt !== null) {
      await endRemoval(tx, { agentId, finalBlock: headBlock, now });
      return false;
    }
    await queueWrite(ctx, tx, { kind: 'retire', subjectId: agentId, ...retireCall(ctx, tokenId) }, now);
    return true;
  });
}

async function untilRetired(ctx: RemoveContext, agentId: string): Promise<void> {
  const isEnded = async () => {
    const write = await latestWrite(ctx, ['retire'], agentId);
    return write?.state === 'done' || write?.state === 'failed' ? true : null;
  };
  await until(isEnded, { timeoutMs: RECORDED_WITHIN_MS, firstMs: 20, maxMs: 200 });
}
