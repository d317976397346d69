import { CommandError } from '../exit-codes.ts';

export const PROTOCOLS = ['program', 'openai', 'mcp', 'a2a'] as const;
export type ServedProtocol = (typeof PROTOCOLS)[number];

export interface TargetOptions {
  readonly protocol?: ServedProtocol;
  readonly model?: string;
  readonly tool?: string;
  readonly headerEnv: readonly string[];
}

/** The served target: a local command, or an endpoint by its URL. */
export interface Target {
  readonly protocol: ServedProtocol;
  /** Null: a local command. */
  readonly url: URL | null;
  readonly model?: string;
  readonly tool?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** These frame a message, or belong to the protocols. */
const REFUSED =
  /^(host|content-.*|transfer-encoding|connection|keep-alive|upgrade|te|trailer|accept|cookie|mcp-.*|a2a-.*|payment-.*|x-payment)$/i;

/** Reads what to serve and checks that the options fit it. Throws `CommandError`. */
export function readTarget(named: string, options: TargetOptions, env: NodeJS.ProcessEnv): Target {
  const url = /^https?:\/\//i.test(named) && URL.canParse(named) ? new URL(named) : null;
  if (url && (url.username || url.password))
    throw new CommandError('Pass credentials with --header-env, not in the URL.');
  const protocol = options.protocol ?? (url ? guessOf(url) : 'program');
  if (url && protocol === 'program') throw new CommandError('A program is a local command, not a URL.');
  if (!url && (protocol === 'openai' || protocol === 'a2a'))
    throw new CommandError(`--protocol ${protocol} needs the http(s) URL of the endpoint.`);
  if (options.model !== undefined && protocol !== 'openai')
    throw new CommandError('--model is for --protocol openai only.');
  if (options.tool !== undefined && protocol !== 'mcp') throw new CommandError('--tool is for --protocol mcp only.');
  if (options.headerEnv.length > 0 && !url) throw new CommandError('--header-env is for URLs only.');
  return {
    ...{ protocol, url, headers: headersOf(options.headerEnv, env) },
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.tool === undefined ? {} : { tool: options.tool }),
  };
}

function guessOf({ pathname }: URL): ServedProtocol {
  if (/\/v1\/?$/.test(pathname)) return 'openai';
  if (/\/mcp\/?$/.test(pathname)) return 'mcp';
  if (pathname.endsWith('/agent-card.json')) return 'a2a';
  throw new CommandError(
    'Which protocol does this URL use? Pass --protocol openai, mcp or a2a. For other services see "agentnet help serve".',
  );
}

function headersOf(pairs: readonly string[], env: NodeJS.ProcessEnv): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of pairs) {
    const [, name = '', variable = ''] = /^([\w!#$%&'*+.^`|~-]+)=(\w+)$/.exec(pair) ?? [];
    if (name === '')
      throw new CommandError('Write --header-env NAME=VARIABLE; the value is read from the environment.');
    if (REFUSED.test(name)) throw new CommandError(`--header-env: ${name} cannot be set.`);
    const value = env[variable];
    if (!value) throw new CommandError(`--header-env ${name}: the variable ${variable} is not set.`);
    if (!/^[\t\x20-\x7e]+$/.test(value))
      throw new CommandError(`--header-env ${name}: ${variable} is not a header's value.`);
    headers[name] = value;
  }
  return headers;
}
