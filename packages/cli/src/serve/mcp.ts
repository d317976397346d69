import { readFileSync } from 'node:fs';
import { type AgentCall, AgentError } from '@agent-network/sdk/agent';
import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CommandError } from '../exit-codes.ts';
import { type Backend, isObject, type Json, withoutOurs } from './backend.ts';
import { Endpoint, failed } from './endpoint-client.ts';

const CHECK_MS = 30_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Of one message on stdio; results are bounded at 1 MiB beside it. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export interface McpServer {
  /** Null: a local command that speaks on stdio. */
  readonly url: URL | null;
  readonly command: string;
  readonly args: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly env: NodeJS.ProcessEnv;
}

/** A tool of an MCP server. Throws `CommandError` if the server has no such tool. */
export async function mcpBackend(server: McpServer, named?: string): Promise<Backend> {
  const endpoint = new Endpoint(server.headers);
  let client = await connect(server, endpoint).catch(cannotStart);
  const tool = await chooseTool(client, named).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  let isStale = false;
  let opening: Promise<Client> | null = null;
  /** The connection, or a new one after it broke. */
  const current = async (): Promise<Client> => {
    if (client.transport && !isStale) return client;
    opening ??= connect(server, endpoint).finally(() => {
      opening = null;
    });
    client = await opening.catch((): never => {
      throw failed('The MCP server does not answer.');
    });
    isStale = false;
    return client;
  };
  return {
    async run(call) {
      const using = await current();
      return callTool(using, endpoint, tool, call).catch((error: unknown): never => {
        // A server that was started anew does not know the session. Other calls of the connection may still end.
        if (server.url && using === client && !call.signal.aborted) isStale = true;
        throw error;
      });
    },
    close: () => client.close(),
  };
}

const cannotStart = (error: unknown): never => {
  throw new CommandError(`The MCP server does not answer: ${error instanceof Error ? error.message : String(error)}`);
};

async function connect({ url, command, args, headers, env }: McpServer, endpoint: Endpoint): Promise<Client> {
  const client = new Client({ name: 'agentnet', version }, { versionNegotiation: { mode: 'auto' } });
  const transport = url
    ? new StreamableHTTPClientTransport(url, {
        requestInit: { headers },
        // Messages outside of calls are not needed, and what was sent is not sent again.
        fetch: async (to, init) =>
          init?.method === 'GET' ? new Response(null, { status: 405 }) : endpoint.fetch(to, init),
      })
    : new StdioClientTransport({
        ...{ command, args: [...args], env: withoutOurs(env), maxBufferSize: MAX_MESSAGE_BYTES },
        stderr: 'inherit',
      });
  await client.connect(transport, { timeout: CHECK_MS });
  return client;
}

async function chooseTool(client: Client, named?: string): Promise<Tool> {
  const { tools } = await client.listTools({}, { timeout: CHECK_MS }).catch(cannotStart);
  const names = tools.map(({ name }) => name).join(', ');
  if (named === undefined && tools.length !== 1)
    throw new CommandError(`Name the tool with --tool: the server has ${names || 'none'}.`);
  const tool = named === undefined ? tools[0] : tools.find(({ name }) => name === named);
  if (!tool) throw new CommandError(`The server has no tool ${named}; it has ${names || 'none'}.`);
  return tool;
}

async function callTool(client: Client, endpoint: Endpoint, { name, inputSchema }: Tool, call: AgentCall) {
  const { signal, task, input, deadline } = call;
  const takesTask = inputSchema.properties?.task !== undefined && input.task === undefined;
  const timeout = Math.min(
    deadline ? Math.max(1, deadline.getTime() - Date.now()) : LONGEST_TIMER_MS,
    LONGEST_TIMER_MS,
  );
  const result = await client
    .callTool({ name, arguments: takesTask ? { ...input, task } : { ...input } }, { signal, timeout })
    .catch((error: unknown): never => {
      signal.throwIfAborted();
      if (error instanceof AgentError) throw error;
      throw failed(`The tool failed${endpoint.reasonOf(error instanceof Error ? { message: error.message } : error)}.`);
    });
  return readTool(endpoint, result);
}

function readTool(
  endpoint: Endpoint,
  result: { content?: unknown; structuredContent?: unknown; isError?: unknown },
): Json {
  const content = Array.isArray(result.content) ? result.content.filter(isObject) : [];
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  if (result.isError === true) throw failed(`The tool failed${endpoint.reasonOf(texts.join(' '))}.`);
  if (isObject(result.structuredContent)) return result.structuredContent;
  return texts.length === content.length ? { text: texts.join('\n') } : { content };
}
