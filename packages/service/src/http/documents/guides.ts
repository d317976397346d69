import { readFileSync } from 'node:fs';
import { eventCatalogue } from '@agent-network/contracts/events';
import { streamEventCatalogue } from '@agent-network/contracts/invocations/stream-events';
import type { PlanLimits } from '../../config-limits.ts';
import type { ApiDocument } from './document.ts';
import { codeBlock, type Html, html, inline, prose } from './html.ts';

export interface Guide {
  readonly id: string;
  readonly title: string;
  readonly content: Html;
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

const number = new Intl.NumberFormat('en-US');
/** Formats a limit; a plan whose limit only guards against accidents has none. */
const count = (limit: number) => (limit >= 100_000_000 ? 'no limit' : number.format(limit));

function limitsTable(limits: PlanLimits): Html {
  const rows = Object.entries(limits).map(
    ([plan, each]) => html`<tr><th scope="row">${plan === 'anonymous' ? 'without a key, by address' : plan}</th>
<td>${count(each.api)}</td><td>${plan === 'anonymous' ? 'by wallet' : count(each.invocations)}</td></tr>`,
  );
  return html`<div class="scroll" tabindex="0"><table class="plain"><caption>Calls per hour</caption>
<thead><tr><th scope="col">Plan</th><th scope="col">Requests</th><th scope="col">Invocations among them</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

const streamTable = () =>
  html`<div class="scroll" tabindex="0"><table><caption>Events of a stream</caption><tbody>${Object.entries(
    streamEventCatalogue,
  ).map(
    ([type, { when }]) => html`<tr><th scope="row"><code>${type}</code></th><td>${inline(when)}</td></tr>`,
  )}</tbody></table></div>`;

function eventTable(document: ApiDocument): Html {
  return html`<div class="events">${Object.entries(eventCatalogue).map(([type, { when }]) => {
    const example = document.webhooks[type]?.post.requestBody.content?.['application/json']?.example;
    return html`<details id="event-${type}"><summary><code>${type}</code> ${inline(when)}</summary>
${codeBlock(JSON.stringify(example, null, 2))}</details>`;
  })}</div>`;
}

/** Replaces `{{name}}` in a text with its part. */
function fill(text: string, parts: Readonly<Record<string, Html>>): Html {
  const pieces = text.split(/\{\{(\w+)\}\}/);
  return html`${pieces.map((piece, index) => (index % 2 === 1 ? parts[piece] : prose(piece)))}`;
}

/** One file for the API, one for agents, and one for each language and each other protocol. */
const chapters = [
  'guides.md',
  'guide-pricing.md',
  'guide-agents.md',
  'guide-python.md',
  'guide-mcp.md',
  'guide-a2a.md',
  'guide-openai.md',
];

/** The chapters before the reference, in order. */
export function guidesOf(document: ApiDocument, limits: PlanLimits): Guide[] {
  const parts = { limits: limitsTable(limits), streamEvents: streamTable(), events: eventTable(document) };
  return chapters
    .flatMap((name) => read(name).split(/^## /m).slice(1))
    .map((chapter) => {
      const [, title = '', id = '', text = ''] = /^(.+) \{#(\w+)\}\n([\s\S]*)$/.exec(chapter) ?? [];
      return { id, title, content: fill(text, parts) };
    });
}

/** The examples of the SDK, as in its README. */
export function examplesOf(): Guide {
  const sections = read('sdk-examples.md').split(/^### /m).slice(1);
  const content = sections.map((section) => {
    const title = section.slice(0, section.indexOf('\n'));
    return html`<h3>${inline(title)}</h3>${prose(section.slice(title.length))}`;
  });
  return { id: 'examples', title: 'Examples of the SDK', content: html`${content}` };
}
