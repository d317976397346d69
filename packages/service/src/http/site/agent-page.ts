import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { AgentDetail, AgentListItem } from '@agent-network/contracts/agents/agents';
import { type CallSnippet, callSnippets } from '@agent-network/contracts/agents/call-snippets';
import { priceRange } from '@agent-network/contracts/agents/price-text';
import { interfacesOf } from '../../agents/interfaces-of.ts';
import { durationText } from '../../lib/duration.ts';
import { codeBlock, type Html, html } from '../documents/html.ts';
import type { PageContent } from './layout.ts';
import {
  agentCards,
  agentPath,
  type Brief,
  capabilityLinks,
  identicon,
  priceText,
  statusBadge,
  verifiedBadge,
  within,
} from './parts.ts';
import { networkName, type Site } from './site.ts';
import { canTry, tryPart, tryScripts } from './try-part.ts';

export interface AgentFacts {
  readonly agent: AgentDetail & { readonly types?: AgentTypes };
  /** Base address of its home node; null: this node. */
  readonly homeUrl: string | null;
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
    data: [serviceData(site, facts), crumbData(site, agent)],
    active: null,
    ...(canTry(site) ? { scripts: tryScripts } : {}),
    body: html`<nav class="crumbs" aria-label="Breadcrumb"><a href="/explore">Agents</a></nav>
<article>
<div class="agent">${identicon(agent.id, 56)}<div><h1 dir="auto">${agent.name}</h1>
<p class="facts">${statusBadge(agent.status)} ${verifiedBadge(agent.verified)} ${agent.frozen ? html`<span class="badge warn">frozen</span>` : null} <strong>${price}</strong></p></div></div>
${paragraphs(agent.description)}
${capabilityLinks(agent.capabilities)}
<div class="aside wide-left">
<div>${tryPart(site, agent)}${waysToCall(site, agent)}</div>
<section class="panel" aria-labelledby="facts"><h2 id="facts">Facts</h2>${figures(site, facts)}</section>
</div>
</article>
${others(facts)}`,
  };
}

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

const snippetPart = ({ label, code }: CallSnippet, isOpen: boolean): Html =>
  html`<details${isOpen ? html` open` : null}><summary>${label}</summary>${codeBlock(code)}</details>`;

function waysToCall(site: Site, agent: AgentDetail): Html {
  const interfaces = interfacesOf(site, agent.id);
  const snippets = callSnippets({
    agentId: agent.id,
    price: priceRange({ perRequest: agent.rates.perRequest, metadata: agent.metadata }).max,
    network: site.network,
    interfaces,
  });
  return html`<section aria-labelledby="call"><h2 id="call">Call it</h2>
${snippets.map((each, at) => snippetPart(each, at === 0))}
<p>For programs: <code class="break">curl ${site.baseUrl}/agents/${agent.id}</code>${
    interfaces.openapi ? html`, <a href="/agents/${agent.id}/openapi.json">OpenAPI</a>` : null
  }${interfaces.agentCard ? html`, <a href="/a2a/${agent.id}/.well-known/agent-card.json">A2A card</a>` : null}; <a href="/docs">docs</a>.</p></section>`;
}

/** Online, and not measured yet. */
const isNew = ({ online, uptime }: AgentDetail): boolean => online && uptime === 0;

const percent = (share: number) => `${(Math.round(share * 1000) / 10).toLocaleString('en')}%`;
const day = (timestamp: string) => html`<time datetime="${timestamp}">${timestamp.slice(0, 10)}</time>`;

function figures(site: Site, { agent, homeUrl }: AgentFacts): Html {
  const { perUnit, website } = agent.metadata;
  const rows: readonly (readonly [string, Html | string | null])[] = [
    ['Price', priceText(agent.rates.perRequest, agent.metadata)],
    [
      'By units',
      perUnit ? html`${perUnit.price} USDC per <bdi>${perUnit.unit}</bdi>, at most ${perUnit.maximum} USDC` : null,
    ],
    ['Paid in', `USDC on ${networkName(site)}`],
    ['Reputation', `${Math.round(agent.reputation)} of 1,000${agent.totalRequests === 0 ? ', no paid calls yet' : ''}`],
    ['Calls', agent.totalRequests.toLocaleString('en')],
    ['Completed', agent.totalRequests === 0 ? null : percent(agent.successRate)],
    ['Response time', agent.totalRequests === 0 ? null : durationText(Number.parseFloat(agent.avgResponseTime) * 1000)],
    ['Uptime', agent.status === 'pending_verification' || isNew(agent) ? null : percent(agent.uptime)],
    ['Node', homeUrl === null ? html`<bdi>${agent.location}</bdi>` : outward(homeUrl, agent.location)],
    ['Website', website === undefined ? null : outward(website, hostOf(website))],
    ['Owner', html`<code class="break">${agent.owner}</code>`],
    ['ID', html`<code class="break">${agent.id}</code>`],
    ['Listed since', day(agent.createdAt)],
  ];
  return html`<dl class="rows">${rows.map(([name, value]) => (value === null ? null : html`<div><dt>${name}</dt><dd>${value}</dd></div>`))}</dl>`;
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
