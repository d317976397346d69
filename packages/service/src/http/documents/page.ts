import { statSync } from 'node:fs';
import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import { errorRemedies, failureRemedies } from '@agent-network/contracts/error-remedies';
import { type ErrorCode, errorCatalogue } from '@agent-network/contracts/errors';
import { madeOnce } from '../../lib/made-once.ts';
import { siteFooter, siteHeader } from '../site/site-frame.ts';
import { contents, type PageOfCalls, type PageOfGuides, pathOf, reference } from './contents.ts';
import { type ApiDocument, operationsOf, type Schema } from './document.ts';
import { brokenPath, endpointSection, fieldTable, methodBadge } from './endpoint-section.ts';
import { fieldsOf } from './fields.ts';
import { type DocsSource, examplesOf, type Guide, guidesOf } from './guides.ts';
import { codeBlock, type Html, html, inline, toText } from './html.ts';

interface Page {
  readonly path: string;
  readonly group: string;
  readonly title: string;
  readonly about: string;
  readonly content: Html;
  /** Paths of its files in the repository; empty: the page is built from the API. */
  readonly files: readonly string[];
  /** Links to its parts, shown next to the page. */
  readonly parts: readonly { readonly id: string; readonly title: Html }[];
}

function guidePage(page: PageOfGuides, group: string, guides: ReadonlyMap<string, Guide>, document: ApiDocument): Page {
  const chapters = page.chapters.map((id) => {
    const guide = guides.get(id);
    if (!guide) throw new Error(`no chapter ${id}`);
    return guide;
  });
  const isOnly = chapters.length === 1;
  const sections = chapters.map(
    ({ id, title, content }) =>
      html`<section class="guide" id="${id}">${isOnly ? null : html`<h2>${title}</h2>`}${content}</section>`,
  );
  const errors = page.slug === 'errors' ? errorSection(document) : null;
  return {
    path: pathOf(page.slug),
    group,
    title: page.title,
    about: page.about,
    content: html`${sections}${errors}`,
    files: [...new Set(chapters.map(({ path: file }) => file))],
    parts: isOnly
      ? chapters.flatMap(({ headings }) => headings)
      : [...chapters.map(({ id, title }) => ({ id, title: html`${title}` })), ...(errors === null ? [] : errorParts)],
  };
}

/** The other pages, each with its subject. */
function overview(pages: readonly Page[]): Html {
  const groups = [...new Set(pages.map(({ group }) => group))];
  const lists = groups.map((group) => {
    const items = pages
      .filter((page) => page.group === group)
      .map(({ path, title, about }) => html`<li><a href="${path}">${title}</a><span>${inline(about)}</span></li>`);
    return html`<h2>${group}</h2><ul class="cards">${items}</ul>`;
  });
  return html`<section id="overview">${lists}</section>`;
}

function referencePages({ document, baseUrl }: DocsSource): Page[] {
  const operations = operationsOf(document);
  const pageOf = (group: string, { slug, title, about, calls }: PageOfCalls): Page => {
    const rows = calls.map((id): [string, Endpoint] => [id, api[id]]);
    const sections = rows.flatMap(([id, row]) => {
      const operation = operations.get(id);
      return operation ? [endpointSection(id, row, operation, { components: document.components, baseUrl })] : [];
    });
    const parts = rows.map(([id, row]) => ({
      id,
      title: html`${methodBadge(row)} <span>${brokenPath(row.path)}</span>`,
    }));
    const list = rows.map(
      ([id, row]) => html`<li><a href="#${id}">${row.method} ${brokenPath(row.path)}</a> ${inline(row.summary)}.</li>`,
    );
    const content = html`<section id="${slug.replace('/', '-')}"><ul>${list}</ul></section>${sections}`;
    return { path: pathOf(slug), group, title, about, content, files: [], parts };
  };
  return Object.entries(reference).flatMap(([group, all]) => all.map((page) => pageOf(group, page)));
}

/** Objects that describe agents. The others belong to calls. */
const agentObjects: ReadonlySet<string> = new Set(['AgentDetail', 'AgentListItem', 'MatchParts', 'Chosen']);

