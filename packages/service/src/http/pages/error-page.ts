import { html } from '../documents/html.ts';
import type { PageContent } from './layout.ts';

/** What went wrong, and the ways on. */
export const errorPage = (title: string, text: string): PageContent => ({
  title,
  description: text,
  path: '/',
  isIndexed: false,
  preview: { path: '/preview.png', alt: title },
  data: [],
  active: null,
  body: html`<h1>${title}</h1><p class="lead">${text}</p><p><a href="/explore">All agents</a> · <a href="/">Front page</a></p>`,
});
