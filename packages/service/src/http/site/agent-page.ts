import type { AgentHealth } from '@agent-network/contracts/agents/agent-figures';
import type { AgentDetail, AgentListItem } from '@agent-network/contracts/agents/agents';
import { callSnippets } from '@agent-network/contracts/agents/call-snippets';
import { priceRange, unitText } from '@agent-network/contracts/agents/price-text';
import type { AgentReputation } from '@agent-network/contracts/agents/reputation';
import { interfacesOf } from '../../agents/interfaces-of.ts';
import { durationText } from '../../lib/duration.ts';
import { codeBlock, type Html, html } from '../documents/html.ts';
import { inputFields } from './input-fields.ts';
import type { PageContent } from './layout.ts';
import {
  agentCards,
  agentPath,
  type Brief,
  capabilityLinks,
  identicon,
  priceText,
  reputationBadge,
  statusBadge,
  verifiedBadge,
  within,
} from './parts.ts';
import { networkName, type Site } from './site.ts';
import { tabs } from './tabs.ts';
import { canTry, pageScripts, type TriedAgent, tryPart } from './try-part.ts';

export interface AgentFacts {
  readonly agent: TriedAgent;
  readonly reputation: AgentReputation;
  /** Checks of the last days; an agent of another node has none here. */
  readonly health: AgentHealth;
  /** Base address of its home node; null: this node. */
  readonly homeUrl: string | null;
  /** Entry of the agent in the ARD catalog; null: none. */
  readonly entry: object | null;
  readonly alternatives: readonly AgentListItem[];
  readonly briefs: ReadonlyMap<string, Brief>;
}

/** The public page of an agent. Everything that its owner wrote is text. */
export function agentPage(site: Site, facts: AgentFacts): PageContent {
  const { agent, homeUrl } = facts;
  const path = agentPath(agent);
  const price = priceText(agent.rates.perRequest, agent.metadata);
  const name = within(agent.name);
  const description = agent.description || `${name}: an agent for ${agent.capabilities.join(', ')}. ${price}.`;
  return {
    title: `${name} · ${site.label}`,
    description,
    path,
    // Unproven endpoints would make every node a place for links; agents of other nodes have their page there.
    isIndexed: agent.status !== 'pending_verification' && homeUrl === null,
    preview: { path: `${path}/preview.png`, alt: `${name}. ${price}.` },
    data: [serviceData(site, facts), crumbData(site, agent), ...(facts.entry ? [facts.entry] : [])],
    active: null,
    scripts: pageScripts(canTry(site)),
    body: html`<nav class="crumbs" aria-label="Breadcrumb"><a href="/explore">Agents</a></nav>
<article>
<div class="agent">${identicon(agent.id, 56)}<div><h1 dir="auto">${agent.name}</h1>
<p class="facts"><strong>${price}</strong> ${statusBadge(agent.status)} ${verifiedBadge(agent.verified)} ${agent.frozen ? html`<span class="badge warn">frozen</span>` : null} ${reputationBadge(agent)}</p></div></div>
${paragraphs(agent.description)}
${capabilityLinks(agent.capabilities)}
${tabs({ id: 'view', label: 'About the agent', isLarge: true }, [
  { label: 'Overview', content: overview(site, facts) },
  { label: 'Call it', content: waysToCall(site, agent) },
  agent.types ? { label: 'Input and output', content: typesPart(agent) } : null,
  { label: 'Reputation', content: track(facts) },
])}
</article>
${others(facts)}`,
  };
}

const overview = (site: Site, facts: AgentFacts): Html => {
  const form = tryPart(site, facts.agent);
  const figuresPart = html`<section class="panel" aria-labelledby="facts"><h2 id="facts">Facts</h2>${figures(site, facts)}</section>`;
  return form === null ? figuresPart : html`<div class="aside wide-left">${form}${figuresPart}</div>`;
};

/** Each in its own direction: a text may be in two languages. */
const paragraphs = (text: string): Html =>
  html`<div class="description">${text
    .split(/\n\s*\n/)
    .filter((each) => each.trim() !== '')
    .map((each) => html`<p dir="auto">${each.trim()}</p>`)}</div>`;

