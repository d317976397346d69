import { expect, it } from 'vitest';
import { gatewayServicesOf, interfacesOf } from './interfaces-of.ts';

const baseUrl = 'https://node.example';

it('an agent has the addresses of the gateways that are served, and no others', () => {
  const invoke = `${baseUrl}/invoke/agt_1`;
  expect(interfacesOf({ baseUrl, gateways: new Set() }, 'agt_1')).toEqual({ invoke });
  expect(interfacesOf({ baseUrl, gateways: new Set(['mcp'] as const) }, 'agt_1')).toEqual({
    invoke,
    mcp: `${baseUrl}/agents/agt_1/mcp`,
  });
  expect(interfacesOf({ baseUrl, gateways: new Set(['a2a'] as const) }, 'agt_1')).toEqual({
    invoke,
    a2a: `${baseUrl}/a2a/agt_1/`,
    agentCard: `${baseUrl}/a2a/agt_1/.well-known/agent-card.json`,
  });
  expect(interfacesOf({ baseUrl, gateways: new Set(['openai'] as const) }, 'agt_1')).toEqual({
    invoke,
    openai: { baseUrl: `${baseUrl}/v1`, model: 'agt_1' },
  });
  expect(interfacesOf({ baseUrl, gateways: new Set(['x402'] as const) }, 'agt_1')).toEqual({
    invoke,
    x402: `${baseUrl}/x402/agt_1`,
    openapi: `${baseUrl}/agents/agt_1/openapi.json`,
  });
});

it('a registration file names the gateways that are served, and no others', () => {
  expect(gatewayServicesOf({ baseUrl, gateways: new Set(['x402'] as const) }, 'agt_1')).toEqual([]);
  expect(gatewayServicesOf({ baseUrl, gateways: new Set(['mcp'] as const) }, 'agt_1')).toEqual([
    { name: 'MCP', endpoint: `${baseUrl}/agents/agt_1/mcp`, version: '2026-07-28' },
  ]);
  expect(gatewayServicesOf({ baseUrl, gateways: new Set(['a2a'] as const) }, 'agt_1')).toEqual([
    { name: 'A2A', endpoint: `${baseUrl}/a2a/agt_1/.well-known/agent-card.json`, version: '1.0' },
  ]);
});
