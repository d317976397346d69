import { readFileSync } from 'node:fs';
import { api } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import { errorCatalogue } from '@agent-network/contracts/errors';
import { eventTypes } from '@agent-network/contracts/events';
import { streamEventCatalogue } from '@agent-network/contracts/invocations/stream-events';
import { type ApiDocument, operationsOf, type Schema } from './document.ts';
import { alternativesOf } from './fields.ts';

/** Names of a body's fields: a star marks required ones, a slash separates alternatives. */
function bodyFields(schema: Schema): string {
  return alternativesOf(schema)
    .map((form) => {
      const required = new Set((form.required ?? []) as string[]);
      return Object.keys((form.properties ?? {}) as object)
        .filter((name) => name !== 'max_cost' && name !== 'max_spend')
        .map((name) => (required.has(name) ? `${name}*` : name))
        .join(', ');
    })
    .join(' / ');
}

function callLine(name: string, row: Endpoint, document: ApiDocument): string {
  const body = operationsOf(document).get(name)?.requestBody?.content?.['application/json']?.schema;
  const query = Object.keys(row.query?.shape ?? {}).join(', ');
  const who = row.auth === 'none' ? 'no key' : row.auth === 'agent' ? 'identityToken only' : (row.scope ?? 'any key');
  // Operator calls are of no use to others; openapi.json has them.
  if (row.scope === 'operator') return `${row.method} ${row.path} (${who})`;
  return [
    `${row.method} ${row.path} (${who}): ${row.summary}.`,
    query ? ` Query: ${query}.` : '',
    body ? ` Body: ${bodyFields(body)}.` : '',
  ].join('');
}

const guide = readFileSync(new URL('llms.md', import.meta.url), 'utf8');

/** Returns llms.txt: instructions for programs that use this node, made from the endpoint table; well under 20 kB. */
export function llmsText(document: ApiDocument, baseUrl: string): string {
  const parts: Readonly<Record<string, string>> = {
    baseUrl,
    streamEvents: list(Object.entries(streamEventCatalogue).map(([type, { when }]) => `${type}: ${when}`)),
    calls: list(Object.entries<Endpoint>(api).map(([name, row]) => callLine(name, row, document))),
    errors: list(Object.entries(errorCatalogue).map(([code, { status, when }]) => `${status} ${code}: ${when}`)),
    events: eventTypes.join(', '),
  };
  return guide.replace(/\{\{(\w+)\}\}/g, (_place, name: string) => parts[name] ?? '');
}

const list = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n');
