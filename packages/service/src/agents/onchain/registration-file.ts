import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import {
  type AgentRegistrationFile,
  agentRegistryOf,
  REGISTRATION_TYPE,
} from '@agent-network/contracts/agents/registration';
import type { Gateway } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import { type Agent, isVerified } from '../agent.ts';
import { gatewayServicesOf } from '../interfaces-of.ts';

/** The node that serves the file, its gateways, and the registry of its token. */
export interface RegistrationHost {
  /** The enabled gateways, besides REST. */
  readonly gateways: ReadonlySet<Gateway>;
  readonly baseUrl: string;
  readonly registry: { readonly chainId: number; readonly address: string };
}

/** The service entry of the node: agents are called through it, and it takes the payment. */
const SERVICE = 'agent-network';

export const registrationUrl = (baseUrl: string, agentId: string): string =>
  `${baseUrl}/agents/${agentId}/registration.json`;

/**
 * The ERC-8004 registration file of an agent of this node, removed ones included; its token points to it. `types` are included if given.
 */
export function toRegistrationFile(
  agent: Agent,
  place: RegistrationHost,
  types: AgentTypes | null = null,
): AgentRegistrationFile {
  const { baseUrl, registry } = place;
  const { avatar, website } = agent.metadata;
  return {
    type: REGISTRATION_TYPE,
    name: agent.name,
    description: agent.description,
    ...(avatar === undefined ? {} : { image: avatar }),
    services: [
      { name: SERVICE, endpoint: `${baseUrl}/invoke/${agent.id}`, version: '1' },
      ...gatewayServicesOf(place, agent.id),
      ...(website === undefined ? [] : [{ name: 'web', endpoint: website }]),
    ],
    x402Support: true,
    active: agent.status !== 'removed',
    registrations:
      agent.tokenId === null
        ? []
        : [{ agentId: Number(agent.tokenId), agentRegistry: agentRegistryOf(registry.chainId, registry.address) }],
    supportedTrust: ['reputation'],
    agentNetwork: {
      kind: 'agent',
      id: agent.id,
      ...(agent.idSalt === null ? {} : { idSalt: agent.idSalt }),
      nodeUrl: baseUrl,
      owner: agent.owner,
      capabilities: agent.capabilities,
      rates: {
        perRequest: formatUsdc(agent.perRequestMicro),
        perHour: formatUsdc(agent.perHourMicro),
        tiers: { ...agent.tiers },
      },
      metadata: agent.metadata,
      ...(agent.exampleQuestions.length === 0 ? {} : { exampleQuestions: [...agent.exampleQuestions] }),
      verified: isVerified(agent),
      status: agent.status === 'removed' ? 'offline' : agent.status,
      responseMs: agent.responseMs,
      ...(agent.typesId === null ? {} : { typesVersion: agent.typesId }),
      ...(types === null ? {} : { types: JSON.stringify(types) }),
      createdAt: agent.createdAt.toISOString(),
      updatedAt: agent.updatedAt.toISOString(),
    },
  };
}
