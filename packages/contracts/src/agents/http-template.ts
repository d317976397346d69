import { alteredNumber, alteredProblem } from '../altered-number.ts';

/** Methods of a call to a plain HTTP service. */
export const templateMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type TemplateMethod = (typeof templateMethods)[number];

/** Forms of a filled body. */
export const templateContentTypes = ['application/json', 'application/x-www-form-urlencoded', 'text/plain'] as const;
export type TemplateContentType = (typeof templateContentTypes)[number];

/** `result` of a template for a service that answers with plain text. */
export const TEXT_RESULT = 'text';

/** The form of one request to a plain HTTP service, and the place of the result in its answer. */
export interface HttpTemplate {
  readonly method: TemplateMethod;
  /** Added to the path of the endpoint, with the query after `?`; may be empty. */
  readonly path: string;
  /** A JSON text; null: the request has no body. */
  readonly body: string | null;
  readonly contentType: TemplateContentType;
  /** JSON pointer into the answer, or `text`. */
  readonly result: string;
}

/** The parts of a call that a template takes. */
export interface TemplateCall {
  readonly task: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A call that a template can't be filled with. `message` says why, for its caller. */
export class TemplateInputError extends Error {
  override readonly name = 'TemplateInputError';
}

const MAX_PLACEHOLDERS = 64;
const MAX_LEVELS = 32;
const MAX_NODES = 1000;
/** Characters of a filled body; the same as the bytes of a caller's body. */
const MAX_FILLED = 1024 * 1024;
/** Characters of an address that the node calls. */
const MAX_ADDRESS = 2048;

const PLACEHOLDER = /\{\{(task|input(?:\/[^{}]*)?)\}\}/g;
const WHOLE = /^\{\{(task|input(?:\/[^{}]*)?)\}\}$/;
const WRONG = 'has braces outside of a placeholder: write {{task}}, {{input}} or {{input/name}}';
/** The characters of an address, with complete percent-encodings. */
const ADDRESS = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*$/;
/** A segment that parsers of URLs take away together with the one before it. */
const DOTS = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const namesIn = (text: string): string[] => [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
const hasStray = (text: string): boolean => text.replace(PLACEHOLDER, '').includes('{{');

/** Texts of a JSON value, in order. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** A fault of a template, as a field of `upstream` and what is wrong with it. */
export interface TemplateFault {
  readonly field: keyof HttpTemplate;
  readonly problem: string;
}

/** The first fault of a template; null: none. */
export function templateFault(template: HttpTemplate): TemplateFault | null {
  const { path, result } = template;
  const body = bodyProblem(template);
  if (body !== null) return { field: 'body', problem: body };
  const address = pathProblem(path);
  if (address !== null) return { field: 'path', problem: address };
  if (result !== TEXT_RESULT && pointerTokens(result) === null)
    return { field: 'result', problem: 'must be a JSON pointer, such as /data/text, an empty text or "text"' };
  const names = placeholdersOf(template);
  if (names.length > MAX_PLACEHOLDERS)
    return { field: 'body', problem: `has more than ${MAX_PLACEHOLDERS} placeholders, with those of the path` };
  const wrong = names.find((name) => name !== 'task' && pointerTokens(name.slice('input'.length)) === null);
  return wrong === undefined
    ? null
    : { field: path.includes(wrong) ? 'path' : 'body', problem: `has no JSON pointer in {{${wrong}}}` };
}

function bodyProblem({ method, body, contentType }: HttpTemplate): string | null {
  if (body === null) return null;
  if (method === 'GET' || method === 'DELETE') return `is for the methods POST, PUT and PATCH, not for ${method}`;
  const parsed = parseBody(body);
  if (parsed === undefined) return 'must be JSON; put placeholders into its texts: {"text": "{{task}}"}';
  const altered = alteredNumber(body);
  if (altered) return `has a number that changes: ${altered.path} ${alteredProblem(altered)}`;
  const counted = countNodes(parsed);
  if (counted === null) return `has more than ${MAX_LEVELS} levels or ${MAX_NODES} values`;
  if (counted.keys.some((key) => key.includes('{{'))) return 'has a placeholder in a name; only texts can hold them';
  if (textsIn(parsed).some(hasStray)) return WRONG;
  if (contentType === 'text/plain' && typeof parsed !== 'string') return 'must be a JSON text for text/plain';
  if (contentType === 'application/x-www-form-urlencoded' && !isObject(parsed))
    return 'must be a JSON object for a form';
  return null;
}

/** Keys of a JSON value; null: it is too deep or too large. */
function countNodes(root: unknown): { readonly keys: readonly string[] } | null {
  const keys: string[] = [];
  let level = [root];
  let count = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    count += level.length;
    if (depth > MAX_LEVELS || count > MAX_NODES) return null;
    keys.push(...level.filter(isObject).flatMap(Object.keys));
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
  }
  return { keys };
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

function pathProblem(path: string): string | null {
  if (path === '') return null;
  if (hasStray(path)) return WRONG;
  if (!/^[/?]/.test(path)) return 'must begin with / or ?';
  if (namesIn(path).some((name) => /[?&=#]/.test(name))) return 'has a placeholder with one of ? & = #';
  const literal = path.replace(PLACEHOLDER, 'x');
  if (!ADDRESS.test(literal)) return 'holds characters that an address must percent-encode';
  return DOTS.test(literal.split('?')[0] ?? '') ? 'has a segment . or ..' : null;
}

/** The placeholders of a template without their braces, in the order of path and body. */
function placeholdersOf({ path, body }: HttpTemplate): string[] {
  const texts = body === null ? [] : textsIn(parseBody(body));
  return [path, ...texts].flatMap(namesIn);
}

/** The steps of a JSON pointer (RFC 6901); null: the text is none. */
function pointerTokens(pointer: string): string[] | null {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return null;
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at a JSON pointer; undefined: there is none. Own members only. */
function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const token of pointerTokens(pointer) ?? []) {
    const isMember = isObject(value) || (Array.isArray(value) && /^(0|[1-9]\d{0,8})$/.test(token));
    if (!isMember || !Object.hasOwn(value as object, token)) return undefined;
    value = (value as Record<string, unknown>)[token];
  }
  return value;
}

/** A request to the service. */
export interface FilledRequest {
  readonly method: TemplateMethod;
  readonly url: string;
  readonly body: string | null;
}

/** Fills values into places of the parsed template, and limits their size. */
class Filler {
  readonly #call: TemplateCall;
  #room = MAX_FILLED;

  constructor(call: TemplateCall) {
    this.#call = call;
  }

  /** The value of a placeholder; undefined: the call has none. */
  valueOf(name: string): unknown {
    const { task, input } = this.#call;
    const value = name === 'task' ? task : valueAt(input, name.slice('input'.length));
    if (value === undefined) return undefined;
    this.#room -= JSON.stringify(value).length;
    if (this.#room < 0) throw new TemplateInputError('The call is too large for this service.');
    return value;
  }

  /** A text of the template: a lone placeholder is its value, others are texts within it. */
  text(text: string): unknown {
    const [, whole] = WHOLE.exec(text) ?? [];
    if (whole !== undefined) return this.valueOf(whole);
    return text.replace(PLACEHOLDER, (_, name: string) => asText(this.valueOf(name)));
  }

  /** A value of the template. Members without a value are left out; in a list they are null. */
  json(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((each) => this.json(each) ?? null);
    if (!isObject(value)) return value;
    const members = Object.entries(value).map(([name, each]) => [name, this.json(each)] as const);
    return Object.fromEntries(members.filter(([, each]) => each !== undefined));
  }

  /** The path of the template: each value stays within its segment. */
  path(path: string): string {
    const filled = path.replace(PLACEHOLDER, (_, name: string) => {
      const value = asText(this.valueOf(name));
      if (value === '') throw new TemplateInputError(`The call has no value for ${describe(name)}.`);
      return encoded(value);
    });
    if (DOTS.test(filled)) throw new TemplateInputError('The call has a value that an address cannot hold.');
    return filled;
  }

  /** The query of the template. Leaves out parameters with no value in the call. */
  query(query: string): string {
    const filled = query.split('&').flatMap((parameter) => {
      const value = parameter.slice(parameter.indexOf('=') + 1);
      const [, whole] = WHOLE.exec(value) ?? [];
      if (whole !== undefined && this.valueOf(whole) === undefined) return [];
      return [parameter.replace(PLACEHOLDER, (_, name: string) => encoded(asText(this.valueOf(name))))];
    });
    return filled.join('&');
  }
}

const describe = (name: string): string => (name === 'task' ? 'the task' : name);
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

/** A value within a text: texts as they are, anything else as JSON; without a value nothing. */
function asText(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * The request of a call. Values are put into the parsed template, never into its text, so that none of them can change the template. Throws
 * `TemplateInputError`.
 */
export function fillTemplate(endpoint: string, template: HttpTemplate, call: TemplateCall): FilledRequest {
  const { method, path, body, contentType } = template;
  const filler = new Filler(call);
  const at = path.indexOf('?');
  const url = new URL(endpoint);
  const added = filler.path(at < 0 ? path : path.slice(0, at));
  if (added !== '') url.pathname = (url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname) + added;
  const query = at < 0 ? '' : filler.query(path.slice(at + 1));
  url.search = [url.search.slice(1), query].filter((each) => each !== '').join('&');
  if (url.href.length > MAX_ADDRESS)
    throw new TemplateInputError(`The call is too long for this service: its address takes ${MAX_ADDRESS} characters.`);
  const filled = body === null ? null : asBody(contentType, filler.json(parseBody(body)));
  if (filled !== null && filled.length > MAX_FILLED)
    throw new TemplateInputError('The call is too large for this service.');
  return { method, url: url.href, body: filled };
}

function asBody(contentType: TemplateContentType, value: unknown): string {
  if (contentType === 'text/plain') return asText(value);
  if (contentType === 'application/json') return JSON.stringify(value ?? null);
  const fields = new URLSearchParams();
  for (const [name, each] of Object.entries(isObject(value) ? value : {}))
    if (each !== null) fields.append(name, asText(each));
  return fields.toString();
}

/** The result in the text of an answer; a problem, for its owner and caller, if it has none. */
export type TemplateResult = { readonly value: unknown } | { readonly problem: string };

/** Reads the result of a template from the text of an answer. */
export function readTemplateResult(result: string, text: string): TemplateResult {
  if (result === TEXT_RESULT) return { value: text };
  let answer: unknown;
  try {
    answer = JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text);
  } catch {
    return { problem: 'with text that is not JSON' };
  }
  const value = valueAt(answer, result);
  return value === undefined || value === null
    ? { problem: `without a value${result === '' ? '' : ` at ${result}`}` }
    : { value };
}

/**
 * JSON Schema of the input that a template takes; null: it takes the whole input, or none. Values within a text are texts; those in
 * the path are required.
 */
export function inputSchemaOf(template: HttpTemplate): Record<string, unknown> | null {
  const names = placeholdersOf(template).filter((name) => name !== 'task');
  if (names.length === 0 || names.includes('input')) return null;
  const path = new Set(namesIn(template.path.split('?')[0] ?? ''));
  const lone = new Set(
    textsIn(template.body === null ? null : parseBody(template.body)).flatMap((text) => WHOLE.exec(text)?.[1] ?? []),
  );
  const properties = new Map<string, { readonly isText: boolean; readonly isRequired: boolean }>();
  for (const name of names) {
    const tokens = pointerTokens(name.slice('input'.length)) ?? [];
    const [first = ''] = tokens;
    const before = properties.get(first) ?? { isText: true, isRequired: false };
    properties.set(first, {
      isText: before.isText && tokens.length === 1 && !lone.has(name),
      isRequired: before.isRequired || path.has(name),
    });
  }
  const required = [...properties].flatMap(([name, { isRequired }]) => (isRequired ? [name] : []));
  return {
    type: 'object',
    properties: Object.fromEntries(
      [...properties].map(([name, { isText }]) => [name, isText ? { type: 'string' } : {}]),
    ),
    ...(required.length === 0 ? {} : { required }),
  };
}
