import { readFileSync } from 'node:fs';
import { eventCatalogue } from '@agent-network/contracts/events';
import { streamEventCatalogue } from '@agent-network/contracts/invocations/stream-events';
import type { PlanLimits } from '../../config/limits.ts';
import { madeOnce } from '../../lib/made-once.ts';
import type { FrameFacts } from '../site/site-frame.ts';
import { contents } from './contents.ts';
import type { ApiDocument } from './document.ts';
import { anchorOf, codeBlock, type Html, html, inline, prose } from './html.ts';

export interface Guide {
  readonly id: string;
  readonly title: string;
  /** The Markdown source, for the search. */
  readonly text: string;
  readonly content: Html;
  /** Path of its file in the repository. */
  readonly path: string;
  /** Headings with an anchor. */
  readonly headings: readonly { readonly id: string; readonly title: Html }[];
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

const number = madeOnce(() => new Intl.NumberFormat('en-US'));
/** Formats a limit. A plan with a limit that only guards against accidents shows none. */
const count = (limit: number) => (limit >= 100_000_000 ? 'no limit' : number().format(limit));

function limitsTable(limits: PlanLimits): Html {
  const rows = Object.entries(limits).map(
    ([plan, each]) => html`<tr><th scope="row">${plan === 'anonymous' ? 'without a key, by address' : plan}</th>
<td>${count(each.api)}</td><td>${plan === 'anonymous' ? 'by wallet' : count(each.invocations)}</td></tr>`,
  );
  return html`<div class="scroll" tabindex="0"><table class="plain"><caption>Calls per hour</caption>
<thead><tr><th scope="col">Plan</th><th scope="col">Requests</th><th scope="col">of which invocations</th></tr></thead>
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

const FOLDER = 'packages/service/src/http/documents/';

const headingsOf = (id: string, text: string) =>
  [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^### (.+)$/gm)].map(([, heading = '']) => ({
    id: `${id}-${anchorOf(heading)}`,
    title: inline(heading),
  }));

/** Replaces `{{name}}` in a text with its part. Braces with any other name are the text's own. */
function fill(text: string, parts: Readonly<Record<string, Html>>, top: 2 | 3, prefix: string): Html {
  const pieces = text.split(new RegExp(`\\{\\{(${Object.keys(parts).join('|')})\\}\\}`));
  return html`${pieces.map((piece, index) => (index % 2 === 1 ? parts[piece] : prose(piece, top, prefix)))}`;
}

/** One file for the API, one for each language and each other protocol, and one for each other subject. */
const chapters = [
  'guides.md',
  ...['guide-python.md', 'guide-mcp.md', 'guide-a2a.md', 'guide-openai.md'],
  ...[
    'concepts',
    'quickstart',
    'first-agent',
    'recipes',
    'calling',
    'building',
    'agent-contract',
    'existing-endpoints',
    'building-python',
    'python-module',
    'building-go',
    'verifying',
    'base',
    'retries',
    'files',
    'security',
    'versioning',
  ].map((name) => `guides/${name}.md`),
];

/** Chapters that are documents of the repository, by id: one text for both. Links between them lead to the page here, and to the file there. */
export const fromRepository = {
  pricing: 'docs/pricing.md',
  receipts: 'docs/receipts.md',
  typedAgents: 'docs/typed-agents.md',
  payingByChannel: 'docs/paying-by-channel.md',
  discovery: 'docs/discovery.md',
} as const;

const ids = new Map(Object.entries(fromRepository).map(([id, path]) => [path.slice('docs/'.length), id]));

/** A document of the repository as a chapter: headings one level lower, and its links as those of chapters. */
function asChapter(id: string, path: string, repositoryUrl: string | null): string {
  const text = read(`../../../../../${path}`).replace(/^#(?=#+ )/gm, '##');
  const linked = text.replace(
    /\[([^\]]+)\]\(([^)\s#]*)(?:#([\w-]+))?\)/g,
    (link, words: string, to: string, anchor?: string) => {
      if (to.includes(':')) return link;
      const target = to === '' ? id : ids.get(to);
      if (target) return `[${words}](#${anchor ? `${target}-${anchor}` : target})`;
      return repositoryUrl === null ? words : `[${words}](${new URL(to, `${repositoryUrl}/blob/HEAD/docs/`)})`;
    },
  );
  return linked.replace(/^# (.+)$/m, `## $1 {#${id}}`);
}

/** Chapters that have a page to themselves: their headings are one level higher. */
const alone = new Set(
  Object.values(contents)
    .flat()
    .flatMap(({ chapters: ids }) => (ids.length === 1 ? ids : [])),
);

/** Data of the documentation pages. */
export interface DocsSource {
  readonly document: ApiDocument;
  readonly limits: PlanLimits;
  /** Address of this node: snippets name it. */
  readonly baseUrl: string;
  /** Address of the repository on the web; null: not known. */
  readonly repositoryUrl: string | null;
  readonly frame: FrameFacts;
}

/** The address of a node in the texts, which that of the node itself replaces. */
const ADDRESS = 'http://127.0.0.1:4020';

/** All chapters, with the address of this node in their snippets. */
export function guidesOf({ document, limits, baseUrl, repositoryUrl }: DocsSource): Guide[] {
  const parts = { limits: limitsTable(limits), streamEvents: streamTable(), events: eventTable(document) };
  const texts = [
    ...chapters.map((name) => ({ path: FOLDER + name, text: read(name) })),
    ...Object.entries(fromRepository).map(([id, path]) => ({ path, text: asChapter(id, path, repositoryUrl) })),
  ];
  return texts.flatMap(({ path, text: whole }) =>
    whole
      .replaceAll(ADDRESS, baseUrl)
      .split(/^## /m)
      .slice(1)
      .map((chapter) => {
        const [, title = '', id = '', text = ''] = /^(.+) \{#(\w+)\}\n([\s\S]*)$/.exec(chapter) ?? [];
        const content = fill(text, parts, alone.has(id) ? 2 : 3, id);
        return { id, title, text, content, path, headings: headingsOf(id, text) };
      }),
  );
}

/** The examples of the SDK, as in its README. */
export function examplesOf(): Guide {
  const text = read('sdk-examples.md');
  const sections = text.split(/^##+ /m).slice(1);
  const content = sections.map((section) => {
    const title = section.slice(0, section.indexOf('\n'));
    return html`<h3 id="examples-${anchorOf(title)}">${inline(title)}</h3>${prose(section.slice(title.length))}`;
  });
  const path = `${FOLDER}sdk-examples.md`;
  return { id: 'examples', title: 'Examples of the SDK', text, content: html`${content}`, path, headings: [] };
}
