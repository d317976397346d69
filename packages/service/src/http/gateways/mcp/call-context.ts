import type { ServerContext } from '@modelcontextprotocol/server';

/** Facts, for tools, of the message that calls them. */
export interface ToolCallContext {
  readonly mcpReq: {
    /** JSON-RPC id of the message. */
    readonly id: string | number;
    readonly _meta?: ServerContext['mcpReq']['_meta'];
    readonly envelope?: Readonly<Record<string, unknown>>;
    /** The client's responses to the elicitations of an earlier answer to this call, by their keys; undefined: it has none. */
    readonly inputResponses?: Readonly<Record<string, unknown>>;
    /** The state that came with those elicitations; undefined: none. */
    readonly requestState?: () => string | undefined;
    /** Aborts when the client has gone. */
    readonly signal: AbortSignal;
    /** Sends the client a notification before the answer; undefined: it asked for none. */
    readonly notify?: ServerContext['mcpReq']['notify'];
  };
}
