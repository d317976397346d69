import { readFileSync } from 'node:fs';
import { eventCatalogue } from '@agent-network/contracts/events';
import { streamEventCatalogue } from '@agent-network/contracts/invocations/stream-events';
import type { PlanLimits } from '../../config-limits.ts';
import { madeOnce } from '../../lib/made-once.ts';
import { contents } from './docs/contents.ts';
import type { ApiDocument } from './document.ts';
import { codeBlock, type Html, html, inline, prose } from './html.ts';

export interface Guide {
  readonly id: string;
  readonly title: string;
  /** As it was written: for the search. */
  readonly text: string;
  readonly content: Html;
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

const number = madeOnce(() => new Intl.NumberFormat('en-US'));
/** Formats a limit; a plan whose limit only guards against accidents has none. */
const count = (limit: number) => (limit >= 100_000_000 ? 'no limit' : number().format(limit));

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
function fill(text: string, parts: Readonly<Record<string, Html>>, top: 2 | 3): Html {
  const pieces = text.split(/\{\{(\w+)\}\}/);
  return html`${pieces.map((piece, index) => (index % 2 === 1 ? parts[piece] : prose(piece, top)))}`;
}

/** One file for the API, one for agents, one for each language and each other protocol, and one for each other subject. */
const chapters = [
  'guides.md',
  ...['guide-pricing.md', 'guide-agents.md', 'guide-python.md', 'guide-mcp.md', 'guide-a2a.md', 'guide-openai.md'],
  ...['quickstart', 'calling', 'building-go', 'verifying', 'base', 'retries', 'security', 'versioning'].map(
    (name) => `guides/${name}.md`,
  ),
];

/** Chapters that have a page to themselves: their headings are one level higher. */
const alone = new Set(
  Object.values(contents)
    .flat()
    .flatMap(({ chapters: ids }) => (ids.length === 1 ? ids : [])),
);

/** The address of a node in the texts, which that of the node itself replaces. */
const ADDRESS = 'http://127.0.0.1:4020';

/** All chapters, with the address of this node in their snippets. */
export function guidesOf(document: ApiDocument, limits: PlanLimits, baseUrl: string): Guide[] {
  const parts = { limits: limitsTable(limits), streamEvents: streamTable(), events: eventTable(document) };
  return chapters
    .flatMap((name) => read(name).replaceAll(ADDRESS, baseUrl).split(/^## /m).slice(1))
    .map((chapter) => {
      const [, title = '', id = '', text = ''] = /^(.+) \{#(\w+)\}\n([\s\S]*)$/.exec(chapter) ?? [];
      return { id, title, text, content: fill(text, parts, alone.has(id) ? 2 : 3) };
    });
}

/** The examples of the SDK, as in its README. */
export function examplesOf(): Guide {
  const text = read('sdk-examples.md');
  const sections = text.split(/^### /m).slice(1);
  const content = sections.map((section) => {
    const title = section.slice(0, section.indexOf('\n'));
    return html`<h3>${inline(title)}</h3>${prose(section.slice(title.length))}`;
  });
  return { id: 'examples', title: 'Examples of the SDK', text, content: html`${content}` };
}
