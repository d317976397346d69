import type { TemplateContentType, TemplateMethod } from '@agent-network/contracts/agents/http-template';
import { isObject, type Json } from './backend.ts';
import type { TargetOptions } from './target.ts';

/** A way to serve an endpoint, as far as it tells. */
export interface Proposal {
  /** The endpoint's kind, as a sentence without its full stop. */
  readonly found: string;
  /** The address of its calls; may hold placeholders. */
  readonly url: string;
  readonly options: Partial<TargetOptions>;
}

/** An operation of an OpenAPI document. */
export interface Operation {
  readonly method: TemplateMethod;
  /** The address, with `{name}` for parameters. */
  readonly url: string;
  readonly operation: Json;
}

const methods = { post: 'POST', put: 'PUT', patch: 'PATCH', get: 'GET' } as const;
const MAX_OPERATIONS = 500;
const MAX_FIELDS = 20;
/** Operations of a service beside its work. */
const ASIDE = /^\/(health|healthz|ready|readyz|livez|ping|status|metrics|docs|version|openapi|\.well-known)\b/;
/** Names of the field that takes what is to be done, and of the one with the result. */
const [TASK_NAMES, RESULT_NAMES] = [
  ['task', 'text', 'prompt', 'input', 'query', 'message', 'content', 'question', 'q'],
  ['result', 'output', 'text', 'answer', 'response', 'data'],
];

