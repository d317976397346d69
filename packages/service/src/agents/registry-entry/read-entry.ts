import type { IdentityRecord } from '@agent-network/contracts/agents/identity';
import type { HasRegistrar } from '../../chain/keys/node-keys.ts';
import type { HasDb } from '../../db/database.ts';
import type { RegistryIndex } from '../../registry/read/registry-tokens.ts';
import { latestWrite } from '../../registry/write/note-write.ts';
import type { RegistryWrite } from '../../registry/write/registry-write.ts';
import type { Agent } from '../agent.ts';

export type EntryContext = HasDb & RegistryIndex & HasRegistrar;
type Entry = Pick<IdentityRecord, 'onChain' | 'registration'>;

/** The registry entry of an agent: from the index, and from this node's own writes until the index has read them. */
export async function readEntry(ctx: EntryContext, agent: Agent): Promise<Entry> {
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
