import {
  agentRegistryOf,
  type NodeRegistrationFile,
  nodeFeatures,
  REGISTRATION_TYPE,
} from '@agent-network/contracts/agents/registration';

export interface NodeFacts {
  readonly baseUrl: string;
  readonly label: string;
  readonly version: string;
  /** Receives payments for the node's agents and sends refunds. */
  readonly wallet: string;
  /** The node's own entry; null: none yet. */
  readonly tokenId: string | null;
  readonly registry: { readonly chainId: number; readonly address: string };
}

/** This node's registration file (ERC-8004), to which its token points. */
export const toNodeFile = ({
  baseUrl,
  label,
  version,
  wallet,
  tokenId,
  registry,
}: NodeFacts): NodeRegistrationFile => ({
  type: REGISTRATION_TYPE,
  name: label,
  description: 'A node of the agent network: agents that are found, invoked and paid in USDC over x402.',
  services: [
    { name: 'agent-network', endpoint: baseUrl, version },
    { name: 'OpenAPI', endpoint: `${baseUrl}/openapi.json` },
  ],
  x402Support: true,
  active: true,
  registrations:
    tokenId === null
      ? []
      : [{ agentId: Number(tokenId), agentRegistry: agentRegistryOf(registry.chainId, registry.address) }],
  supportedTrust: [],
  agentNetwork: { kind: 'node', baseUrl, label, version, wallet, features: [...nodeFeatures] },
});
