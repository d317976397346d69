import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';

export const protocolNames: Readonly<Record<AgentProtocol, string>> = {
  http: 'Own program (HTTP)',
  'http-template': 'Any HTTP service',
  a2a: 'A2A',
  openai: 'OpenAI-compatible chat',
  mcp: 'MCP tool',
  'mip-003': 'MIP-003',
};
