import type { ServerContext } from '@modelcontextprotocol/server';

/** Facts, for tools, of the message that calls them. */
export interface ToolCallContext {
  readonly mcpReq: {
    /** JSON-RPC id of the message. */
    readonly id: string | number;
    readonly _meta?: ServerContext['mcpReq']['_meta'];
    readonly envelope?: Readonly<Record<string, unknown>>;
    /** Aborts when the client has gone. */
    readonly signal: AbortSignal;
    /** Tells the client something before the answer; undefined: it asked for nothing. */
    readonly notify?: ServerContext['mcpReq']['notify'];
  };
}
