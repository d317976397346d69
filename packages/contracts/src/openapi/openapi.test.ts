import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { scopes } from '../access/scopes.ts';
import { api } from '../api.ts';
import { commonErrors, type Endpoint, takesIdempotencyKey } from '../endpoint.ts';
import { type ErrorCode, errorCatalogue, errorEnvelope } from '../errors.ts';
import { type EventType, eventCatalogue, eventEnvelope } from '../events.ts';
import { streamEventTypes } from '../invocations/stream-event-types.ts';
import { jsonSchema } from './json-schema.ts';
import { documentPath, openApiDocument } from './openapi.ts';
import { errorSchemaName } from './openapi-operation.ts';

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required: boolean;
  style?: string;
  explode?: boolean;
  schema?: { type?: string; enum?: unknown[]; minimum?: number; maximum?: number };
}
interface Operation {
  operationId: string;
  parameters: Parameter[];
  responses: Record<string, { description: string; content: { 'application/json': { schema: unknown } } }>;
  security: Record<string, string[]>[];
}

interface Content {
  content: Record<string, { example?: unknown; schema?: { description?: string }; 'x-events'?: object }>;
}
interface Shown {
  requestBody?: Content;
  responses: Record<string, Content>;
}
const exampleIn = (place: Content | undefined) => place?.content['application/json']?.example;

const document = JSON.parse(JSON.stringify(openApiDocument()));
const paths = document.paths as Record<string, Record<string, Operation>>;
const operations = Object.values(paths).flatMap((item) => Object.values(item));
const rows = Object.entries<Endpoint>(api);
const allPaths = rows.map(([, row]) => row.path);
const operationOf = (row: Endpoint) => paths[documentPath(row.path, allPaths)]?.[row.method.toLowerCase()];

function* nodesOf(value: unknown): Generator<Record<string, unknown>> {
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const child of Object.values(value)) yield* nodesOf(child);
}

const resolve = (ref: string) =>
  ref
    .slice(2)
    .split('/')
    .reduce<Record<string, unknown> | undefined>(
      (node, key) => node?.[key] as Record<string, unknown> | undefined,
      document,
    );

