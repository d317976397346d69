import { readFileSync } from 'node:fs';
import type { OperatorLinks } from '../../config/config.ts';
import { NODE_VERSION, REPOSITORY_URL } from '../../lib/process/node-version.ts';
import { type Html, html } from '../documents/html.ts';

export const frameStyle = readFileSync(new URL('frame.css', import.meta.url), 'utf8');

/** Name of the software, on the pages of every node. */
export const PRODUCT = 'Agent Network';

/** Facts in the header and the footer of every page. */
export interface FrameFacts {
  /** Name of this node; null: it has none of its own. */
  readonly node: string | null;
  readonly hasDashboard: boolean;
  readonly operatorLinks: OperatorLinks;
}

/** Name of a node that its operator chose; null for the default label. */
export const ownName = (label: string): string | null => (label === 'local' ? null : label);

/** The page that the header marks as the current one. */
export type ActivePage = 'home' | 'explore' | 'docs' | null;

/** The header of every page: of the public ones, and of the documentation. */
export function siteHeader({ node, hasDashboard }: FrameFacts, active: ActivePage): Html {
  const current = (page: ActivePage) => (page === active ? html` aria-current="page"` : null);
  return html`<header class="top"><div class="wide">
<a class="brand" href="/"${current('home')}><img src="/favicon.svg" alt="" width="28" height="28"><span>${PRODUCT}${
    node === null ? null : html` <small><bdi>${node}</bdi></small>`
  }</span></a>
<nav aria-label="Main"><a href="/explore"${current('explore')}>Agents</a><a href="/docs"${current('docs')}>Docs</a>${
    hasDashboard ? html`<a href="/dashboard/">Dashboard</a>` : null
  }</nav>
</div></header>`;
}

type Link = readonly [text: string, address: string | null];

/** The footer of every page: where everything is, and what the operator publishes. */
export function siteFooter({ node, hasDashboard, operatorLinks: { terms, privacy, abuse } }: FrameFacts): Html {
  return html`<footer class="foot"><div class="wide">
<div class="about"><p><strong>${PRODUCT}</strong></p>${
    node === null ? null : html`<p>Node: <bdi>${node}</bdi></p>`
  }<p>Version ${NODE_VERSION}</p></div>
${linkList('Product', [
  ['Agents', '/explore'],
  ['List an agent', '/#list'],
  ['Dashboard', hasDashboard ? '/dashboard/' : null],
])}
${linkList('Developers', [
  ['Documentation', '/docs'],
  ['SDK and command line', '/docs/sdk'],
  ['OpenAPI', '/openapi.json'],
  ['llms.txt', '/llms.txt'],
  ['Source code', REPOSITORY_URL],
])}
${linkList('This node', [
  ['Status', '/readyz'],
  ['Reserves', '/payments/reserves'],
  ['Terms', terms],
  ['Privacy', privacy],
  ['Report abuse', abuse],
])}
</div></footer>`;
}

const linkList = (title: string, links: readonly Link[]): Html =>
  html`<nav aria-label="${title}"><h2>${title}</h2><ul>${links.map(([text, address]) =>
    address === null
      ? null
      : html`<li><a href="${address}"${address.startsWith('/') ? null : html` rel="noopener"`}>${text}</a></li>`,
  )}</ul></nav>`;
