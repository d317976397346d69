import { readFileSync } from 'node:fs';
import { tagOf } from '../answer/common-headers.ts';
import { announcedManifest } from '../catalogs/entries.ts';
import { type Html, html, jsonLd, toText } from '../documents/html.ts';
import type { Site } from './site.ts';
import { type ActivePage, frameStyle, siteFooter, siteHeader } from './site-frame.ts';

/** Path of the script for copy buttons and addresses within tabs. */
export const PAGE_SCRIPT = '/pages/page.js';

export const pageStyle = frameStyle + readFileSync(new URL('pages.css', import.meta.url), 'utf8');
export const styleVersion = tagOf(pageStyle).slice(0, 12);

/** Pages and their style are compressed from this size on: people on slow lines wait for them. */
export const PAGE_GZIP_FROM_BYTES = 2048;

const MAX_DESCRIPTION_CHARS = 200;

export interface PageScripts {
  /** Paths of scripts to run. */
  readonly run: readonly string[];
  /** Paths of their imports, fetched at once. */
  readonly imported?: readonly string[];
}

export interface PageContent {
  readonly title: string;
  readonly description: string;
  /** Path of the canonical address. */
  readonly path: string;
  /** False: search engines should not list it. */
  readonly isIndexed: boolean;
  /** Path of the picture of its link preview, and the text in its place. */
  readonly preview: { readonly path: string; readonly alt: string };
  /** Schema.org objects. */
  readonly data: readonly unknown[];
  readonly active: ActivePage;
  /** Paths of its scripts, all modules. */
  readonly scripts?: PageScripts;
  readonly body: Html;
}

const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= MAX_DESCRIPTION_CHARS
    ? line
    : `${characters.slice(0, MAX_DESCRIPTION_CHARS - 1).join('')}…`;
};

const scriptsOf = ({ scripts: { run, imported = [] } = { run: [] } }: PageContent): Html =>
  html`${run.map((each) => html`<script type="module" src="${each}"></script>`)}${imported.map((each) => html`<link rel="modulepreload" href="${each}">`)}`;

function head(site: Site, content: PageContent): Html {
  const { title, description, path, isIndexed, preview, data } = content;
  const url = site.baseUrl + path;
  const about = oneLine(description);
  const catalog = announcedManifest(site);
  return html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="strict-origin-when-cross-origin">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#fafafb">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0c0c11">
<title>${title}</title>
<meta name="description" content="${about}">
${isIndexed ? html`<link rel="canonical" href="${url}">` : html`<meta name="robots" content="noindex, follow">`}
<meta property="og:type" content="website">
<meta property="og:site_name" content="${site.fullName}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${about}">
<meta property="og:url" content="${url}">
<meta property="og:image" content="${site.baseUrl}${preview.path}">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta property="og:image:alt" content="${preview.alt}">
<meta name="twitter:card" content="summary_large_image">
<link rel="icon" type="image/svg+xml" href="/favicon.svg">
<link rel="apple-touch-icon" href="/apple-touch-icon.png">
<link rel="manifest" href="/site.webmanifest">
<link rel="stylesheet" href="/pages.css?v=${styleVersion}">
${path === '/' && catalog !== null ? html`<link rel="ard" href="${catalog}">` : null}
${scriptsOf(content)}
${data.map(jsonLd)}
</head>`;
}

/** A public page as text: complete without a script. */
export function pageText(site: Site, content: PageContent): string {
  return toText(html`<!doctype html>
<html lang="en">
${head(site, content)}
<body>
<a class="skip" href="#content">Skip to the content</a>
${siteHeader(site, content.active)}
<main id="content" class="wide">
${content.body}
</main>
${siteFooter(site)}
</body>
</html>
`);
}
