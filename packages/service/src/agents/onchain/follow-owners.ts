import { accountsOfWallets } from '../../accounts/link-wallet.ts';
import { emit } from '../../events/outbox/outbox.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import { freezeTreasury, giveTreasury } from '../../payments/ledger/treasury.ts';
import { latestWrite } from '../../registry/write/queue-write.ts';
import type { Tx } from '../../store/sql.ts';
import type { Agent } from '../agent.ts';
import { lockAgentRow } from '../agent-lock-store.ts';
import { toDetail } from '../agent-view.ts';
import { changeAgent } from '../change-agent.ts';
import { listSold } from './agent-token-store.ts';
import { inPages } from './in-pages.ts';
import type { RegistrationContext } from './register-verified.ts';

export interface FollowContext extends RegistrationContext, Telemetry {
  /** Spec: `location`. Where agents of this node are at home. */
  readonly nodeLabel: string;
}

/**
 * Applies changes of ownership on chain: when a token that its owner held moved to another wallet, that wallet owns the agent, the agent is
 * no longer verified, and its money is frozen until the wallet is proven here. Only transfers safe from reorgs count, and only while the
 * chain confirms them and the index has read the claim: the index may lag behind it, and so may the RPC node that answers.
 */
export async function followOwners(ctx: FollowContext): Promise<void> {
  await inPages(
    (page) => listSold(ctx.db, { chainId: ctx.registry.chainId, ...page }),
    async (sold) => {
      for (const { id, tokenId } of sold)
        await followOwner(ctx, id, tokenId).catch((error) =>
          ctx.log.warn({ err: error, agentId: id, tokenId }, 'agent owner lookup failed'),
        );
    },
  );
}

async function followOwner(ctx: FollowContext, agentId: string, tokenId: string): Promise<void> {
  const known = await ctx.registryTokens.at(BigInt(tokenId));
  if (!known?.isSafe || (await ctx.tokenClient.ownerOf(tokenId)) !== known.token.owner) return;
  const { owner } = known.token;
  const changed = await ctx.db.transaction(async (tx) => {
    const agent = await lockAgentRow(tx, agentId);
    if (agent?.tokenId !== tokenId || agent.tokenClaimedAt === null || agent.owner === owner) return false;
    const claim = await latestWrite(ctx, ['transfer'], agentId, tx);
    const isOlder = claim?.tokenId === tokenId && known.token.changedBlock < (claim.blockNumber ?? 0n);
    if (isOlder) return false;
    await (owner === agent.accountAddress ? giveBack(ctx, tx, agent) : freeze(ctx, tx, agent, owner));
    return true;
  });
  if (changed) ctx.log.info({ agentId, tokenId, owner }, 'agent owner changed on chain');
}

async function freeze(ctx: FollowContext, tx: Tx, agent: Agent, owner: string): Promise<void> {
  const now = ctx.clock.now();
  await changeAgent(tx, agent, { owner, frozenAt: agent.frozenAt ?? now }, now);
  await freezeTreasury(tx, agent.id, now);
  await tell(ctx, tx, agent.id, now);
}

/** Unfreezes an agent with a token that returned before another owner was proven. */
async function giveBack(ctx: FollowContext, tx: Tx, agent: Agent): Promise<void> {
  const now = ctx.clock.now();
  await changeAgent(tx, agent, { owner: agent.accountAddress, frozenAt: null }, now);
  await giveTreasury(tx, agent.id, agent.accountId);
  await tell(ctx, tx, agent.id, now);
}

/** Emits the event to the account that holds the agent here and to the account of the new owner's wallet. */
async function tell(ctx: FollowContext, tx: Tx, agentId: string, now: Date): Promise<void> {
  const agent = await lockAgentRow(tx, agentId);
  if (!agent) return;
  const newAccountId = (await accountsOfWallets(tx, [agent.owner])).get(agent.owner);
  const accountIds = new Set([agent.accountId, ...(newAccountId === undefined ? [] : [newAccountId])]);
  const data = toDetail(agent, ctx.nodeLabel);
  await emit(
    tx,
    [...accountIds].map((accountId) => ({ type: 'agent.owner_changed', accountId, subjectId: agent.id, data })),
    now,
  );
}
