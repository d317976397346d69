import { readFileSync } from 'node:fs';
import { type AgentCall, AgentError } from '@agent-network/sdk/agent';
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Tool,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CommandError } from '../exit-codes.ts';
import { type Backend, isObject, type Json, withoutOurs } from './backend.ts';
import { Endpoint, failed } from './endpoint-client.ts';

const CHECK_MS = 30_000;
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Limit of one message on stdio; its result has a limit of 1 MiB besides. */
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

interface Connection {
  readonly client: Client;
  /** Calls that run on it. */
  calls: number;
  isStale: boolean;
}

/** A tool of an MCP server. Throws `CommandError` if the server has no such tool. */
export async function mcpBackend(server: McpServer, named?: string): Promise<Backend> {
  const endpoint = new Endpoint(server.headers);
  const open = async (): Promise<Connection> => ({ client: await connect(server, endpoint), calls: 0, isStale: false });
  let connection = await open().catch(cannotStart);
  const tool = await chooseTool(connection.client, named).catch(async (error: unknown) => {
    await connection.client.close();
    throw error;
  });
  let opening: Promise<Connection> | null = null;
  /** Closes a connection that another has replaced, unless calls of it may still end. */
  const closeUnused = async (each: Connection): Promise<void> => {
    if (each !== connection && each.calls === 0) await each.client.close().catch(() => undefined);
  };
  async function replace(): Promise<Connection> {
    const before = connection;
    connection = await open().catch((): never => {
      throw failed('The MCP server does not answer.');
    });
    await closeUnused(before);
    return connection;
  }
  /** The connection, or a new one after it broke. */
  async function current(): Promise<Connection> {
    if (connection.client.transport && !connection.isStale) return connection;
    opening ??= replace().finally(() => {
      opening = null;
    });
    return opening;
  }
  return {
    async run(call) {
      const using = await current();
      using.calls += 1;
      try {
        const result = await callTool(using.client, tool, call).catch((error: unknown): never => {
          call.signal.throwIfAborted();
          // A server that was started anew does not know the session. Other calls of the connection may still end.
          if (server.url && !keepsSession(error)) using.isStale = true;
          throw callerError(endpoint, error);
        });
        return readTool(endpoint, result);
      } finally {
        using.calls -= 1;
        await closeUnused(using);
      }
    },
    close: () => connection.client.close(),
  };
}

/** True of a failure that says nothing against the session: the server answered in it, or had no time to. */
const keepsSession = (error: unknown): boolean =>
  error instanceof ProtocolError ||
  error instanceof AgentError ||
  (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout);

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

function callTool(client: Client, { name, inputSchema }: Tool, call: AgentCall) {
  const { signal, task, input, deadline } = call;
  const takesTask = inputSchema.properties?.task !== undefined && input.task === undefined;
  const timeout = Math.min(deadline ? Math.max(1, deadline.getTime() - Date.now()) : MAX_TIMER_MS, MAX_TIMER_MS);
  return client.callTool({ name, arguments: takesTask ? { ...input, task } : { ...input } }, { signal, timeout });
}

/** The error of a tool call as its caller may read it. */
const callerError = (endpoint: Endpoint, error: unknown): AgentError =>
  error instanceof AgentError
    ? error
    : failed(`The tool failed${endpoint.reasonOf(error instanceof Error ? { message: error.message } : error)}.`);

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
