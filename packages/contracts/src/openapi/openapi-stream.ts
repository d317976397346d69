import type { Endpoint } from '../endpoint.ts';
import { streamEventCatalogue } from '../invocations/stream-events.ts';
import { liveEvents } from '../webhooks.ts';
import { type JsonSchema, type jsonSchema, type NamedSchemas, schemaOrRef } from './json-schema.ts';
import { exampleOf } from './openapi-example.ts';
import { toTruth } from './openapi-truth.ts';

type Catalogue = [type: string, { readonly when: string; readonly data: Parameters<typeof jsonSchema>[0] }][];

const facts: Readonly<Record<string, object>> = {
  'invocation.created': { status: 'pending' },
  'invocation.status': { status: 'processing' },
};

const shownTypes = ['invocation.created', 'invocation.status', 'invocation.chunk', 'invocation.completed'];

/** The events of an account never end. */
const isLive = ({ path }: Pick<Endpoint, 'path'>): boolean => path === '/events';

/** True for a stream that ends for good: whoever has its last event gets 204. */
export const endsForGood = (row: Pick<Endpoint, 'path' | 'stream'>): boolean => row.stream === 'always' && !isLive(row);

/** A stream as OpenAPI 3.1 can say it: text, with its events in words, an example, and their schemas under `x-events`. */
export function eventStream(
  row: Pick<Endpoint, 'path'>,
  named: NamedSchemas,
  resolve: (ref: string) => JsonSchema,
): Record<string, unknown> {
  const isOfAccount = isLive(row);
  const catalogue: Catalogue = Object.entries(isOfAccount ? liveEvents : streamEventCatalogue);
  const example = catalogue
    .filter(([type]) => isOfAccount || shownTypes.includes(type))
    .map(([type, { data }], index) => {
      const value = exampleOf(schemaOrRef(data, 'output', named), resolve) as object;
      const shown = toTruth({ ...value, ...(isOfAccount ? {} : facts[type]) });
      return `id: ${index + 1}\nevent: ${type}\ndata: ${JSON.stringify(shown)}\n\n`;
    });
  const list = catalogue.map(([type, { when }]) => `- \`${type}\`: ${when}`).join('\n');
  return {
    schema: {
      type: 'string',
      description:
        `Server-sent events: \`id\` ${isOfAccount ? 'grows' : 'counts 1, 2, 3 …'}, \`event\` is one of these types, \`data\` is one line of JSON. A comment every ` +
        `15 s keeps the connection alive.\n\n${list}`,
    },
    example: example.join(''),
    'x-events': Object.fromEntries(
      catalogue.map(([type, { when, data }]) => [
        type,
        { description: when, data: schemaOrRef(data, 'output', named) },
      ]),
    ),
  };
}
