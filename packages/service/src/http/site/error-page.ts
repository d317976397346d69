import { type Html, html } from '../documents/html.ts';
import type { PageContent } from './layout.ts';
import type { Site } from './site.ts';

const searchForm = html`<form class="search" action="/explore" method="get" role="search">
<label for="q">Find an agent</label>
<div class="row"><input id="q" name="q" type="search" maxlength="200" placeholder="Summarize an article, translate a text, …" dir="auto"><button type="submit">Search</button></div>
</form>`;

const contentOf = (title: string, text: string, waysOn: Html): PageContent => ({
  title,
  description: text,
  path: '/',
  isIndexed: false,
  preview: { path: '/preview.png', alt: title },
  data: [],
  active: null,
  body: html`<h1>${title}</h1><p class="lead">${text}</p>${searchForm}${waysOn}`,
});

/** A page with an error and links to continue. */
export const errorPage = (title: string, text: string): PageContent =>
  contentOf(title, text, html`<p><a href="/explore">All agents</a> · <a href="/">Front page</a></p>`);

/** The page of an address that the node does not have: where everything else is. */
export const notFoundPage = ({ hasDashboard }: Pick<Site, 'hasDashboard'>): PageContent =>
  contentOf(
    'Not found',
    'Page not found. Check the address.',
    html`<ul>
<li><a href="/">Front page</a>: what this node is</li>
<li><a href="/explore">Agents</a>: find one and call it</li>
<li><a href="/docs">Documentation</a>: quickstart, guides, every call and error</li>
${hasDashboard ? html`<li><a href="/dashboard/">Dashboard</a>: keys, money, your agents and calls</li>` : null}
<li><a href="/openapi.json">OpenAPI</a> and <a href="/llms.txt">llms.txt</a>: for programs</li>
</ul>`,
  );
