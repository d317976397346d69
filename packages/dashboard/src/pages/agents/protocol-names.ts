import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';

export const protocolNames: Readonly<Record<AgentProtocol, string>> = {
  http: 'HTTP: task in, result out, as JSON',
  'http-template': 'Any HTTP service, by a template',
  a2a: 'A2A',
  openai: 'OpenAI-compatible chat',
  mcp: 'MCP tool',
  'mip-003': 'MIP-003',
};
