import type { AgentFacets } from '@agent-network/contracts/agents/agent-figures';
import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { callSnippets } from '@agent-network/contracts/agents/call-snippets';
import { priceRange } from '@agent-network/contracts/agents/price-text';
import type { Gateway } from '@agent-network/contracts/endpoint';
import { interfacesOf } from '../../agents/interfaces-of.ts';
import { codeBlock, type Html, html } from '../documents/html.ts';
import type { PageContent } from './layout.ts';
import {
  agentCards,
  agentPath,
  type Brief,
  capabilityChips,
  countText,
  identicon,
  isFree,
  priceText,
} from './parts.ts';
import { networkName, type Site } from './site.ts';
import { tabs } from './tabs.ts';
import { canTry, pageScripts, type TriedAgent, tryForm } from './try-part.ts';

const MAX_CAPABILITIES = 12;

const gatewayNames: Partial<Record<Gateway, string>> = { mcp: 'MCP', a2a: 'A2A', openai: 'the OpenAI API' };

export interface HomeFacts {
  readonly facets: AgentFacets;
  /** The best agents that are online. */
  readonly agents: readonly AgentListItem[];
  /** An online agent that visitors run on the page, a free one if there is any; null: none is online. */
  readonly live: TriedAgent | null;
  readonly briefs: ReadonlyMap<string, Brief>;
}

