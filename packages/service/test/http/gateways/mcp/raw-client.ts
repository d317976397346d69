import { type Answer, send } from '../../../support/harness.ts';

const VERSION = '2026-07-28';

/** The metadata that every message of the newest protocol carries. */
export const envelope = (capabilities: object = {}) => ({
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': capabilities,
});

/** A message of the newest protocol, with the headers that it demands. */
export function modern(method: string, params: Record<string, unknown> = {}, capabilities: object = {}) {
  const name = params.name ?? params.taskId;
  const _meta = { ...envelope(capabilities), ...(params._meta as object) };
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
    body: { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta } },
  };
}

/** Calls a tool without a client, which would check the arguments first. */
export const callTool = (
  baseUrl: string,
  key: string | undefined,
  name: string,
  args: unknown,
  path = '/mcp',
  more: Record<string, string> = {},
): Promise<Answer> => {
  const { headers, body } = modern('tools/call', { name, arguments: args });
  return send(baseUrl, 'POST', path, { key, body, headers: { ...headers, ...more } });
};
