import { createMCPClient } from '@ai-sdk/mcp';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface ToolAnswer {
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
  readonly data: any;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly meta: any;
}

export interface CallOptions {
  readonly meta?: Record<string, unknown>;
  readonly onprogress?: (progress: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
  readonly signal?: AbortSignal;
}

/** Operations of tests on an MCP client of any package. */
export interface StockClient {
  readonly protocolVersion: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  listTools(): Promise<any[]>;
  call(tool: string, args: Record<string, unknown>, options?: CallOptions): Promise<ToolAnswer>;
  close(): Promise<void>;
}

export type Connect = (url: string, key?: string) => Promise<StockClient>;

/** Operations of a program on a client, besides calling tools. */
export interface Abilities {
  readonly protocolVersion: string;
  /** It sends `_meta`, which a payment stands in. */
  readonly sendsMeta: boolean;
  /** It asks for progress. */
  readonly asksProgress: boolean;
}

const info = { name: 'stock client', version: '1.0.0' };
const init = (key?: string) =>
  key === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${key}` } } };

// biome-ignore lint/suspicious/noExplicitAny: the two packages type results differently
const toAnswer = (result: any): ToolAnswer => ({
  isError: result.isError === true,
  data: result.structuredContent,
  text: result.content[0]?.text ?? '',
  meta: result._meta,
});

const newest =
  (mode: 'auto' | 'legacy'): Connect =>
  async (url, key) => {
    const client = new Client(info, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), init(key)));
    return {
      protocolVersion: client.getNegotiatedProtocolVersion(),
      listTools: async () => (await client.listTools()).tools,
      call: async (name, args, { meta, ...options } = {}) =>
        toAnswer(await client.callTool({ name, arguments: args, ...(meta ? { _meta: meta } : {}) }, options)),
      close: () => client.close(),
    };
  };

const v1: Connect = async (url, key) => {
  const client = new OldClient(info);
  const transport = new OldTransport(new URL(url), init(key));
  await client.connect(transport as Parameters<OldClient['connect']>[0]);
  return {
    protocolVersion: transport.protocolVersion,
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args, { meta, ...options } = {}) =>
      toAnswer(await client.callTool({ name, arguments: args, ...(meta ? { _meta: meta } : {}) }, undefined, options)),
    close: () => client.close(),
  };
};

const vercel: Connect = async (url, key) => {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const client = await createMCPClient({ transport: { type: 'http', url, headers } });
  return {
    protocolVersion: client.initializeResult.protocolVersion,
    listTools: async () => (await client.listTools()).tools,
    // As a model calls it: a tool of the SDK.
    async call(name, args, { signal } = {}) {
      const tool = (await client.tools())[name];
      if (!tool) return toAnswer(await client.callTool({ name, arguments: args }));
      const options = { toolCallId: 'call-1', messages: [], context: undefined };
      return toAnswer(await tool.execute?.(args, { ...options, ...(signal ? { abortSignal: signal } : {}) }));
    },
    close: () => client.close(),
  };
};

const both = { sendsMeta: true, asksProgress: true };

/** The published clients, as they are. */
export const stockClients: readonly [name: string, connect: Connect, abilities: Abilities][] = [
  ['@modelcontextprotocol/client, newest protocol', newest('auto'), { protocolVersion: '2026-07-28', ...both }],
  [
    '@modelcontextprotocol/client, protocol with a handshake',
    newest('legacy'),
    { protocolVersion: '2025-11-25', ...both },
  ],
  ['@modelcontextprotocol/sdk v1', v1, { protocolVersion: '2025-11-25', ...both }],
  ['@ai-sdk/mcp of Vercel', vercel, { protocolVersion: '2026-07-28', sendsMeta: false, asksProgress: false }],
];