describe('the OpenAPI document', () => {
  it.each(rows)('%s is described under its method and path', (name, row) => {
    expect(operationOf(row)?.operationId).toBe(name);
  });

  it('describes nothing that is not in the table', () => {
    expect(operations.map((operation) => operation.operationId).sort()).toEqual(Object.keys(api).sort());
  });

  it.each(rows)('%s answers with every status that its codes have', (_name, row) => {
    const statuses: number[] = [...row.errors, ...commonErrors(row)].map((code) => errorCatalogue[code].status);
    statuses.push(...(row.creates ? [201] : []), ...(row.bytes === 'answered' ? [206, 304, 416] : []));
    expect(Object.keys(operationOf(row)?.responses ?? {}).map(Number)).toEqual([
      ...new Set(
        [...(row === api.streamInvocation ? [200, 204] : [200]), ...(row.isPublic ? [304] : []), ...statuses].sort(
          (a, b) => a - b,
        ),
      ),
    ]);
  });

  it('has no operationId twice, among calls and webhooks', () => {
    const webhooks = Object.values(document.webhooks as Record<string, { post: Operation }>).map(({ post }) => post);
    const ids = [...operations, ...webhooks].map((operation) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('declares every parameter of every path template, and no path parameter besides', () => {
    for (const [path, item] of Object.entries(paths))
      for (const operation of Object.values(item)) {
        const inTemplate = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]);
        const declared = operation.parameters.filter((parameter) => parameter.in === 'path');
        expect(declared.map((parameter) => parameter.name).sort()).toEqual(inTemplate.sort());
        expect(declared.every((parameter) => parameter.required)).toBe(true);
      }
  });

  it('has no two templates that differ in names only', () => {
    const shapes = Object.keys(paths).map((path) => path.replace(/\{[^}]+\}/g, '{}'));
    expect(new Set(shapes).size).toBe(shapes.length);
  });

  it('resolves every reference inside itself', () => {
    const refs = [...nodesOf(document)].flatMap((node) => (typeof node.$ref === 'string' ? [node.$ref] : []));
    expect(refs.length).toBeGreaterThan(50);
    expect(refs.filter((ref) => !ref.startsWith('#/') || resolve(ref) === undefined)).toEqual([]);
  });

  it('closes objects that are sent, but none of several parts: the fields of one part are none of the other', () => {
    const [one, other] = [z.object({ a: z.string() }), z.object({ b: z.string() })];
    expect(jsonSchema(one, 'input')).toMatchObject({ additionalProperties: false });
    const { properties } = jsonSchema(z.object({ whole: one.and(other) }), 'input');
    expect(JSON.stringify(properties)).not.toContain('additionalProperties');
  });

  it('names only security schemes that it defines', () => {
    const used = operations.flatMap((operation) => operation.security.flatMap((entry) => Object.keys(entry)));
    expect(Object.keys(document.components.securitySchemes)).toEqual(expect.arrayContaining([...new Set(used)]));
  });

  it('describes every event as a webhook', () => {
    expect(Object.keys(document.webhooks)).toEqual(Object.keys(eventCatalogue));
  });

  it('tells receivers of webhooks by which header events sort, and which answer ends deliveries', () => {
    for (const { post } of Object.values(document.webhooks as Record<string, { post: Operation }>)) {
      expect(post.parameters).toContainEqual(expect.objectContaining({ name: 'webhook-sequence', required: false }));
      expect(post.responses['2XX']?.description).toMatch(/410 ends the delivery and disables/);
    }
  });

  it('tells x402 v1 clients where their fields are in a 402', () => {
    const { properties, required } = document.components.schemas.PaymentRequiredError;
    expect(Object.keys(properties)).toEqual(['status', 'error', 'x402Version', 'accepts']);
    expect(required).toEqual(['status', 'error']);
  });

  it('lists several codes of one status as alternatives', () => {
    expect(operationOf(api.invokeAgent)?.responses['503']?.content['application/json'].schema).toEqual({
      anyOf: ['AgentUnavailableError', 'PaymentPendingError', 'UnavailableError'].map((name) => ({
        $ref: `#/components/schemas/${name}`,
      })),
    });
  });

  it('shows query numbers as numbers', () => {
    expect(operationOf(api.listAgents)?.parameters.find(({ name }) => name === 'limit')).toEqual({
      name: 'limit',
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100 },
    });
  });

  it('says of a list in a query that commas part it, as the node takes it', () => {
    const lists = rows.flatMap(([, row]) =>
      (operationOf(row)?.parameters ?? [])
        .filter((each) => each.in === 'query' && each.schema?.type === 'array')
        .map((each) => ({ row, each })),
    );
    expect(lists.length).toBeGreaterThan(0);
    for (const { row, each } of lists) {
      expect([each.style, each.explode]).toEqual(['form', false]);
      expect(row.query?.safeParse({ [each.name]: 'one,two' }).error, each.name).toBeUndefined();
    }
  });

  it('gives bounds of query numbers that the node takes', () => {
    for (const [name, row] of rows)
      for (const each of operationOf(row)?.parameters ?? []) {
        const bounds = each.in === 'query' ? [each.schema?.minimum, each.schema?.maximum] : [];
        for (const bound of bounds.filter((value) => value !== undefined))
          expect(row.query?.safeParse({ [each.name]: `${bound}` }).error, `${name} ${each.name}`).toBeUndefined();
      }
  });

  it('names the periods of figures that the node takes, and no other', () => {
    const days = Array.from({ length: 30 }, (_, at) => at + 1);
    const takenBy = (row: Endpoint) => days.filter((each) => row.query?.safeParse({ days: `${each}` }).success);
    const allowedBy = (row: Endpoint) =>
      operationOf(row)?.parameters.find(({ name }) => name === 'days')?.schema?.enum ?? days;
    for (const [name, row] of rows)
      if (row.query && 'days' in row.query.shape) expect(allowedBy(row), name).toEqual(takenBy(row));
  });

  it('shows every row a body that the node takes and an answer that it may give', () => {
    for (const [name, row] of rows) {
      const operation = operationOf(row) as unknown as Shown;
      if (row.body && row.bytes === undefined)
        expect(row.body.safeParse(exampleIn(operation.requestBody)).error, name).toBeUndefined();
      if (row.stream === 'always' || row.bytes === 'answered') continue;
      const { status, data } = exampleIn(operation.responses['200']) as { status: string; data: unknown };
      expect(status).toBe('success');
      expect(row.data.safeParse(data).error, name).toBeUndefined();
    }
  });

  it('shows an example of every error and of every event, as their schemas have them', () => {
    for (const code of Object.keys(errorCatalogue) as ErrorCode[]) {
      const [example] = document.components.schemas[errorSchemaName(code)].examples;
      expect(errorEnvelope(code).safeParse(example).error, code).toBeUndefined();
    }
    for (const type of Object.keys(eventCatalogue) as EventType[]) {
      const example = exampleIn(document.webhooks[type].post.requestBody);
      expect(eventEnvelope(type).safeParse(example).error, type).toBeUndefined();
    }
  });

  it('says of every event that has a result how a large one comes', () => {
    const saying = Object.entries<{ post: { description?: string } }>(document.webhooks)
      .filter(([, { post }]) => post.description?.includes('`data.resultUrl`'))
      .map(([type]) => type);
    expect(saying).toEqual([
      ...['invocation.completed', 'invocation.failed', 'invocation.cancelled', 'invocation.input_required'],
      'bulk.completed',
    ]);
  });

  it('describes a large delivery too, with `resultUrl` in the place of `result`', () => {
    const types = (Object.keys(eventCatalogue) as EventType[]).filter(
      (type) => 'result' in eventCatalogue[type].data.shape,
    );
    expect(types).toHaveLength(5);
    for (const type of types) {
      const { data } = document.webhooks[type].post.requestBody.content['application/json'].schema.properties;
      expect(data.required, type).toContain('status');
      expect(data.required, type).not.toContain('result');
      expect(data.properties, type).toMatchObject({
        result: { description: expect.any(String) },
        resultUrl: { type: 'string', format: 'uri' },
      });
    }
  });

  it('leaves no field of an example without a thought', () => {
    const examples = operations.flatMap((operation) => {
      const { requestBody, responses } = operation as unknown as Shown;
      return [requestBody, responses['200']].map((place) => JSON.stringify(place && exampleIn(place)) ?? '');
    });
    expect(examples.filter((example) => /:"text"|\["text"\]/.test(example))).toEqual([]);
  });

  it('describes a stream beside JSON, or instead of it', () => {
    const typesOf = (row: Endpoint) =>
      Object.keys((operationOf(row) as unknown as Shown).responses['200']?.content ?? {});
    expect(typesOf(api.invokeAgent)).toEqual(['application/json', 'text/event-stream']);
    expect(typesOf(api.streamInvocation)).toEqual(['text/event-stream']);
    const stream = (operationOf(api.streamInvocation) as unknown as Shown).responses['200']?.content[
      'text/event-stream'
    ];
    expect(Object.keys(stream?.['x-events'] ?? {})).toEqual(streamEventTypes);
    for (const type of streamEventTypes) expect(stream?.schema?.description).toContain(type);
  });

  it('takes an Idempotency-Key on each POST with a known caller', () => {
    const takes = operations.filter(({ parameters }) =>
      parameters.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey')),
    );
    const posts = rows.filter(([, row]) => takesIdempotencyKey(row)).map(([name]) => name);
    expect(takes.map(({ operationId }) => operationId).sort()).toEqual(posts.sort());
  });

  it('explains every scope where the key is described', () => {
    const { description } = document.components.securitySchemes.apiKey;
    for (const scope of scopes) expect(description).toContain(`\`${scope}\``);
  });

  it('is the committed file', async () => {
    const committed = await readFile(new URL('../../openapi.json', import.meta.url), 'utf8');
    expect(`${JSON.stringify(openApiDocument(), null, 2)}\n` === committed).toBe(true);
  });
});
