import manifest from '../../package.json' with { type: 'json' };
import { api } from '../api.ts';
import type { Endpoint } from '../endpoint.ts';
import { type EventType, eventCatalogue, eventEnvelope } from '../events.ts';
import { type JsonSchema, jsonSchema } from './json-schema.ts';
import { namedSchemas, openApiComponents } from './openapi-components.ts';
import { exampleOf } from './openapi-example.ts';
import { type OperationContext, openApiOperation } from './openapi-operation.ts';
import { toTruth } from './openapi-truth.ts';
import { guidance } from './payment-info.ts';

const tags: Record<Endpoint['tag'], string> = {
  Agents: 'The registry: register, find, change and remove agents.',
  Invocation: 'Ask an agent to do a task, and pay for it.',
  Files: 'Pictures, documents and other contents of calls and results that JSON cannot hold.',
  Identity: 'Proofs of who runs and owns an agent.',
  Payments: 'Treasuries and every movement of money.',
  Network: 'Known nodes, and the calls that nodes make to each other.',
  Account: 'The account, its API keys and limits, its webhooks and events.',
};

type Resolve = (ref: string) => JsonSchema;
type Prices = OperationContext['prices'];

const shapeOf = (path: string) => path.replace(/\{[^}]+\}/g, '{}');
const nameOf = (path: string) => /\{([^}]+)\}/.exec(path)?.[1];

/**
 * OpenAPI counts templates that differ only in the name of a parameter as one path (3.1, "Path templating"), so rows
 * such as `POST /invoke/{agentId}` and `GET /invoke/{requestId}` share the neutral name `{id}`.
 */
export function documentPath(path: string, allPaths: readonly string[]): string {
  const names = new Set(allPaths.filter((other) => shapeOf(other) === shapeOf(path)).map(nameOf));
  return names.size > 1 ? path.replace(/\{[^}]+\}/, '{id}') : path;
}

function renamePathParameter(operation: Record<string, unknown>, row: Endpoint, path: string) {
  if (path === row.path) return operation;
  const parameters = (operation.parameters as Record<string, unknown>[]).map((parameter) =>
    parameter.in === 'path' ? { ...parameter, name: 'id', description: `The \`${parameter.name}\`.` } : parameter,
  );
  return { ...operation, parameters };
}

function openApiPaths(resolve: Resolve, prices: Prices) {
  const rows = Object.entries<Endpoint>(api);
  const allPaths = rows.map(([, row]) => row.path);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, row] of rows) {
    const path = documentPath(row.path, allPaths);
    const operation = renamePathParameter(
      openApiOperation(name, row, { named: namedSchemas, resolve, prices }),
      row,
      path,
    );
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operation };
  }
  return paths;
}

/** The headers of a delivery; those that only some have are optional. */
const deliveryHeaders: Readonly<Record<string, string>> = {
  'webhook-id': 'The id of the event: the same on every attempt.',
  'webhook-timestamp': 'When this attempt was made, in seconds since 1970.',
  'webhook-signature': '`v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`; several are separated by spaces.',
  'webhook-sequence':
    'A number that rises in the order of the events of the account: retries come in no order, sort by it. A test event has none.',
};
const optionalHeaders = ['webhook-sequence'];

const LARGE_RESULT =
  'A delivery of more than 256 KiB has no `result`: `data.resultUrl` is the address that answers with the whole object to your key.';

const hasResult = (type: EventType): boolean => 'result' in eventCatalogue[type].data.shape;

const resultUrl = {
  type: 'string',
  format: 'uri',
  description: 'Replaces `result` in a large delivery: the address where your key reads the whole object.',
};

/** The schema of a delivery: that of its event, but a large one has `resultUrl` in the place of `result`. */
function deliverySchema(type: EventType, event: JsonSchema): JsonSchema {
  if (!hasResult(type)) return event;
  const data = jsonSchema(eventCatalogue[type].data, 'output', namedSchemas);
  const delivered = {
    ...data,
    properties: { ...(data.properties as object), resultUrl },
    required: (data.required as string[]).filter((name) => name !== 'result'),
  };
  return { ...event, properties: { ...(event.properties as object), data: delivered } };
}

/** Values of fields that the event type determines. */
const facts: Partial<Record<EventType, object>> = {
  'invocation.failed': {
    status: 'failed',
    result: null,
    cost: null,
    refund: '0.05',
    error: { code: 'agent_unreachable', message: 'The agent could not be reached.' },
  },
  'invocation.input_required': {
    ...{
      status: 'input_required',
      result: null,
      cost: null,
      refund: null,
      error: null,
      completedAt: null,
      duration: null,
    },
  },
  'invocation.cancelled': { status: 'cancelled', result: null, cost: null, refund: '0.05' },
  'payment.confirmed': { type: 'x402' },
  'payment.refunded': { type: 'refund' },
  'payment.failed': { type: 'x402', status: 'failed' },
  'agent.offline': { status: 'offline', online: false },
};

function openApiWebhook(type: EventType, resolve: Resolve) {
  const schema = jsonSchema(eventEnvelope(type), 'output', namedSchemas);
  const event = exampleOf(schema, resolve) as { data: object };
  const example = { ...event, data: toTruth({ ...event.data, ...facts[type] }) };
  return {
    post: {
      operationId: `on.${type}`,
      summary: eventCatalogue[type].when,
      ...(hasResult(type) ? { description: LARGE_RESULT } : {}),
      tags: ['Events'],
      security: [],
      parameters: Object.entries(deliveryHeaders).map(([name, description]) => ({
        name,
        in: 'header',
        required: !optionalHeaders.includes(name),
        description,
        schema: { type: 'string' },
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: deliverySchema(type, schema), example } },
      },
      responses: {
        '2XX': {
          description:
            'Received. 410 ends the delivery and disables the endpoint, until its owner enables it again; any other status is retried.',
        },
      },
    },
  };
}

/**
 * The OpenAPI 3.1 document of the whole API, made from the endpoint table; equal tables and prices give equal documents. `prices`: the lowest
 * and highest of the agents, where they are known.
 */
export function openApiDocument(prices: Prices = null) {
  const components = openApiComponents();
  const resolve: Resolve = (ref) => components.schemas[ref.split('/').at(-1) ?? ''] ?? {};
  return {
    openapi: '3.1.1',
    info: {
      title: 'Agent Network',
      version: manifest.version,
      description:
        'A registry of software agents: find, invoke and pay them in USDC over x402. Amounts are decimal strings in USDC.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      'x-guidance': guidance,
    },
    servers: [{ url: '/' }],
    tags: [...Object.entries(tags), ['Events', 'Events that a node sends to webhooks.'] as const].map(
      ([name, description]) => ({ name, description }),
    ),
    paths: openApiPaths(resolve, prices),
    webhooks: Object.fromEntries(
      (Object.keys(eventCatalogue) as EventType[]).map((type) => [type, openApiWebhook(type, resolve)]),
    ),
    components,
  };
}
