import type { IdentityRecord } from '@agent-network/contracts/agents/identity';
import { formatUsdc } from '@agent-network/contracts/money';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { notFound } from '../../lib/app-error.ts';
import type { RegistryIndex } from '../../registry/read/registry-tokens.ts';
import { latestWrite } from '../../registry/write/queue-write.ts';
import type { RegistryWrite } from '../../registry/write/registry-write.ts';
import type { Store } from '../../store/database.ts';
import { type Agent, isVerified } from '../agent.ts';
import { findAgentRow } from '../agent-store.ts';

/** An agent's identity: its owner, and the proofs of it. */
export async function readIdentity(ctx: EntryContext & NodeIdentity, id: string): Promise<IdentityRecord> {
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

type EntryContext = Store & RegistryIndex & Pick<NodeKeys, 'registrar'>;
type Entry = Pick<IdentityRecord, 'onChain' | 'registration'>;

/** The registry entry of an agent: from the index, and from this node's own writes until the index has read them. */
async function readEntry(ctx: EntryContext, agent: Agent): Promise<Entry> {
  const write = await latestWrite(ctx, ['register'], agent.id);
  // The agent was read first and may have got its token since.
  const tokenId = agent.tokenId ?? (write?.state === 'done' ? write.tokenId : null);
  if (tokenId === null) return { onChain: null, registration: progressOf(write) };
  const own = write?.tokenId === tokenId ? write : null;
  const token = (await ctx.registryTokens.at(BigInt(tokenId)))?.token ?? null;
  const holder = agent.tokenClaimedAt === null ? (ctx.registrar?.address ?? agent.owner) : agent.owner;
  const owner = token?.owner ?? holder;
  const registeredBlock = token?.registeredBlock ?? own?.blockNumber ?? null;
  const { chainId, address } = ctx.registry;
  return {
    registration: 'registered',
    onChain: {
      chainId,
      registry: address,
      tokenId,
      agentURI: token?.uri ?? own?.uri ?? null,
      owner,
      agentWallet: token?.wallet ?? null,
      registeredBlock: registeredBlock === null ? null : Number(registeredBlock),
      transactionHash: token?.registeredHash ?? own?.transactionHash ?? null,
      custody: owner === agent.owner ? 'owner' : 'node',
    },
  };
}

const progressOf = (write: RegistryWrite | null): Entry['registration'] =>
  write?.state === 'due' || write?.state === 'sent' ? write.state : 'none';
