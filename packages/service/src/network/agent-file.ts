import { AgentRegistration } from '@agent-network/contracts/agents/agents';
import { AgentPart } from '@agent-network/contracts/agents/registration';
import { parseUsdc } from '@agent-network/contracts/money';
import { isBoundId, isIdOf } from '../agents/agent-id.ts';
import type { RemoteAgent } from '../agents/search/remote-agent.ts';
import type { Entry, Reason } from './entry.ts';
import { faultOfKind, faultOfToken, type RegistryPlace } from './registered-file.ts';

export type AgentEntry = Pick<Entry, 'baseUrl' | 'tokenId' | 'owner' | 'registeredBy'> & { readonly agentId: string };

export interface RegistrarPlace extends RegistryPlace {
  /** The key that the node registers with: it holds its agents' unclaimed tokens, and its agents' ids are bound to it. */
  readonly registrar: string | null;
  readonly now: Date;
}

/**
 * Validates the file behind an agent's entry: it belongs to that agent and home node, names the entry's token, and agrees with the chain on
 * the owner. Its content must be valid for a registration; none of its times is in the future.
 */
export function judgeAgentFile(file: unknown, entry: AgentEntry, here: RegistrarPlace): RemoteAgent | Reason {
  const fault = faultOfKind(file, 'agent');
  if (fault) return fault;
  const { name, description, active, agentNetwork } = file as Record<string, unknown>;
  const parsed = AgentPart.safeParse(agentNetwork);
  if (!parsed.success) return 'bad_file';
  const part = parsed.data;
  if (part.id !== entry.agentId) return 'other_id';
  if (part.nodeUrl !== entry.baseUrl) return 'other_address';
  if (isBoundId(part.id) && !isIdOf(part.id, here.registrar, part.idSalt)) return 'other_home';
  const other = faultOfToken(file, entry.tokenId, here);
  if (other) return other;
  const owner = part.owner.toLowerCase();
  if (owner !== entry.owner && !isUnclaimed(entry, here)) return 'other_owner';
  const { capabilities, rates, metadata, exampleQuestions } = part;
  const endpoint = `${entry.baseUrl}/invoke/${entry.agentId}`;
  const checked = AgentRegistration.safeParse({
    ...{ name, description, capabilities, rates, endpoint, metadata, exampleQuestions },
  });
  if (!checked.success) return 'bad_file';
  return {
    id: part.id,
    tokenId: entry.tokenId,
    owner,
    ...{ name: checked.data.name, description: checked.data.description, capabilities: checked.data.capabilities },
    perRequestMicro: parseUsdc(rates.perRequest),
    perHourMicro: parseUsdc(rates.perHour),
    tiers: rates.tiers,
    metadata: checked.data.metadata,
    exampleQuestions: checked.data.exampleQuestions,
    status: active === false ? 'removed' : part.status,
    isVerified: part.verified,
    createdAt: notLater(part.createdAt, here.now),
    updatedAt: notLater(part.updatedAt, here.now),
    typesVersion: part.typesVersion ?? null,
  };
}

/** The agent's declared types as the file has them: JSON text, not validated. */
export function typesTextOf(file: unknown): string | null {
  const parsed = AgentPart.safeParse((file as { agentNetwork?: unknown }).agentNetwork);
  return (parsed.success && parsed.data.types) || null;
}

/** True when a key of the node registered the token and still holds it. */
const isUnclaimed = ({ owner, registeredBy }: AgentEntry, { registrar }: RegistrarPlace): boolean =>
  owner === registeredBy && owner === registrar;

const notLater = (text: string, now: Date): Date => new Date(Math.min(Math.max(Date.parse(text), 0), now.getTime()));
