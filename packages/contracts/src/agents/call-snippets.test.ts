import { expect, it } from 'vitest';
import { callSnippets, type SnippetFacts } from './call-snippets.ts';

const id = 'agt_1';
const node = 'https://node.example';
const all: SnippetFacts = {
  agentId: id,
  price: '0.05',
  network: 'eip155:8453',
  interfaces: {
    invoke: `${node}/invoke/${id}`,
    x402: `${node}/x402/${id}`,
    a2a: `${node}/a2a/${id}`,
    agentCard: `${node}/a2a/${id}/.well-known/agent-card.json`,
    mcp: `${node}/agents/${id}/mcp`,
    openai: { baseUrl: `${node}/v1`, model: id },
  },
};
const labelsOf = (facts: SnippetFacts) => callSnippets(facts).map(({ label }) => label);
const without = (...names: (keyof SnippetFacts['interfaces'])[]): SnippetFacts => ({
  ...all,
  interfaces: Object.fromEntries(
    Object.entries(all.interfaces).filter(([name]) => !names.includes(name as keyof SnippetFacts['interfaces'])),
  ) as SnippetFacts['interfaces'],
});

const every = ['curl', 'TypeScript SDK', '@x402/fetch', 'MCP host', 'A2A client', 'openai', 'Vercel AI SDK'].concat(
  'Python openai',
);

it.each<[string, SnippetFacts, readonly string[]]>([
  ['everything', all, every],
  ['no gateway but REST', without('x402', 'a2a', 'agentCard', 'mcp', 'openai'), ['curl', 'TypeScript SDK']],
  ['no A2A', without('a2a', 'agentCard'), every.filter((label) => label !== 'A2A client')],
  [
    'a free agent, which needs neither wallet nor key',
    { ...all, price: '0.00' },
    ['curl, no key', ...every.filter((label) => label !== '@x402/fetch')],
  ],
  [
    'a free agent where nobody calls without a key',
    { ...without('x402'), price: '0.00' },
    every.filter((label) => label !== '@x402/fetch'),
  ],
])('has a snippet for each way in: %s', (_what, facts, labels) => expect(labelsOf(facts)).toEqual(labels));

it.each<[string, readonly string[]]>([
  ['curl', [`'${node}/invoke/agt_1'`, '"maxCost":"0.05"', '$AGENT_NETWORK_KEY']],
  ['TypeScript SDK', [`baseUrl: "${node}"`, 'invokeAndWait(client, "agt_1"', 'maxCost: "0.05"']],
  ['@x402/fetch', ['"eip155:8453"', `"${node}/x402/agt_1"`]],
  ['MCP host', [`"url": "${node}/agents/agt_1/mcp"`, '"mcpServers"']],
  ['A2A client', [`"${node}/a2a/agt_1/.well-known/agent-card.json"`, 'maxCost: "0.05"']],
  ['openai', [`baseURL: "${node}/v1"`, 'model: "agt_1"', 'max_cost: "0.05"']],
  ['Vercel AI SDK', [`baseURL: "${node}/v1"`, 'agents.chat("agt_1")']],
  ['Python openai', [`base_url="${node}/v1"`, 'model="agt_1"', '{"max_cost": "0.05"}']],
])('names id, address and price of the agent: %s', (label, parts) => {
  const code = callSnippets(all).find((each) => each.label === label)?.code;
  for (const part of parts) expect(code).toContain(part);
});

it('keeps an id that would end a text within it', () => {
  const hostile = `a'"$(id)`;
  const facts = { ...all, agentId: hostile, interfaces: { ...all.interfaces, invoke: `${node}/invoke/${hostile}` } };
  const [curl, sdk] = callSnippets(facts).map(({ code }) => code);
  expect(curl).toContain(`'${node}/invoke/a'\\''"$(id)'`);
  expect(sdk).toContain(`"a'\\"$(id)"`);
});
