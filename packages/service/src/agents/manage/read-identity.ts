import type { IdentityRecord } from '@agent-network/contracts/agents/identity';
import { formatUsdc } from '@agent-network/contracts/money';
import type { HasChain } from '../../chain/chain-info.ts';
import { notFound } from '../../lib/app-error.ts';
import { type Agent, isVerified } from '../agent.ts';
import { findAgentRow } from '../agent-store.ts';
import { type EntryContext, readEntry } from '../registry-entry/read-entry.ts';

/** An agent's identity: its owner, and the proofs of it. */
export async function readIdentity(ctx: EntryContext & HasChain, id: string): Promise<IdentityRecord> {
  const agent = await findAgentRow(ctx.db, id);
  if (!agent) throw notFound('agent');
  return {
    id,
    name: agent.name,
    owner: agent.owner,
    capabilities: agent.capabilities,
    serviceEndpoint: agent.endpoint,
    rates: pricingTiers(agent, ctx.chain.name),
    reputation: agent.reputation,
    verified: isVerified(agent),
    proofs: {
      endpoint: agent.endpointProvenAt?.toISOString() ?? null,
      wallet: agent.walletProvenAt?.toISOString() ?? null,
    },
    metadata: agent.metadata,
    frozen: agent.frozenAt !== null,
    ...(await readEntry(ctx, agent)),
  };
}

function pricingTiers(agent: Agent, network: string): IdentityRecord['rates'] {
  const perRequest = formatUsdc(agent.perRequestMicro);
  const tier = (name: 'basic' | 'premium' | 'enterprise') => ({
    name,
    perRequest: agent.tiers[name] ?? perRequest,
    perHour: null,
    currency: 'USDC' as const,
    network,
  });
  const main = { name: 'default' as const, perRequest, perHour: formatUsdc(agent.perHourMicro) };
  return [{ ...main, currency: 'USDC', network }, tier('basic'), tier('premium'), tier('enterprise')];
}
