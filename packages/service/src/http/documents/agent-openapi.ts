import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { agentOpenApiDocument } from '@agent-network/contracts/openapi/agent-openapi';
import type { HasBaseUrl } from '../../chain/chain-info.ts';

/** The OpenAPI document of an agent, with the price that it asks now. */
export const agentOpenApi = ({ baseUrl }: HasBaseUrl, { rates, ...agent }: AgentDetail & { types?: AgentTypes }) =>
  agentOpenApiDocument({ ...agent, price: rates.perRequest }, baseUrl);