function objectPages({ components }: ApiDocument): Page[] {
  const all = Object.entries(components.schemas).filter(([, schema]) => codeOf(schema) === undefined);
  const [ofAgents, ofCalls] = [true, false].map((isOfAgent) =>
    all.filter(([name]) => agentObjects.has(name) === isOfAgent),
  );
  return [
    objectPage('api/objects', 'Objects of calls', ofCalls ?? []),
    objectPage('api/agent-objects', 'Objects of agents', ofAgents ?? []),
  ];
}

function objectPage(slug: string, title: string, objects: [string, Schema][]): Page {
  return {
    path: pathOf(slug),
    group: 'API reference',
    title,
    about: 'Objects that several calls return.',
    content: html`<section id="${slug.replace('api/', '')}">${objects.map(
      ([name, schema]) =>
        html`<section id="object-${name}"><h2>${name}</h2>${fieldTable(fieldsOf(schema), name, false)}</section>`,
    )}</section>`,
    files: [],
    parts: objects.map(([name]) => ({ id: `object-${name}`, title: html`${name}` })),
  };
}

function navigation(pages: readonly Page[], current: Page): Html {
  const groups = [...new Set(pages.map(({ group }) => group))];
  const link = (page: Page) => {
    const isCurrent = page === current;
    const parts = isCurrent && page.parts.length > 1 ? page.parts : [];
    return html`<li><a href="${page.path}"${isCurrent ? html` aria-current="page"` : null}>${page.title}</a>${
      parts.length === 0
        ? null
        : html`<ul>${parts.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>`
    }</li>`;
  };
  return html`<nav class="contents" aria-label="Contents"><details open><summary>Contents</summary>${groups.map(
    (group) => html`<h2>${group}</h2><ul>${pages.filter((page) => page.group === group).map(link)}</ul>`,
  )}</details></nav>`;
}

function onThisPage({ parts }: Page): Html | null {
  if (parts.length < 2) return null;
  const items = parts.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`);
  return html`<nav class="here" aria-label="On this page"><h2>On this page</h2><ul>${items}</ul></nav>`;
}

const dateFormat = madeOnce(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }));

/** The version that the page is of, the date of its files on this machine, and where to edit them. */
function imprint({ files }: Page, { document: { info }, repositoryUrl }: DocsSource): Html {
  const changes = files.map((file) => statSync(new URL(`../../../../../${file}`, import.meta.url)).mtime);
  const date = changes.sort((one, other) => Number(other) - Number(one))[0];
  return html`<p class="imprint"><span>Version ${info.version}</span>${
    date &&
    html`<span>Files of <time datetime="${date.toISOString().slice(0, 10)}">${dateFormat().format(date)}</time></span>`
  }${files[0] && repositoryUrl ? html`<a href="${repositoryUrl}/edit/HEAD/${files[0]}">Edit this page</a>` : null}</p>`;
}

function layout(page: Page, pages: readonly Page[], source: DocsSource): Html {
  const { baseUrl, frame } = source;
  const { info } = source.document;
  const at = pages.indexOf(page);
  const [before, after] = [pages[at - 1], pages[at + 1]];
  const about = page.about.replaceAll('`', '');
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="strict-origin-when-cross-origin">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${about}">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#fafafb">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0c0c11">
<title>${page.title} · ${info.title}</title>
<link rel="canonical" href="${baseUrl}${page.path}">
<meta property="og:type" content="article">
<meta property="og:site_name" content="${info.title}">
<meta property="og:title" content="${page.title}">
<meta property="og:description" content="${about}">
<meta property="og:url" content="${baseUrl}${page.path}">
<meta property="og:image" content="${baseUrl}/preview.png">
<meta name="twitter:card" content="summary_large_image">
<link rel="icon" type="image/svg+xml" href="/favicon.svg">
<link rel="stylesheet" href="/docs/style.css">
<script type="module" src="/docs/docs.js"></script>
<link rel="modulepreload" href="/pages/page.js">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${siteHeader(frame, 'docs')}
<section class="bar" aria-label="Documentation"><span>Documentation, version ${info.version}</span>
<search hidden><label for="query">Search</label><input id="query" type="search" autocomplete="off" spellcheck="false" placeholder="Search guides and calls" aria-controls="found"><div id="found" hidden></div></search>
<span class="links"><a href="/openapi.json">OpenAPI</a> <a href="/llms.txt">llms.txt</a></span></section>
<div class="columns">
${navigation(pages, page)}${onThisPage(page)}
<main id="content">
<h1>${page.title}</h1>
<p class="lead">${inline(page.about)}</p>
${page.content}${at === 0 ? overview(pages.slice(1)) : null}
<div class="turn">${before ? html`<a rel="prev" href="${before.path}">← ${before.title}</a>` : html`<span></span>`}${
    after ? html`<a rel="next" href="${after.path}">${after.title} →</a>` : null
  }</div>
${imprint(page, source)}
</main>
</div>
${siteFooter(frame)}
<p id="said" class="unseen" role="status"></p>
</body>
</html>
`;
}

const idsIn = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);

/** Replaces links to an id of another page by that page's path and the id. */
function withPaths(pages: ReadonlyMap<string, string>): Map<string, string> {
  const homes = new Map([...pages].flatMap(([path, text]) => idsIn(text).map((id) => [id, path] as const)));
  const entries = [...pages].map(([path, text]) => {
    const own = new Set(idsIn(text));
    const linked = text.replace(/href="#([^"]+)"/g, (link, id: string) =>
      own.has(id) || !homes.has(id) ? link : `href="${homes.get(id)}#${id}"`,
    );
    return [path, linked] as const;
  });
  return new Map(entries);
}

/** Renders the documentation: pages of guides, errors, every call by area, and objects; by path. */
export function docsPages(source: DocsSource): Map<string, string> {
  const { document } = source;
  const chapters = [...guidesOf(source), examplesOf()];
  const guides = new Map(chapters.map((guide) => [guide.id, guide]));
  const pages = [
    ...Object.entries(contents).flatMap(([group, all]) => all.map((page) => guidePage(page, group, guides, document))),
    ...objectPages(document),
    ...referencePages(source),
  ];
  return withPaths(new Map(pages.map((page) => [page.path, toText(layout(page, pages, source))])));
}

/** Every error of the catalogue, and the failures of requests. */
const errorParts = [
  ...(Object.keys(errorCatalogue) as ErrorCode[]).map((code) => ({
    id: `error-${code}`,
    title: html`<span>${errorCatalogue[code].status}</span> <span>${code.split('_').map((word, at) => (at === 0 ? word : html`_<wbr>${word}`))}</span>`,
  })),
  { id: 'failures', title: html`Failures of requests` },
];

interface ErrorShape {
  readonly properties?: { readonly error?: { readonly properties?: { readonly code?: { readonly const?: string } } } };
}

/** The code of an error's envelope; undefined for other objects. */
const codeOf = (schema: Schema): string | undefined =>
  (schema as ErrorShape).properties?.error?.properties?.code?.const;

/** Renders every error of the catalogue, with its cause, its remedy and an example. */
function errorSection({ components }: ApiDocument): Html {
  const entries = (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
    const { status, when } = errorCatalogue[code];
    const schema = Object.values(components.schemas).find((each) => codeOf(each) === code);
    const example = (schema?.examples as unknown[] | undefined)?.[0];
    return html`<section class="error" id="error-${code}"><h3><span class="status">${status}</span> <code>${code}</code></h3>
<p>${inline(when)}</p><p><strong>Remedy.</strong> ${inline(errorRemedies[code])}</p>
<details><summary>Example</summary>${codeBlock(JSON.stringify(example, null, 2))}</details></section>`;
  });
  const failures = Object.entries(failureRemedies).map(
    ([reason, remedy]) =>
      html`<tr id="failure-${reason}"><th scope="row"><code>${reason}</code></th><td>${inline(remedy)}</td></tr>`,
  );
  return html`<section id="errors"><h2>Errors of calls</h2>
<p>The status says what kind of error it is, <code>error.code</code> which one. Codes do not change; messages are for people. Give <code>error.requestId</code> to the node's operator when you ask for help.</p>${entries}</section>
<section id="failures"><h2>Failures of requests</h2>
<p>A call can fail after it was accepted. Then <code>status</code> of its request is <code>failed</code>, <code>error.code</code> is one of these, and <code>refund</code> is the refunded amount: usually all that was paid.</p>
<div class="scroll" tabindex="0"><table class="plain"><thead><tr><th scope="col">Code</th><th scope="col">Cause and remedy</th></tr></thead><tbody>${failures}</tbody></table></div></section>`;
}
