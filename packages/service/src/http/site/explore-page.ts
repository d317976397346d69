import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { type Html, html } from '../documents/html.ts';
import { type ExploreParams, explorePath, sorts } from './explore-query.ts';
import type { PageContent } from './layout.ts';
import { agentCards, agentPath, type Brief, capabilityChips, countText } from './parts.ts';
import type { Site } from './site.ts';

export interface ExploreFacts {
  readonly params: ExploreParams;
  readonly total: number;
  readonly agents: readonly AgentListItem[];
  readonly briefs: ReadonlyMap<string, Brief>;
  readonly nextCursor: string | null;
  /** Agents that are online, where no agent matches. */
  readonly others: readonly AgentListItem[];
  /** The most frequent of all agents. */
  readonly capabilities: readonly { readonly value: string; readonly count: number }[];
  /** Fields that are wrong; the list is then empty. */
  readonly problems: readonly string[];
}

/** The list of agents, below a search with filters that works without a script. */
export function explorePage(site: Site, facts: ExploreFacts): PageContent {
  const { params, agents, total } = facts;
  const isWhole = Object.keys(params).length === 0;
  const description = `Agents on ${site.label}: search by task, capability, price and reputation, and call them per request in USDC.`;
  return {
    title: `${params.q ? `${params.q}: agents` : 'Agents'} on ${site.label}`,
    description,
    path: '/explore',
    // Every combination of filters would be a page of its own.
    isIndexed: isWhole,
    preview: { path: '/preview.png', alt: description },
    data: isWhole && agents.length > 0 ? [listData(site, agents)] : [],
    active: 'explore',
    body: html`<h1>Agents</h1>
${problemNote(facts.problems)}
${filters(facts)}
${capabilityChips(chipsOf(facts), params.capability)}
<section class="results" aria-label="Results">
${facts.problems.length > 0 || total === 0 ? null : html`<p class="count" role="status">${isWhole ? countText(total, 'agent', 'agents') : html`${countText(total, 'agent matches', 'agents match')}. <a href="/explore">Show all agents</a>`}</p>`}
${total === 0 && facts.problems.length === 0 ? nothing(facts) : null}
${agents.length > 0 ? agentCards(agents, facts.briefs, 2) : null}
${pages(facts)}
</section>`,
  };
}

const MAX_CHIPS = 12;

/** The most frequent capabilities, and the one that is searched by. */
function chipsOf({ capabilities, params }: ExploreFacts) {
  const [first, rest] = [capabilities.slice(0, MAX_CHIPS), capabilities.slice(MAX_CHIPS)];
  return [...first, ...rest.filter(({ value }) => value === params.capability)];
}

/** Ways on where no agent matches. */
function nothing({ params, others, briefs }: ExploreFacts): Html {
  const { q } = params;
  const isFiltered = isFilteredBy(params);
  return html`<div class="empty" role="status"><h2>No agent matches</h2><ul>
${isFiltered ? html`<li><a href="${explorePath(q === undefined ? {} : { q })}">Search without filters</a></li>` : null}
${q === undefined ? null : html`<li>Describe the task in other words, or pick a capability above.</li>`}
<li><a href="/explore">Show all agents</a></li>
<li>Do you have such an agent? <a href="/#list">List it</a>: one command, and you are paid per call.</li>
</ul></div>
${others.length === 0 ? null : html`<h2>Agents online now</h2>${agentCards(others, briefs, 3)}`}`;
}

const isFilteredBy = (params: ExploreParams): boolean =>
  Object.keys(params).some((name) => name !== 'q' && name !== 'cursor' && name !== 'capability');

const listData = ({ baseUrl }: Site, agents: readonly AgentListItem[]) => ({
  '@context': 'https://schema.org',
  '@type': 'ItemList',
  itemListElement: agents.map((agent, at) => ({
    '@type': 'ListItem',
    position: at + 1,
    name: agent.name,
    url: baseUrl + agentPath(agent),
  })),
});

const problemNote = (problems: readonly string[]): Html | null =>
  problems.length === 0
    ? null
    : html`<div class="note bad" role="alert"><p>This cannot be searched for:</p><ul>${problems.map((each) => html`<li>${each}</li>`)}</ul></div>`;

function filters({ params, capabilities }: ExploreFacts): Html {
  const box = (name: 'online' | 'verified', label: string) =>
    html`<label class="check"><input type="checkbox" name="${name}" value="yes"${params[name] ? html` checked` : null}> ${label}</label>`;
  return html`<form class="filters" action="/explore" method="get" role="search">
<label for="q">Describe your task</label>
<div class="row"><input id="q" name="q" type="search" maxlength="200" value="${params.q ?? ''}" placeholder="Summarize an article, translate a text, …" dir="auto"><button type="submit">Search</button></div>
<details${isFilteredBy(params) ? html` open` : null}><summary>Filters and order</summary><div class="fields">
<div><label for="capability">Capability</label><input id="capability" name="capability" maxlength="64" value="${params.capability ?? ''}" placeholder="any" list="capabilities" autocapitalize="none"></div>
<datalist id="capabilities">${capabilities.map(({ value }) => html`<option value="${value}"></option>`)}</datalist>
<div><label for="maxPrice">Max price (USDC)</label><input id="maxPrice" name="maxPrice" inputmode="decimal" value="${params.maxPrice ?? ''}" placeholder="any price"></div>
<div><label for="minReputation">Min reputation</label><input id="minReputation" name="minReputation" inputmode="numeric" value="${params.minReputation ?? ''}" placeholder="0 to 1,000"></div>
<div><label for="sort">Order</label><select id="sort" name="sort">${sorts.map(
    ({ value, label }) =>
      html`<option value="${value}"${value === (params.sort ?? '') ? html` selected` : null}>${label}</option>`,
  )}</select></div>
<div class="checks">${box('online', 'Online now')}${box('verified', 'Verified')}</div>
</div></details>
</form>`;
}

function pages({ params, nextCursor }: ExploreFacts): Html | null {
  if (nextCursor === null && params.cursor === undefined) return null;
  const { cursor: _, ...rest } = params;
  return html`<nav class="pages" aria-label="Pages">${
    params.cursor === undefined ? null : html`<a href="${explorePath(rest)}">First page</a>`
  }${nextCursor === null ? null : html`<a rel="next" href="${explorePath({ ...rest, cursor: nextCursor })}">Next page</a>`}</nav>`;
}
