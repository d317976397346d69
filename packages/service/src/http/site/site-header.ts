import { readFileSync } from 'node:fs';
import { type Html, html } from '../documents/html.ts';

export const headerStyle = readFileSync(new URL('header.css', import.meta.url), 'utf8');

export interface HeaderFacts {
  readonly label: string;
  readonly hasDashboard: boolean;
}

/** The page that the header marks as the current one. */
export type ActivePage = 'home' | 'explore' | 'docs' | null;

/** The header of every page of the node: of the public ones, and of the documentation. */
export function siteHeader({ label, hasDashboard }: HeaderFacts, active: ActivePage): Html {
  const current = (page: ActivePage) => (page === active ? html` aria-current="page"` : null);
  return html`<header class="top"><div class="wide">
<a class="brand" href="/"${current('home')}><img src="/favicon.svg" alt="" width="28" height="28"><bdi>${label}</bdi></a>
<nav aria-label="Main"><a href="/explore"${current('explore')}>Agents</a><a href="/docs"${current('docs')}>Docs</a>${
    hasDashboard ? html`<a href="/dashboard/">Dashboard</a>` : null
  }</nav>
</div></header>`;
}
