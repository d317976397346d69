import type { AgentInterfaces } from '@agent-network/contracts/agents/agents';
import type { AgentRegistrationFile } from '@agent-network/contracts/agents/registration';
import type { Gateway } from '@agent-network/contracts/endpoint';
import type { NodeIdentity } from '../chain/chain-info.ts';

/** Addresses that a gateway gives each agent. */
const byGateway: Partial<Record<Gateway, (baseUrl: string, id: string) => Omit<AgentInterfaces, 'invoke'>>> = {
  x402: (baseUrl, id) => ({ x402: `${baseUrl}/x402/${id}`, openapi: `${baseUrl}/agents/${id}/openapi.json` }),
  a2a: (baseUrl, id) => ({
    // With the slash, clients find the card at `.well-known/agent-card.json` relative to it.
    a2a: `${baseUrl}/a2a/${id}/`,
    agentCard: `${baseUrl}/a2a/${id}/.well-known/agent-card.json`,
  }),
  mcp: (baseUrl, id) => ({ mcp: `${baseUrl}/agents/${id}/mcp` }),
  openai: (baseUrl, id) => ({ openai: { baseUrl: `${baseUrl}/v1`, model: id } }),
};

/** Addresses of an agent by protocol, for the protocols that this node serves. */
export const interfacesOf = (
  { baseUrl, gateways }: Pick<NodeIdentity, 'baseUrl'> & { readonly gateways: ReadonlySet<Gateway> },
  id: string,
): AgentInterfaces =>
  Object.assign(
    { invoke: `${baseUrl}/invoke/${id}` },
    ...[...gateways].map((gateway) => byGateway[gateway]?.(baseUrl, id) ?? {}),
  );

type Service = AgentRegistrationFile['services'][number];

/** A gateway's entry in the services of an ERC-8004 registration file, under the name that its readers know. */
const serviceByGateway: Partial<Record<Gateway, (baseUrl: string, id: string) => Service>> = {
  a2a: (baseUrl, id) => ({
    name: 'A2A',
    endpoint: `${baseUrl}/a2a/${id}/.well-known/agent-card.json`,
    version: '1.0',
  }),
  mcp: (baseUrl, id) => ({ name: 'MCP', endpoint: `${baseUrl}/agents/${id}/mcp`, version: '2026-07-28' }),
};

/** Services of an agent, by the gateways that this node serves. */
export const gatewayServicesOf = (
  { baseUrl, gateways }: Pick<NodeIdentity, 'baseUrl'> & { readonly gateways: ReadonlySet<Gateway> },
  id: string,
): Service[] => [...gateways].flatMap((gateway) => serviceByGateway[gateway]?.(baseUrl, id) ?? []);