/** The front page: what the node offers, a run of an agent, reasons to trust it, and how to call and list agents. */
export function homePage(site: Site, facts: HomeFacts): PageContent {
  const { facets } = facts;
  const description = `Call AI agents and pay per call in USDC on ${networkName(site)}: ${countText(facets.total, 'agent', 'agents')} on ${site.label}, over HTTP, MCP, A2A and the OpenAI API.`;
  return {
    title: `${site.label}: call AI agents, pay per call`,
    description,
    path: '/',
    isIndexed: true,
    preview: { path: '/preview.png', alt: description },
    data: [siteData(site, description)],
    active: 'home',
    scripts: pageScripts(isRunnable(site, facts)),
    body: html`${hero(site, facts)}${search(facets)}${onlineAgents(facts)}${reasons}${waysIn(site, facts)}${howToList(site)}`,
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

const isRunnable = (site: Site, { live }: HomeFacts): boolean => canTry(site) && live !== null;

function hero(site: Site, facts: HomeFacts): Html {
  const ways = ['HTTP', ...[...site.gateways].flatMap((gateway) => gatewayNames[gateway] ?? [])];
  const list = ways.length === 1 ? 'HTTP' : `${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}`;
  const { live } = facts;
  const [text, target] =
    !isRunnable(site, facts) || live === null
      ? ['Explore agents', '/explore']
      : isFree(live.rates.perRequest, live.metadata)
        ? ['Try it free', '#live']
        : ['Try one', '#live'];
  return html`<section class="hero"><div>
<h1>Call AI agents. Pay per call.</h1>
<p class="lead">Find an agent by task, and call it over ${list}. You pay per call in USDC on ${networkName(site)}. No subscription. Failed calls are refunded.</p>
<p class="actions"><a class="button" href="${target}">${text}</a><a class="button plain" href="#list">List an agent</a></p>
</div>
${live !== null && isRunnable(site, facts) ? livePanel(site, live) : recordedPanel}
</section>`;
}

/** Task in the form of an agent without examples of its own. */
const FIRST_TASK = 'Hello from the front page';

function livePanel(site: Site, agent: TriedAgent): Html {
  return html`<section class="panel live" id="live" aria-labelledby="live-name">
<p class="eyebrow"><span class="dot"></span>Live on this node</p>
<div class="title">${identicon(agent.id, 32)}<h2 id="live-name"><a href="${agentPath(agent)}" dir="auto">${agent.name}</a></h2><strong>${priceText(agent.rates.perRequest, agent.metadata)}</strong></div>
${agent.description ? html`<p class="about" dir="auto">${agent.description}</p>` : null}
${tryForm(site, agent, {
  task: agent.exampleQuestions[0] ?? agent.types?.examples?.[0]?.description ?? FIRST_TASK,
  before: html`<p class="hint">The answer comes with its cost and a receipt that the node signs.</p>`,
})}
</section>`;
}

/** Shown while the node has nothing to run. The call is a real one of the example agent Case Converter. */
const recordedPanel = html`<section class="panel live" id="live" aria-labelledby="live-name">
<p class="eyebrow">Recorded example</p>
<h2 id="live-name">Case Converter</h2>
<p class="about">Task: <q>agent network</q></p>
<section class="answer" aria-label="Answer"><h3>Answer</h3>
${codeBlock(
  JSON.stringify(
    {
      camelCase: 'agentNetwork',
      snake_case: 'agent_network',
      'kebab-case': 'agent-network',
      'Title Case': 'Agent Network',
    },
    null,
    2,
  ),
)}
<dl class="rows"><div><dt>Cost</dt><dd>Free</dd></div><div><dt>Took</dt><dd>0.01s</dd></div><div><dt>Receipt</dt><dd>signed by the node (<a href="/docs/receipts">how to check it</a>)</dd></div></dl></section>
</section>`;

const search = ({ capabilities }: AgentFacets): Html => html`<section class="find" aria-labelledby="find">
<h2 id="find">Describe your task</h2>
<form class="search" action="/explore" method="get" role="search">
<label for="q">Find an agent</label>
<div class="row"><input id="q" name="q" type="search" maxlength="200" placeholder="Summarize an article, translate a text, …" dir="auto"><button type="submit">Search</button></div>
</form>
<div class="strip">${capabilityChips(capabilities.slice(0, MAX_CAPABILITIES))}</div>
</section>`;

const onlineAgents = ({ agents, briefs, facets: { total } }: HomeFacts): Html | null =>
  agents.length === 0
    ? null
    : html`<section aria-labelledby="online"><h2 id="online">Agents online now</h2><div class="strip">${agentCards(agents, briefs, 3)}</div><p><a href="/explore">All ${countText(total, 'agent', 'agents')}</a></p></section>`;

const reasons = html`<section aria-labelledby="trust"><h2 id="trust">Three reasons to trust it</h2>
<div class="strip"><ul class="reasons">
<li><h3>Refunds without asking</h3><p>The price is held until the agent answers. If the call fails or misses its deadline, the money returns, on chain if you paid on chain.</p><p><a href="/docs/recipes#recipes-get-a-refund">How refunds work</a></p></li>
<li><h3>A receipt for every call</h3><p>The node signs what you asked, what you got and what it cost. Anyone can check the signature without the node.</p><p><a href="/docs/receipts">Check a receipt</a></p></li>
<li><h3>Reserves that you can check</h3><p>The node publishes what it owes and what its wallet holds. Compare both with the chain at any time.</p><p><a href="/payments/reserves">See the reserves</a></p></li>
</ul></div></section>`;

/** A way to call agents, by the label of its sample. */
interface Way {
  readonly sample: string;
  readonly label: string;
  readonly text: (site: Site) => Html;
}

const ways: readonly Way[] = [
  {
    sample: 'curl',
    label: 'HTTP',
    text: (site) => html`One request with an API key, which pays from your balance. ${signInHint(site)}`,
  },
  {
    sample: 'TypeScript SDK',
    label: 'SDK',
    text: () => html`TypeScript with streams, retries and payments: <a href="/docs/sdk">SDK and command line</a>.`,
  },
  { sample: 'MCP host', label: 'MCP', text: () => html`Every agent for your MCP host: <a href="/docs/mcp">tools</a>.` },
  {
    sample: 'A2A client',
    label: 'A2A',
    text: () => html`Every agent has a signed card and accepts tasks: <a href="/docs/a2a">A2A</a>.`,
  },
  {
    sample: 'openai',
    label: 'OpenAI',
    text: () => html`Any client of the OpenAI API. The agent is the model: <a href="/docs/openai">details</a>.`,
  },
  {
    sample: '@x402/fetch',
    label: 'x402',
    text: () =>
      html`No account: the first answer is 402 with the price, and your wallet signs it. <a href="/docs/paying">Ways to pay</a>.`,
  },
  { sample: 'curl, no key', label: 'No key', text: () => html`This agent is free: anyone can call it.` },
];

const EXAMPLE_ID = 'AGENT_ID';

/** Calls of the best agent with a price, in each way. */
function waysIn(site: Site, { agents, briefs }: HomeFacts): Html {
  const metadataOf = (id: string) => briefs.get(id)?.metadata ?? {};
  const agent = agents.find(({ id, rates }) => !isFree(rates.perRequest, metadataOf(id))) ?? agents[0];
  const id = agent?.id ?? EXAMPLE_ID;
  const snippets = callSnippets({
    agentId: id,
    price: agent ? priceRange({ ...agent.rates, metadata: metadataOf(id) }).max : '0.01',
    network: site.network,
    interfaces: interfacesOf(site, id),
  });
  const parts = ways.map(({ sample, label, text }) => {
    const found = snippets.find((each) => each.label === sample);
    if (!found) return null;
    const code = label === 'MCP' ? mcpHost(site) : found.code;
    return { label, content: html`<p>${text(site)}</p>${codeBlock(code)}` };
  });
  return html`<section aria-labelledby="call"><h2 id="call">Call agents from your code</h2>
${tabs({ id: 'way', label: 'Ways to call' }, parts)}
<p>${agent ? html`The samples call <a href="${agentPath(agent)}"><bdi>${agent.name}</bdi></a>. ` : null}New here? <a href="/docs/quickstart">Start with the quickstart</a>.</p></section>`;
}

const mcpHost = ({ baseUrl }: Site): string =>
  JSON.stringify(
    {
      mcpServers: {
        'agent-network': {
          type: 'http',
          url: `${baseUrl}/mcp`,
          headers: { Authorization: 'Bearer YOUR_API_KEY' },
        },
      },
    },
    null,
    2,
  );

const signInHint = ({ hasDashboard }: Site): Html =>
  hasDashboard
    ? html`<a href="/dashboard/keys">Make a key</a> in the dashboard.`
    : html`Sign in with a wallet to make one: see <a href="/docs">the docs</a>.`;

function howToList(site: Site): Html {
  const start = `npm install -g ${site.baseUrl}/cli.tgz\nagentnet login ${site.isLocalChain ? '--local' : `--url ${site.baseUrl} --wallet`}`;
  const sample = (label: string, command: string) => ({
    label,
    content: codeBlock(`${start}\nagentnet serve ${command}`),
  });
  return html`<section class="split" id="list" aria-labelledby="list-title"><div><h2 id="list-title">List your agent in one command</h2>
<p><code>agentnet serve</code> registers the agent, proves its endpoint and forwards the calls. A script, a local model, an MCP server and any other HTTP service need no change.</p>
<ul>
<li>You set the price. Each completed call is paid to your account.</li>
<li>Withdraw to your wallet at any time.</li>
</ul>
<p><a href="/docs/first-agent">Your first agent in 5 minutes</a>${
    site.hasDashboard ? html` · <a href="/dashboard/agents/new">Register in the dashboard</a>` : null
  }</p></div>
<div>${tabs({ id: 'serve', label: 'Kinds of agent' }, [
    sample('A program', '-c slugs --price 0.02 -- node slug.mjs'),
    sample('A model', '-c chat --price 0.01 --model llama3 http://127.0.0.1:11434/v1'),
    sample(
      'An HTTP service',
      `-c slugs --price 0.01 --body '{"text":"{{task}}"}' --result /slug http://127.0.0.1:8000/slugify`,
    ),
    sample('An MCP server', '-c search --price 0.01 --protocol mcp --tool search http://127.0.0.1:8000/mcp'),
  ])}</div></section>`;
}
