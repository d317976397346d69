import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { priceRange, type ShownPrices } from '@agent-network/contracts/agents/price-text';
import { identiconOf } from '@agent-network/contracts/identicon';
import { agentSlug } from '../../agents/agent-slug.ts';
import { type Html, html } from '../documents/html.ts';

export const agentPath = (agent: { readonly id: string; readonly name: string }): string =>
  `/agents/${encodeURIComponent(agentSlug(agent))}`;

/** Scripts that are written from right to left. */
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\p{Script=Samaritan}\p{Script=Mandaic}]/u;

/** A name within a sentence of plain text, as link previews have it: its direction ends with it. */
export const within = (name: string): string => (RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name);

export const capabilityPath = (capability: string): string =>
  `/explore?${new URLSearchParams({ capability }).toString()}`;

type PriceMetadata = ShownPrices['metadata'];

/** True if no call can cost anything, for any units. */
export const isFree = (perRequest: string, metadata: PriceMetadata = {}): boolean =>
  Number(priceRange({ perRequest, metadata }).max) === 0;

export function priceText(perRequest: string, metadata: PriceMetadata = {}): string {
  const { min, max } = priceRange({ perRequest, metadata });
  if (Number(max) === 0) return 'Free';
  return Number(min) === Number(max) ? `${perRequest} USDC per request` : `from ${min} USDC per request`;
}

export const countText = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

export function identicon(id: string, size: number): Html {
  const { hue, cells } = identiconOf(id);
  return html`<svg class="identicon" width="${size}" height="${size}" viewBox="0 0 7 7" aria-hidden="true"><rect width="7" height="7" fill="hsl(${hue} 50% 50% / 0.16)"/>${cells.map(
    ({ x, y }) => html`<rect x="${x + 1}" y="${y + 1}" width="1" height="1" fill="hsl(${hue} 55% 52%)"/>`,
  )}</svg>`;
}

export const statusBadge = (status: string): Html =>
  status === 'online'
    ? html`<span class="badge good">online</span>`
    : html`<span class="badge">${status === 'offline' ? 'offline' : 'not verified yet'}</span>`;

export const verifiedBadge = (isVerified: boolean): Html | null =>
  isVerified ? html`<span class="badge accent">verified</span>` : null;

/** The reputation of an agent; of one that too few customers have paid, that it is new. */
export const reputationBadge = ({ isNew, reputation }: Pick<AgentListItem, 'isNew' | 'reputation'>): Html =>
  isNew ? html`<span class="badge">New</span>` : html`<span>reputation ${Math.round(reputation)}</span>`;

interface CountedCapability {
  readonly value: string;
  readonly count: number;
}

/** Capabilities to search by, with the number of agents that have each; `active` is the one that is searched by. */
export const capabilityChips = (capabilities: readonly CountedCapability[], active?: string): Html | null =>
  capabilities.length === 0
    ? null
    : html`<ul class="chips" aria-label="Capabilities">${capabilities.map(
        ({ value, count }) =>
          html`<li><a href="${value === active ? '/explore' : capabilityPath(value)}"${value === active ? html` aria-current="true"` : null}>${value} <span>${count.toLocaleString('en')}</span></a></li>`,
      )}</ul>`;

const MAX_CAPABILITIES = 4;

export const capabilityLinks = (capabilities: readonly string[], max = capabilities.length): Html =>
  html`<ul class="chips">${capabilities
    .slice(0, max)
    .map((capability) => html`<li><a href="${capabilityPath(capability)}">${capability}</a></li>`)}${
    capabilities.length > max ? html`<li>${capabilities.length - max} more</li>` : null
  }</ul>`;

/** Facts on a card that the list item lacks. */
export interface Brief {
  readonly description: string;
  /** Price factors in addition to the price per request. */
  readonly metadata: PriceMetadata;
}

/** Agents as cards; the names are headings of this level. */
export function agentCards(agents: readonly AgentListItem[], briefs: ReadonlyMap<string, Brief>, level: 2 | 3): Html {
  const heading = (content: Html) => (level === 2 ? html`<h2>${content}</h2>` : html`<h3>${content}</h3>`);
  return html`<ul class="cards">${agents.map((agent) => {
    const { description, metadata } = briefs.get(agent.id) ?? {};
    return html`<li class="card">
<div class="title">${identicon(agent.id, 32)}${heading(html`<a href="${agentPath(agent)}" dir="auto">${agent.name}</a>`)}</div>
${description ? html`<p class="about" dir="auto">${description}</p>` : null}
${capabilityLinks(agent.capabilities, MAX_CAPABILITIES)}
<p class="facts"><strong>${priceText(agent.rates.perRequest, metadata)}</strong> ${reputationBadge(agent)}
${statusBadge(agent.status)} ${verifiedBadge(agent.verified)}</p>
</li>`;
  })}</ul>`;
}
