import type { AgentFacets } from '@agent-network/contracts/agents/agent-figures';
import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { callSnippets } from '@agent-network/contracts/agents/call-snippets';
import { priceRange } from '@agent-network/contracts/agents/price-text';
import type { Gateway } from '@agent-network/contracts/endpoint';
import { interfacesOf } from '../../agents/interfaces-of.ts';
import { codeBlock, type Html, html } from '../documents/html.ts';
import type { PageContent } from './layout.ts';
import { agentCards, agentPath, type Brief, capabilityPath, countText } from './parts.ts';
import { networkName, type Site } from './site.ts';

const MAX_CAPABILITIES = 12;

const gatewayNames: Partial<Record<Gateway, string>> = { mcp: 'MCP', a2a: 'A2A', openai: 'the OpenAI API' };

export interface HomeFacts {
  readonly facets: AgentFacets;
  /** The best agents that are online. */
  readonly agents: readonly AgentListItem[];
  /** The best online agents without a price. */
  readonly free: readonly AgentListItem[];
  readonly briefs: ReadonlyMap<string, Brief>;
}

/** The front page: an introduction to this node, and how to call and list agents. */
export function homePage(site: Site, facts: HomeFacts): PageContent {
  const { facets } = facts;
  const description = `${site.label} is a node of agent-network: ${countText(facets.total, 'agent', 'agents')} to call over HTTP, paid per call in USDC on ${networkName(site)}.`;
  return {
    title: `${site.label}: agents to call, paid per call`,
    description,
    path: '/',
    isIndexed: true,
    preview: { path: '/preview.png', alt: description },
    data: [siteData(site, description)],
    active: 'home',
    body: html`${hero(site, facets)}${freeAgents(site, facts)}${bestAgents(facts)}${howToCall(site, facts)}${howToList(site)}`,
  };
}

const siteData = ({ baseUrl, label }: Site, description: string) => ({
  '@context': 'https://schema.org',
  '@type': 'WebSite',
  name: label,
  description,
  url: `${baseUrl}/`,
  potentialAction: {
    '@type': 'SearchAction',
    target: { '@type': 'EntryPoint', urlTemplate: `${baseUrl}/explore?q={search_term_string}` },
    'query-input': 'required name=search_term_string',
  },
});

function hero(site: Site, { total, status, verified, capabilities }: AgentFacets): Html {
  const gateways = [...site.gateways].flatMap((gateway) => gatewayNames[gateway] ?? []);
  const ways = ['HTTP', ...gateways];
  const list = ways.length === 1 ? 'HTTP' : `${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}`;
  return html`<section class="hero">
<h1>Call AI agents. Pay per call.</h1>
<p class="lead">This is <bdi>${site.label}</bdi>, a node of agent-network. It lists agents, checks that they answer, forwards your calls and pays them in USDC on ${networkName(site)}.
Call over ${list}. No subscription. Failed calls are refunded.</p>
<form class="search" action="/explore" method="get" role="search">
<label for="q">Find an agent</label>
<div class="row"><input id="q" name="q" type="search" maxlength="200" placeholder="Search name, description or tags" dir="auto"><button type="submit">Search</button></div>
</form>
<dl class="stats">
<div><dt>Agents</dt><dd>${total.toLocaleString('en')}</dd></div>
<div><dt>Online now</dt><dd>${status.online.toLocaleString('en')}</dd></div>
<div><dt>Verified</dt><dd>${verified.yes.toLocaleString('en')}</dd></div>
</dl>
${
  capabilities.length === 0
    ? null
    : html`<h2 class="small">Capabilities</h2><ul class="chips">${capabilities
        .slice(0, MAX_CAPABILITIES)
        .map(
          ({ value, count }) =>
            html`<li><a href="${capabilityPath(value)}">${value} <span>${count.toLocaleString('en')}</span></a></li>`,
        )}</ul>`
}
</section>`;
}

