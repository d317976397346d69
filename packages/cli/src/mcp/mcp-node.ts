import { createLineEnds } from '@agent-network/contracts/line-ends';
import { createParser } from 'eventsource-parser';
import { type McpMessage, readMessage } from './mcp-message.ts';

/** More than any answer of a node. */
const MAX_ANSWER_CHARS = 16 * 1024 * 1024;
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

export interface McpNode {
  /**
   * Sends a message; each message of the answer goes to `take`. Throws if the node cannot be reached, or answers something else, and once
   * the signal aborts, which closes the connection.
   */
  send(message: McpMessage, take: (answer: McpMessage) => void, signal: AbortSignal): Promise<void>;
}

/** The MCP endpoint of a node. Later messages carry the protocol version agreed in `initialize`. */
export function createMcpNode({ url, apiKey }: { readonly url: string; readonly apiKey: string | null }): McpNode {
  let agreedVersion: string | null = null;

  async function post(message: McpMessage, signal: AbortSignal): Promise<Response> {
    const version = message.params?._meta?.[VERSION_KEY] ?? agreedVersion;
    return fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(typeof version === 'string' ? { 'mcp-protocol-version': version } : {}),
        ...standardHeaders(message, version),
      },
      body: JSON.stringify(message),
      // The key and the payment are for this node alone.
      redirect: 'manual',
      signal,
    });
  }

  return {
    async send(message, take, signal) {
      const learn = (answer: McpMessage) => {
        if (message.method === 'initialize') agreedVersion = answer.result?.protocolVersion ?? agreedVersion;
        take(answer);
      };
      const response = await post(message, signal);
      const type = response.headers.get('content-type') ?? '';
      if (type.startsWith('text/event-stream') && response.body) return readEvents(response.body, learn);
      const text = await wholeOf(response);
      if (text === '' && response.ok) return;
      const answer = readMessage(text);
      if (answer?.jsonrpc) learn(answer);
      else throw new Error(`${url}/mcp answered ${response.status}: ${text.slice(0, 300)}`);
    },
  };
}

async function readEvents(body: AsyncIterable<Uint8Array>, take: (answer: McpMessage) => void): Promise<void> {
  const onEvent = ({ data }: { data: string }) => take(JSON.parse(data) as McpMessage);
  const parser = createParser({ onEvent, maxBufferSize: MAX_ANSWER_CHARS });
  const decoder = new TextDecoder();
  const toLf = createLineEnds();
  for await (const part of body) parser.feed(toLf(decoder.decode(part, { stream: true })));
}

/** The text of an answer, limited in size, as a hostile node might never end it. */
async function wholeOf({ body, url }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.length > MAX_ANSWER_CHARS) throw new Error(`${url} answered more than 16 MiB.`);
  }
  return text;
}

/** Headers by which newer servers route a message without reading it. */
function standardHeaders({ method, params }: McpMessage, version: unknown): Record<string, string> {
  if (typeof version !== 'string' || version < '2026' || method === undefined) return {};
  return { 'mcp-method': method, ...(params?.name === undefined ? {} : { 'mcp-name': params.name }) };
}
