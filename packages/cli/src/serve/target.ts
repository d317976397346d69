import {
  type HttpTemplate,
  type TemplateContentType,
  type TemplateMethod,
  templateFault,
} from '@agent-network/contracts/agents/http-template';
import { CommandError } from '../exit-codes.ts';

export const PROTOCOLS = ['program', 'openai', 'mcp', 'a2a', 'http-template'] as const;
export type ServedProtocol = (typeof PROTOCOLS)[number];

export interface TargetOptions {
  readonly protocol?: ServedProtocol;
  readonly model?: string;
  readonly tool?: string;
  readonly method?: TemplateMethod;
  readonly query: readonly string[];
  readonly body?: string;
  readonly contentType?: TemplateContentType;
  readonly result?: string;
  readonly header: readonly string[];
  readonly headerEnv: readonly string[];
}

/** The served target: a local command, or an endpoint by its URL. */
export interface Target {
  readonly protocol: ServedProtocol;
  /** Null: a local command. */
  readonly url: URL | null;
  readonly model?: string;
  readonly tool?: string;
  /** Null: for any protocol but `http-template`. */
  readonly template: HttpTemplate | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** These frame a message, or belong to the protocols. */
const REFUSED =
  /^(host|content-.*|transfer-encoding|connection|keep-alive|upgrade|te|trailer|accept|cookie|mcp-.*|a2a-.*|payment-.*|x-payment)$/i;

/** The URL that a target is; null: it is a local command. Throws `CommandError`. */
export function urlOf(named: string): URL | null {
  const url = /^https?:\/\//i.test(named) && URL.canParse(named) ? new URL(named) : null;
  if (url && (url.username || url.password))
    throw new CommandError('Pass credentials with --header-env, not in the URL.');
  return url;
}

/** The protocol that the options or the URL tell; null: neither does, and the endpoint has to be asked. */
export function protocolOf(named: string, options: TargetOptions): ServedProtocol | null {
  const url = urlOf(named);
  const isTemplate =
    options.query.length > 0 ||
    [options.method, options.body, options.contentType, options.result].some((each) => each !== undefined);
  if (options.protocol !== undefined) return options.protocol;
  if (!url) return 'program';
  if (isTemplate || named.includes('{{')) return 'http-template';
  if (/\/v1\/?$/.test(url.pathname)) return 'openai';
  if (/\/mcp\/?$/.test(url.pathname)) return 'mcp';
  return url.pathname.endsWith('/agent-card.json') ? 'a2a' : null;
}

/** Reads what to serve in this protocol, and checks that the options fit it. Throws `CommandError`. */
export function readTarget(
  named: string,
  protocol: ServedProtocol,
  options: TargetOptions,
  env: NodeJS.ProcessEnv,
): Target {
  const url = urlOf(named);
  requireFitting(url, protocol, options);
  return {
    ...{ protocol, url, headers: headersFor(options, env), template: null },
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.tool === undefined ? {} : { tool: options.tool }),
    ...(protocol === 'http-template' ? templateOf(named, options) : {}),
  };
}

const templateOptions = {
  method: '--method',
  body: '--body',
  contentType: '--content-type',
  result: '--result',
} as const;

function requireFitting(url: URL | null, protocol: ServedProtocol, options: TargetOptions): void {
  const { model, tool, query, header, headerEnv } = options;
  if (url && protocol === 'program') throw new CommandError('A program is a local command, not a URL.');
  if (!url && protocol !== 'program' && protocol !== 'mcp')
    throw new CommandError(`--protocol ${protocol} needs the http(s) URL of the endpoint.`);
  if (model !== undefined && protocol !== 'openai') throw new CommandError('--model is for --protocol openai only.');
  if (tool !== undefined && protocol !== 'mcp') throw new CommandError('--tool is for --protocol mcp only.');
  const [given] = Object.entries(templateOptions).filter(
    ([name]) => options[name as keyof TargetOptions] !== undefined,
  );
  const named = given?.[1] ?? (query.length > 0 ? '--query' : undefined);
  if (named !== undefined && protocol !== 'http-template')
    throw new CommandError(`${named} is for plain HTTP services only.`);
  if (headerEnv.length + header.length > 0 && !url)
    throw new CommandError('--header and --header-env are for URLs only.');
}

/** The origin of a service, and the template with the rest of its URL, which may hold placeholders. */
function templateOf(named: string, options: TargetOptions): { url: URL; template: HttpTemplate } {
  const { body = null, contentType = 'application/json', result = '' } = options;
  const [, origin = '', rest = ''] = /^(https?:\/\/[^/?#]+)([^#]*)/i.exec(named) ?? [];
  const query = options.query.map(parameterOf).join('&');
  const path = query === '' ? rest : `${rest}${rest.includes('?') ? '&' : '?'}${query}`;
  const method = options.method ?? (body === null ? 'GET' : 'POST');
  const template: HttpTemplate = { method, path: path === '/' ? '' : path, body, contentType, result };
  const fault = templateFault(template);
  if (fault) throw new CommandError(`${places[fault.field]} ${fault.problem}.`);
  return { url: new URL(origin), template };
}

const places: Record<keyof HttpTemplate, string> = { ...templateOptions, path: 'The URL' };

function parameterOf(pair: string): string {
  const at = pair.indexOf('=');
  if (at < 1) throw new CommandError('Write --query NAME=VALUE; the value may hold {{task}} or {{input/name}}.');
  const value = pair.slice(at + 1).split(/(\{\{.*?\}\})/);
  const encoded = value.map((part) => (part.startsWith('{{') ? part : encodeURIComponent(part)));
  return `${encodeURIComponent(pair.slice(0, at))}=${encoded.join('')}`;
}

/** The headers that the options name. Throws `CommandError`. */
export const headersFor = (
  { header, headerEnv }: Pick<TargetOptions, 'header' | 'headerEnv'>,
  env: NodeJS.ProcessEnv,
): Record<string, string> => ({ ...headersIn(header), ...headersOf(headerEnv, env) });

function headersIn(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*\S)\s*$/.exec(line) ?? [];
    if (name === '') throw new CommandError('Write --header "Name: value".');
    if (value.includes('{{')) throw new CommandError(`--header ${name} cannot hold placeholders.`);
    headers[name] = requireHeader('--header', name, value);
  }
  return headers;
}

function headersOf(pairs: readonly string[], env: NodeJS.ProcessEnv): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of pairs) {
    const [, name = '', variable = ''] = /^([\w!#$%&'*+.^`|~-]+)=(\w+)$/.exec(pair) ?? [];
    if (name === '')
      throw new CommandError('Write --header-env NAME=VARIABLE; the value is read from the environment.');
    const value = env[variable];
    if (!value) throw new CommandError(`--header-env ${name}: the variable ${variable} is not set.`);
    headers[name] = requireHeader('--header-env', name, value);
  }
  return headers;
}

function requireHeader(option: string, name: string, value: string): string {
  if (REFUSED.test(name)) throw new CommandError(`${option}: ${name} cannot be set.`);
  if (!/^[\t\x20-\x7e]+$/.test(value)) throw new CommandError(`${option} ${name}: the value is not that of a header.`);
  return value;
}
