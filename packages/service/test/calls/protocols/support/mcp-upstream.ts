import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { json, type Seen, type Speaker, startUpstream, type TestUpstream } from './upstream.ts';

/** A server of MCP made with the SDK; `isOld`: one that speaks only the protocols with a handshake. */
export const startMcpUpstream = (isOld = false): Promise<TestUpstream> => startUpstream(() => speaker(isOld));

/** May be changed by tests. */
export const schema: { properties: Record<string, object> } = { properties: {} };

function speaker(isOld: boolean): Speaker {
  let site: TestUpstream | null = null;
  const handler = createMcpHandler(() => toolServer(() => site as TestUpstream));
  return {
    protocol: 'mcp',
    path: '/mcp',
    upstream: { tool: 'shout' },
    isWork: ({ body }) => body?.method === 'tools/call',
    isCancel: ({ body }) => body?.method === 'notifications/cancelled',
    async answer(seen, request, response, its) {
      site = its;
      if (isOld && seen.body?.method === 'server/discover')
        return json(response, 400, { jsonrpc: '2.0', id: seen.body.id, error: { code: -32601, message: 'unknown' } });
      await relay(seen, request, response, handler.fetch);
    },
  };
}

function toolServer(site: () => TestUpstream): Server {
  const server = new Server({ name: 'upstream', version: '1' }, { capabilities: { tools: {} } });
  const tool = (name: string) => ({
    name,
    inputSchema: { type: 'object' as const, properties: { task: { type: 'string' as const }, ...schema.properties } },
  });
  server.setRequestHandler('tools/list', () => ({ tools: [tool('whisper'), tool('shout')] }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const { mode } = site();
    const text = (said: string) => [{ type: 'text' as const, text: said }];
    const progressToken = mcpReq._meta?.progressToken;
    const tell = async (progress: number, message: string) => {
      if (progressToken === undefined) return;
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } });
    };
    if (mode.kind === 'fails') return { isError: true, content: text('no') };
    if (mode.kind === 'bills') {
      const payment = (mcpReq._meta as Record<string, unknown> | undefined)?.['x402/payment'];
      const { required } = mode.terms;
      if (mode.isBegun) await tell(0, payment ? 'paid' : 'begun');
      if (!payment && mode.as === 'error')
        throw Object.assign(new Error('Payment required'), { code: 402, data: required });
      const structuredContent = mode.as === 'text' ? {} : { structuredContent: required };
      if (!payment) return { isError: true, ...structuredContent, content: text(JSON.stringify(required)) };
      await mode.terms.take(payment as Record<string, unknown>);
    }
    await tell(1, 'half way');
    return { content: text(`${params.name}: ${params.arguments?.task}!`) };
  });
  return server;
}

/** Hands a request of Node to a handler of fetch. */
async function relay(
  { method, path, body }: Seen,
  request: IncomingMessage,
  response: ServerResponse,
  fetch: (request: Request) => Promise<Response>,
): Promise<void> {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
  const init = { method, headers, ...(method === 'POST' ? { body: JSON.stringify(body) } : {}) };
  const answer = await fetch(new Request(`http://127.0.0.1${path}`, init));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}