/** The operation at a URL, POST before GET. If there is none, all operations of the document except health checks and the like. */
export function operationsOf(document: Json, documentUrl: URL, url: URL): Operation[] {
  const [server] = Array.isArray(document.servers) ? document.servers : [];
  const named = isObject(server) && typeof server.url === 'string' ? server.url : '/';
  const base = URL.canParse(named, documentUrl.href) ? new URL(named, documentUrl).pathname.replace(/\/+$/, '') : '';
  const paths = isObject(document.paths) ? Object.entries(document.paths).slice(0, MAX_OPERATIONS) : [];
  const all = paths.flatMap(([path, item]): (Operation & { readonly path: string })[] => {
    if (!isObject(item) || !/^\/[^\s?#]*$/.test(path)) return [];
    const found = Object.entries(methods).find(([name]) => isObject(item[name]));
    if (!found) return [];
    const operation = { parameters: item.parameters, ...(item[found[0]] as Json) };
    return [{ method: found[1], url: url.origin + base + path, path, operation }];
  });
  const here = all.filter((each) => patternOf(base + each.path).test(url.pathname.replace(/\/+$/, '') || '/'));
  return here.length > 0 ? here.slice(0, 1) : all.filter(({ path }) => !ASIDE.test(path));
}

/** Matches the paths of a path with parameters. */
const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split(/\{[^{}]*\}/)
      .map(escaped)
      .join('[^/]+')}/?$`,
  );
const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A template of the requests of an operation, from its schemas. */
export function readOperation(document: Json, { method, url, operation }: Operation): Proposal {
  const body = readBody(document, operation);
  const parameters = readParameters(document, operation);
  const query = parameters.filter(({ place }) => place === 'query');
  const fields = body?.fields ?? [];
  const task = taskAmong(fields) ?? (body === null ? taskAmong(query) : undefined);
  const path = parameters.filter(({ place }) => place === 'path');
  const inPath = task === undefined && body?.isWhole !== true ? path.find(({ isText }) => isText)?.name : undefined;
  const placeOf = (name: string, isTask: boolean) => (isTask ? '{{task}}' : `{{input/${pointerToken(name)}}}`);
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => placeOf(name, name === inPath));
  const result = resultOf(document, operation);
  const options = {
    ...(method === (body === null ? 'GET' : 'POST') ? {} : { method }),
    ...(query.length === 0
      ? {}
      : { query: query.map(({ name }) => `${name}=${placeOf(name, body === null && name === task)}`) }),
    ...(body === null ? {} : { body: bodyText(body, task, placeOf) }),
    ...(body === null || body.contentType === 'application/json' ? {} : { contentType: body.contentType }),
    ...(result === '' ? {} : { result }),
  };
  return {
    found: `This service describes ${method} ${new URL(url).pathname.replaceAll('%7B', '{').replaceAll('%7D', '}')}`,
    url: filled,
    options: Object.keys(options).length === 0 ? { method } : options,
  };
}

const pointerToken = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

interface Field {
  readonly name: string;
  readonly isText: boolean;
  readonly isRequired: boolean;
}

interface Body {
  readonly contentType: TemplateContentType;
  readonly fields: readonly Field[];
  /** The body is one text. */
  readonly isWhole: boolean;
}

function bodyText(
  { isWhole, fields }: Body,
  task: string | undefined,
  placeOf: (name: string, isTask: boolean) => string,
): string {
  if (isWhole) return '"{{task}}"';
  if (fields.length === 0) return '"{{input}}"';
  return JSON.stringify(Object.fromEntries(fields.map(({ name }) => [name, placeOf(name, name === task)])));
}

/** The name of the text that is most likely the task. */
function taskAmong(fields: readonly Field[]): string | undefined {
  const texts = fields.filter(({ isText }) => isText);
  const known = TASK_NAMES?.find((name) => texts.some((each) => each.name.toLowerCase() === name));
  const isKnown = ({ name }: Field) => name.toLowerCase() === known;
  return (texts.find(isKnown) ?? texts.find(({ isRequired }) => isRequired) ?? texts[0])?.name;
}

function readBody(document: Json, operation: Json): Body | null {
  const request = resolved(document, operation.requestBody);
  const content = isObject(request?.content) ? request.content : {};
  for (const contentType of ['application/json', 'application/x-www-form-urlencoded', 'text/plain'] as const) {
    const media = content[contentType];
    if (!isObject(media)) continue;
    const schema = resolved(document, media.schema) ?? {};
    const isWhole = contentType === 'text/plain' || schema.type === 'string';
    return { contentType, isWhole, fields: isWhole ? [] : fieldsOf(document, schema) };
  }
  return null;
}

function fieldsOf(document: Json, schema: Json): Field[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(isObject(schema.properties) ? schema.properties : {})
    .filter(([name]) => !/[{}]/.test(name))
    .slice(0, MAX_FIELDS)
    .map(([name, each]) => ({ name, isText: isText(document, each), isRequired: required.has(name) }));
}

const isText = (document: Json, schema: unknown): boolean => {
  const { type, enum: values } = resolved(document, schema) ?? {};
  return type === 'string' && values === undefined;
};

function readParameters(document: Json, { parameters }: Json): (Field & { readonly place: unknown })[] {
  return (Array.isArray(parameters) ? parameters : []).slice(0, MAX_FIELDS).flatMap((each) => {
    const { name, in: place, schema, required } = resolved(document, each) ?? {};
    if (typeof name !== 'string' || /[{}?&=#]/.test(name)) return [];
    return [{ name, place, isText: isText(document, schema), isRequired: required === true }];
  });
}

/** Pointer to the result in the answer of success, as far as its schema tells. */
function resultOf(document: Json, operation: Json): string {
  const responses = isObject(operation.responses) ? Object.entries(operation.responses) : [];
  const [, found] = responses.find(([status]) => /^(2\d\d|2XX|default)$/i.test(status)) ?? [];
  const response = resolved(document, found);
  const content = isObject(response?.content) ? response.content : {};
  const media = content['application/json'];
  if (!isObject(media)) return isObject(content['text/plain']) ? 'text' : '';
  const schema = resolved(document, media.schema);
  const names = Object.keys(isObject(schema?.properties) ? schema.properties : {});
  const name = names.length === 1 ? names[0] : RESULT_NAMES?.find((each) => names.includes(each));
  return name === undefined ? '' : `/${pointerToken(name)}`;
}

const MAX_REFERENCES = 5;

/** An object of the document, with its references followed. */
function resolved(document: Json, value: unknown): Json | null {
  let found: unknown = value;
  for (let hops = 0; isObject(found) && typeof found.$ref === 'string'; hops += 1) {
    if (hops === MAX_REFERENCES || !found.$ref.startsWith('#/')) return null;
    found = found.$ref
      .slice(2)
      .split('/')
      .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, token) => (isObject(at) && Object.hasOwn(at, token) ? at[token] : undefined), document);
  }
  return isObject(found) ? found : null;
}