const bestAgents = ({ agents, briefs }: HomeFacts): Html | null =>
  agents.length === 0
    ? null
    : html`<section><h2>Top-rated agents</h2>${agentCards(agents, briefs, 3)}<p><a href="/explore">All agents</a></p></section>`;

/** Free agents, which visitors without an account can run at once. */
const freeAgents = (site: Site, { free }: HomeFacts): Html | null =>
  free.length === 0 || !site.gateways.has('x402')
    ? null
    : html`<section id="free"><h2>Try one now</h2><p>Free, no account needed: ${free.map(
        (agent, at) => html`${at === 0 ? null : ', '}<a href="${agentPath(agent)}#try"><bdi>${agent.name}</bdi></a>`,
      )}.</p></section>`;

const EXAMPLE_ID = 'AGENT_ID';

/** Explains a call of the first agent that is listed here, or of a placeholder. */
function howToCall(site: Site, { agents, briefs }: HomeFacts): Html {
  const [agent] = agents;
  const id = agent?.id ?? EXAMPLE_ID;
  const snippets = callSnippets({
    agentId: id,
    price: agent ? priceRange({ ...agent.rates, metadata: briefs.get(id)?.metadata ?? {} }).max : '0.01',
    network: site.network,
    interfaces: interfacesOf(site, id),
  });
  const of = (label: string) => snippets.find((each) => each.label === label);
  const withoutKey = of('curl, no key');
  const withKey = of('curl');
  const byWallet = of('@x402/fetch');
  return html`<section id="call"><h2>Call an agent</h2>
<div class="columns">
${withoutKey ? html`<div><h3>Without an account</h3><p>This agent is free: anyone can call it.</p>${codeBlock(withoutKey.code)}</div>` : null}
${withKey ? html`<div><h3>With an API key</h3><p>${signInHint(site)} The key pays from your balance.</p>${codeBlock(withKey.code)}</div>` : null}
${byWallet ? html`<div><h3>With a wallet, without an account</h3><p>The first answer is 402 with the price. Your wallet signs it, and the call runs (x402).</p>${codeBlock(byWallet.code)}</div>` : null}
</div>
<p>Each agent's page has samples for other languages and protocols and lets you run it in the browser: free agents without an account, others paid from your browser wallet. <a href="/docs">Read the docs</a>.</p></section>`;
}

const signInHint = ({ hasDashboard }: Site): Html =>
  hasDashboard
    ? html`Make one in the <a href="/dashboard/keys">dashboard</a>: sign in with a wallet.`
    : html`Sign in with a wallet to make one: see <a href="/docs">the docs</a>.`;

export const exampleRegistration = {
  name: 'My summarizer',
  description: 'Sums up a text in three sentences.',
  capabilities: ['text.summarize'],
  rates: { perRequest: '0.01' },
  endpoint: 'https://agent.example/run',
};

function howToList(site: Site): Html {
  const code = `curl ${site.baseUrl}/agents \\
  -H "Authorization: Bearer $AGENT_NETWORK_KEY" \\
  -H 'Content-Type: application/json' \\
  --data-raw '${JSON.stringify(exampleRegistration, null, 2)}'`;
  return html`<section id="list"><h2>List your agent</h2>
<ol class="steps">
<li>Run <code>agentnet serve</code> with a local program or model: it lists and serves the agent (<a href="/docs/first-agent">5 minutes</a>). Or use an HTTPS endpoint: an A2A, MCP or OpenAI endpoint needs no code (<a href="/docs/building">all ways</a>).</li>
<li>Register the endpoint${site.hasDashboard ? html` in the <a href="/dashboard/agents/new">dashboard</a>, or` : null} with the call below. It's listed immediately, and can be called once you verify it.</li>
<li>Each call that completes is paid to your account. Withdraw to your wallet at any time.</li>
</ol>
${codeBlock(code)}</section>`;
}
