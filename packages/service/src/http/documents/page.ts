import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import { errorCatalogue } from '@agent-network/contracts/errors';
import type { PlanLimits } from '../../config-limits.ts';
import { type ApiDocument, operationsOf, type Schema } from './document.ts';
import { brokenPath, endpointSection, fieldTable, methodBadge } from './endpoint-section.ts';
import { fieldsOf } from './fields.ts';
import { examplesOf, type Guide, guidesOf } from './guides.ts';
import { codeBlock, type Html, html, inline, toText } from './html.ts';

const rows = Object.entries<Endpoint>(api);

function navigation(document: ApiDocument, guides: readonly Guide[]): Html {
  const areas = document.tags.filter(({ name }) => rows.some(([, row]) => row.tag === name));
  return html`<nav aria-label="Contents">
<details><summary>Contents</summary>
<ul>${guides.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
<li><a href="#errors">Errors</a></li><li><a href="#objects">Objects</a></li></ul>
${areas.map(
  ({ name }) =>
    html`<h2>${name}</h2><ul>${rows
      .filter(([, row]) => row.tag === name)
      .map(
        ([id, row]) => html`<li><a href="#${id}">${methodBadge(row)} <span>${brokenPath(row.path)}</span></a></li>`,
      )}</ul>`,
)}
</details></nav>`;
}

function reference(document: ApiDocument): Html[] {
  const operations = operationsOf(document);
  return document.tags.map(({ name, description }) => {
    const sections = rows.flatMap(([id, row]) => {
      const operation = operations.get(id);
      return row.tag === name && operation ? [endpointSection(id, row, operation, document.components)] : [];
    });
    if (sections.length === 0) return html``;
    return html`<section id="area-${name}"><h2>${name}</h2><p>${description}</p>${sections}</section>`;
  });
}

function errorSection({ components }: ApiDocument): Html {
  const entries = Object.entries(errorCatalogue).map(([code, { status, when }]) => {
    const schema = Object.values(components.schemas).find((each) => codeOf(each) === code);
    const example = (schema?.examples as unknown[] | undefined)?.[0];
    return html`<details id="error-${code}"><summary><span class="status">${status}</span> <code>${code}</code> ${inline(when)}</summary>
${codeBlock(JSON.stringify(example, null, 2))}</details>`;
  });
  return html`<section id="errors"><h2>Errors</h2>
<p>The status says what kind of trouble it is, <code>error.code</code> which one. Codes do not change; messages are for people.</p>${entries}</section>`;
}

interface ErrorShape {
  readonly properties?: { readonly error?: { readonly properties?: { readonly code?: { readonly const?: string } } } };
}
const codeOf = (schema: Schema) => (schema as ErrorShape).properties?.error?.properties?.code?.const;

function objectSection({ components }: ApiDocument): Html {
  const objects = Object.entries(components.schemas).filter(([, schema]) => codeOf(schema) === undefined);
  return html`<section id="objects"><h2>Objects</h2>${objects.map(
    ([name, schema]) =>
      html`<section id="object-${name}"><h3>${name}</h3>${fieldTable(fieldsOf(schema), name, false)}</section>`,
  )}</section>`;
}

/** Renders the reference page: guides, every call, errors, events and objects, as one HTML document without scripts. */
export function docsPage(document: ApiDocument, limits: PlanLimits): string {
  const { title, version, description } = document.info;
  const guides = [...guidesOf(document, limits), examplesOf()];
  return toText(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${description}">
<title>${title}: API reference</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a class="name" href="/docs">${title}</a> <span>API reference, version ${version}</span>
<span class="links"><a href="/openapi.json">OpenAPI</a> <a href="/llms.txt">llms.txt</a></span></header>
<div class="columns">
${navigation(document, guides)}
<main id="content">
<h1>API reference</h1>
<p class="lead">${description}</p>
${guides.map(({ id, title: heading, content }) => html`<section class="guide" id="${id}"><h2>${heading}</h2>${content}</section>`)}
${reference(document)}
${errorSection(document)}
${objectSection(document)}
</main>
</div>
</body>
</html>
`);
}