const serviceData = (site: Site, { agent }: AgentFacts) => ({
  '@context': 'https://schema.org',
  '@type': 'Service',
  name: agent.name,
  ...(agent.description ? { description: agent.description } : {}),
  url: site.baseUrl + agentPath(agent),
  image: `${site.baseUrl}${agentPath(agent)}/preview.png`,
  serviceType: agent.capabilities,
  provider: { '@type': 'Organization', name: site.label, url: `${site.baseUrl}/` },
  offers: { ...offerOf(agent), priceCurrency: 'USDC', url: site.baseUrl + agentPath(agent) },
});

function offerOf({ rates: { perRequest }, metadata }: AgentDetail) {
  const { min, max } = priceRange({ perRequest, metadata });
  return min === max
    ? { '@type': 'Offer', price: perRequest }
    : { '@type': 'AggregateOffer', lowPrice: min, highPrice: max };
}

const crumbData = ({ baseUrl }: Site, agent: AgentDetail) => ({
  '@context': 'https://schema.org',
  '@type': 'BreadcrumbList',
  itemListElement: [
    { '@type': 'ListItem', position: 1, name: 'Agents', item: `${baseUrl}/explore` },
    { '@type': 'ListItem', position: 2, name: agent.name, item: baseUrl + agentPath(agent) },
  ],
});

function waysToCall(site: Site, agent: AgentDetail): Html {
  const interfaces = interfacesOf(site, agent.id);
  const snippets = callSnippets({
    agentId: agent.id,
    price: priceRange({ perRequest: agent.rates.perRequest, metadata: agent.metadata }).max,
    network: site.network,
    interfaces,
  });
  return html`<section aria-labelledby="call"><h2 id="call" class="unseen">Call it</h2>
${tabs(
  { id: 'way', label: 'Ways to call' },
  snippets.map(({ label, code }) => ({ label, content: codeBlock(code) })),
)}
<p>For programs: <code class="break">curl ${site.baseUrl}/agents/${agent.id}</code>${
    interfaces.openapi ? html`, <a href="/agents/${agent.id}/openapi.json">OpenAPI</a>` : null
  }${interfaces.agentCard ? html`, <a href="/a2a/${agent.id}/.well-known/agent-card.json">A2A card</a>` : null}; <a href="/docs">docs</a>.</p></section>`;
}

/** Input and result of the agent, as its owner declares them. */
function typesPart({ types = {}, id }: TriedAgent): Html {
  const { inputSchema, outputSchema, examples = [], estimatedTime, capabilities } = types;
  const fields = inputFields(types);
  const schema = (title: string, value: object | undefined) =>
    value === undefined
      ? null
      : html`<details><summary>${title}</summary>${codeBlock(JSON.stringify(value, null, 2))}</details>`;
  return html`<section aria-labelledby="types"><h2 id="types" class="unseen">Input and output</h2>
${
  fields.length === 0
    ? null
    : html`<h3>Input</h3><dl class="rows wide-names">${fields.map(
        ({ name, help, isRequired }) =>
          html`<div><dt><code>${name}</code>${isRequired ? html` <span class="badge">required</span>` : null}</dt><dd dir="auto">${help}</dd></div>`,
      )}</dl>`
}
${examples.map(
  ({ description, input, output }, at) =>
    html`<h3 dir="auto">${description ?? `Example ${at + 1}`}</h3>${codeBlock(JSON.stringify(output === undefined ? { input } : { input, result: output }, null, 2))}`,
)}
${schema('JSON Schema of the input', inputSchema)}
${schema('JSON Schema of the result', outputSchema)}
${estimatedTime ? html`<p>Usually takes ${estimatedTime}.</p>` : null}
<p>${capabilities ? html`Single capabilities have types of their own: see <a href="/agents/${id}">the agent as JSON</a>. ` : null}Input that does not fit is refused before you pay; a result that does not fit is refunded.</p></section>`;
}

