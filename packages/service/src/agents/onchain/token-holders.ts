import { AppError } from '../../lib/app-error.ts';
import type { TreasuryOwners } from '../../payments/payouts/treasury-owners.ts';
import type { RegistryIndex } from '../../registry/read/registry-tokens.ts';
import type { Store } from '../../store/database.ts';
import type { Agent } from '../agent.ts';
import { findAgentRow } from '../agent-store.ts';

/**
 * Throws CONFLICT when the contract names another wallet than this as the holder of an agent's claimed token: the index may have missed the
 * sale, or not have read it yet. UNAVAILABLE when the chain can't be asked.
 */
export async function requireHolder(
  { tokenClient }: RegistryIndex,
  { tokenId, tokenClaimedAt }: Pick<Agent, 'tokenId' | 'tokenClaimedAt'>,
  wallet: string,
): Promise<void> {
  if (tokenId === null || tokenClaimedAt === null) return;
  const holder = await tokenClient.ownerOf(tokenId).catch((cause) => {
    const message = "The chain cannot be asked who holds the agent's token. Nothing was done.";
    throw new AppError('UNAVAILABLE', message, {}, { cause });
  });
  if (holder === wallet) return;
  throw new AppError(
    'CONFLICT',
    `The agent's token belongs to ${holder ?? 'nobody'} on chain by now, and with it the agent and its money. Nothing was done.`,
  );
}

/** Asks the contract who owns an agent before its treasury pays out. */
export const createTreasuryOwners = (ctx: Store & RegistryIndex): TreasuryOwners => ({
  async require(agentId) {
    const agent = await findAgentRow(ctx.db, agentId);
    if (agent) await requireHolder(ctx, agent, agent.owner);
  },
});
