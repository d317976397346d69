import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Harness } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { modern } from '../../gateways/mcp/raw-client.ts';

let h: Harness;
beforeAll(async () => {
  h = await borrowHarness();
});
afterAll(() => h.stop());

const MANY = 4000;
const names = Array.from({ length: MANY }, (_, nth) => [`name${nth}`, 1]);
const unknown = Object.fromEntries(names);
const longName = { ['n'.repeat(500_000)]: 1 };
const tool = (args: object) => modern('tools/call', { name: 'search_agents', arguments: args });
const wrong = Array.from({ length: MANY }, () => 7);

it.each<[string, string, string, { body?: object; headers?: Record<string, string> }]>([
  [
    'thousands of query parameters',
    'GET',
    `/agents?${Array.from({ length: 2000 }, (_, n) => `p${n}=1`).join('&')}`,
    {},
  ],
  ['a query parameter with a long name', 'GET', `/agents?${'p'.repeat(20_000)}=1`, {}],
  ['thousands of unknown fields', 'POST', '/agents/search', { body: unknown }],
  ['thousands of wrong items', 'POST', '/agents/search', { body: { query: { capabilities: { any: wrong } } } }],
  ['a field with a long name', 'POST', '/agents/search', { body: longName }],
  ['thousands of unknown arguments of a tool', 'POST', '/mcp', tool(unknown)],
  ['an argument of a tool with a long name', 'POST', '/mcp', tool(longName)],
  [
    'thousands of wrong parts of a message',
    'POST',
    '/a2a',
    { body: message(wrong), headers: { 'a2a-version': '1.0' } },
  ],
])('the refusal of %s repeats little of them', async (_what, method, path, request) => {
  const { body } = await h.request(method, path, request);
  const answer = JSON.stringify(body);
  expect(answer).toMatch(/VALIDATION_ERROR|Invalid parameters|PAYLOAD_TOO_LARGE/);
  expect(answer.length).toBeLessThan(32_000);
});

function message(parts: readonly unknown[]) {
  const params = { message: { messageId: 'm', role: 'ROLE_USER', parts } };
  return { jsonrpc: '2.0', id: 1, method: 'SendMessage', params };
}