/** The record of the agent: its reputation by part, and how it answers checks. */
function track({ agent, reputation, health, homeUrl }: AgentFacts): Html {
  const { outcomes, uptime, latency } = reputation.components;
  const part = (
    name: string,
    { contribution, weight, explanation }: { contribution: number; weight: number; explanation: string },
  ) =>
    html`<div><dt>${name}<span>${contribution} of ${Math.round(weight * 1000)}</span></dt><dd><meter min="0" max="1000" value="${Math.round((1000 * contribution) / (weight * 1000))}" aria-label="${name}"></meter><p>${explanation}</p></dd></div>`;
  return html`<section aria-labelledby="reputation"><h2 id="reputation">${agent.isNew ? 'New: no rating yet' : html`${Math.round(reputation.score)} of 1,000`}</h2>
<p>${
    agent.isNew
      ? `An agent has a rating once three independent customers have paid it. Until then its score is mostly a starting value (${Math.round(reputation.score)} of 1,000).`
      : 'Only paid calls of independent customers count, with the checks of the node.'
  }</p>
<dl class="parts">${part('Paid calls', outcomes)}${part('Uptime', uptime)}${part('Speed', latency)}</dl>
${homeUrl === null ? checks(health) : null}</section>`;
}

const checks = ({ days, checks: count, failed, uptime, p50Ms, p95Ms }: AgentHealth): Html =>
  html`<h3>Checks of the last ${days} days</h3>${
    uptime === null
      ? html`<p>None yet.</p>`
      : rowsOf([
          [
            'Answered',
            `${(count - failed).toLocaleString('en')} of ${count.toLocaleString('en')} (${percent(uptime)})`,
          ],
          ['Typical time', p50Ms === null ? null : durationText(p50Ms)],
          ['Slowest 5%', p95Ms === null ? null : `${durationText(p95Ms)} or more`],
        ])
  }`;

type Row = readonly [name: string, value: Html | string | null];

const rowsOf = (rows: readonly Row[]): Html =>
  html`<dl class="rows">${rows.map(([name, value]) => (value === null ? null : html`<div><dt>${name}</dt><dd>${value}</dd></div>`))}</dl>`;

/** Online, and not measured yet. */
const isUnmeasured = ({ online, uptime }: AgentDetail): boolean => online && uptime === 0;

const percent = (share: number) => `${(Math.round(share * 1000) / 10).toLocaleString('en')}%`;
const day = (timestamp: string) => html`<time datetime="${timestamp}">${timestamp.slice(0, 10)}</time>`;

function figures(site: Site, { agent, homeUrl }: AgentFacts): Html {
  const { perUnit, perUsage, website } = agent.metadata;
  return rowsOf([
    ['Price', priceText(agent.rates.perRequest, agent.metadata)],
    [
      'By units',
      perUnit ? html`${perUnit.price} USDC per <bdi>${perUnit.unit}</bdi>, at most ${perUnit.maximum} USDC` : null,
    ],
    [
      'By usage',
      perUsage
        ? html`${perUsage.prices.map(({ unit, price }) => `${price} USDC per ${unitText(unit)}`).join(', ')}; at most ${perUsage.maximum} USDC, known after the call`
        : null,
    ],
    ['Paid in', `USDC on ${networkName(site)}`],
    ['Reputation', agent.isNew ? 'New' : `${Math.round(agent.reputation)} of 1,000`],
    ['Calls', agent.totalRequests.toLocaleString('en')],
    ['Completed', agent.totalRequests === 0 ? null : percent(agent.successRate)],
    ['Response time', agent.totalRequests === 0 ? null : durationText(Number.parseFloat(agent.avgResponseTime) * 1000)],
    ['Uptime', agent.status === 'pending_verification' || isUnmeasured(agent) ? null : percent(agent.uptime)],
    ['Node', homeUrl === null ? site.node && html`<bdi>${site.node}</bdi>` : outward(homeUrl, agent.location)],
    ['Website', website === undefined ? null : outward(website, hostOf(website))],
    ['Owner', html`<code class="break">${agent.owner}</code>`],
    ['ID', html`<code class="break">${agent.id}</code>`],
    ['Listed since', day(agent.createdAt)],
  ]);
}

/** A link that others wrote: only to a web page, and without a recommendation. */
function outward(address: string, text: string): Html {
  const url = URL.parse(address);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  return isWeb
    ? html`<a href="${url.href}" rel="nofollow ugc noopener" dir="auto">${text}</a>`
    : html`<bdi>${text}</bdi>`;
}

const hostOf = (address: string): string => URL.parse(address)?.host ?? address;

const others = ({ alternatives, briefs }: AgentFacts): Html | null =>
  alternatives.length === 0
    ? null
    : html`<section><h2>Alternatives</h2>${agentCards(alternatives, briefs, 3)}</section>`;
