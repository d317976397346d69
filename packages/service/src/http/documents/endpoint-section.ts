import { commonErrors, type Endpoint } from '@agent-network/contracts/endpoint';
import { errorCatalogue } from '@agent-network/contracts/errors';
import { type Components, nameOf, type Operation, type Parameter, type Schema } from './document.ts';
import { alternativesOf, type Field, fieldsOf, typeOf } from './fields.ts';
import { codeBlock, type Html, html, inline, sampleBlock } from './html.ts';
import { sampleCall, samplesOf } from './samples.ts';

const json = (value: unknown): Html => codeBlock(JSON.stringify(value, null, 2));

const typeCell = ({ type, object }: Field): Html =>
  object ? html`<a href="#object-${object}">${type}</a>` : html`<span class="type">${type}</span>`;

/** Renders a table of fields; nothing when there are none. */
export function fieldTable(fields: readonly Field[], caption: string, marksRequired: boolean): Html | null {
  if (fields.length === 0) return null;
  const rows = fields.map(
    (field) => html`<tr>
<th scope="row"><code>${field.path}</code>${marksRequired && field.isRequired ? html` <span class="required">required</span>` : null}</th>
<td>${typeCell(field)}${field.description ? html`<div class="about">${inline(field.description)}</div>` : null}</td>
</tr>`,
  );
  return html`<div class="scroll" tabindex="0"><table><caption>${caption}</caption><tbody>${rows}</tbody></table></div>`;
}

/** Renders a schema as tables: one for each of its alternatives. */
function schemaTables(schema: Schema, caption: string, marksRequired: boolean): (Html | null)[] {
  const alternatives = alternativesOf(schema);
  return alternatives.map((each, index) => {
    const title = alternatives.length === 1 ? caption : `${caption}, form ${index + 1} of ${alternatives.length}`;
    if (typeof each.$ref !== 'string') return fieldTable(fieldsOf(each), title, marksRequired);
    const name = nameOf(each.$ref);
    return html`<p class="form">${title}: <a href="#object-${name}">${name}</a></p>`;
  });
}

const places: Readonly<Record<string, string>> = { path: 'In the path', query: 'In the query', header: 'Headers' };

function parameterTables(operation: Operation, components: Components, row: Endpoint): (Html | null)[] {
  const names = Object.keys(row.params?.shape ?? {});
  const all = operation.parameters.map((each) =>
    '$ref' in each ? (components.parameters[nameOf(each.$ref)] as Parameter) : each,
  );
  return Object.entries(places).map(([place, caption]) => {
    const fields = all.filter((each) => each.in === place && each.name !== 'X-Request-Id');
    const rows = fields.map((each, index) => ({
      path: place === 'path' ? (names[index] ?? each.name) : each.name,
      type: typeOf(each.schema),
      object: undefined,
      isRequired: place !== 'path' && each.required === true,
      description: place === 'path' ? '' : (each.description ?? ''),
    }));
    return fieldTable(rows, caption, true);
  });
}

function answer(operation: Operation, row: Endpoint): Html {
  const content = operation.responses['200']?.content ?? {};
  const { schema, example } = content['application/json'] ?? {};
  const data = (schema?.properties as { data?: Schema } | undefined)?.data;
  const stream = content['text/event-stream'];
  return html`<h3>Answer</h3>
${data ? schemaTables(data, 'data', false) : null}
${example === undefined ? null : html`<details><summary>Example answer</summary>${json(example)}</details>`}
${row.stream && stream ? html`<details><summary>Example stream</summary>${codeBlock(String(stream.example).trim())}</details>` : null}`;
}

function errors(row: Endpoint): Html {
  const codes = [...new Set([...row.errors, ...commonErrors(row)])];
  const byStatus = codes.toSorted((a, b) => errorCatalogue[a].status - errorCatalogue[b].status);
  return html`<p class="errors">Errors: ${byStatus.map(
    (code) => html`<a href="#error-${code}"><span>${errorCatalogue[code].status}</span> ${code}</a> `,
  )}</p>`;
}

export const methodBadge = (row: Endpoint): Html =>
  html`<span class="method ${row.method.toLowerCase()}">${row.method}</span>`;

/** Renders a path with a possible line break before each slash. */
export const brokenPath = (path: string): Html =>
  html`${path.split('/').map((part, index) => (index > 1 ? html`<wbr>/${part}` : index === 1 ? `/${part}` : part))}`;

/** The call in each language; pages of the node itself make the calls of its sessions, and need no sample. */
function samples(name: string, row: Endpoint, operation: Operation, baseUrl: string): Html {
  const call = sampleCall(name, row, operation);
  return call ? sampleBlock(samplesOf(call, baseUrl)) : html`<p>Only the node's own pages make this call.</p>`;
}

/** Renders the section of one call. */
export function endpointSection(
  name: string,
  row: Endpoint,
  operation: Operation,
  { components, baseUrl }: { readonly components: Components; readonly baseUrl: string },
): Html {
  const body = operation.requestBody?.content?.['application/json'];
  return html`<section class="endpoint" id="${name}">
<h2><a href="#${name}">${methodBadge(row)} <code>${brokenPath(row.path)}</code></a></h2>
<p class="summary">${inline(row.summary)}.</p>
<p>${inline(operation.description)} SDK: <code>client.${name}</code>.</p>
${samples(name, row, operation, baseUrl)}
${parameterTables(operation, components, row)}
${body ? schemaTables(body.schema, 'Body', true) : null}
${answer(operation, row)}
${errors(row)}
</section>`;
}
