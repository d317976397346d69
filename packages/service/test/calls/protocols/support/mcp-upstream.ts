import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { json, type Mode, type Seen, type Speaker, startUpstream, type TestUpstream } from './upstream.ts';

interface McpUpstream {
  /** It speaks only the protocols with a handshake. */
  readonly isOld?: boolean;
  /** It answers calls with tasks. */
  readonly hasTasks?: boolean;
}

/** A server of MCP made with the SDK. */
export const startMcpUpstream = (is: McpUpstream = {}): Promise<TestUpstream> => startUpstream(() => speaker(is));

/** May be changed by tests. */
export const schema: { properties: Record<string, object> } = { properties: {} };

function speaker({ isOld = false, hasTasks = false }: McpUpstream): Speaker {
  let site: TestUpstream | null = null;
  const tasks: Tasks | null = hasTasks ? new Map() : null;
  const handler = createMcpHandler(() => toolServer(() => site as TestUpstream, tasks));
  return {
    protocol: 'mcp',
    path: '/mcp',
    upstream: { tool: 'shout' },
    isWork: ({ body }) => body?.method === 'tools/call',
    isCancel: ({ body }) => body?.method === 'notifications/cancelled' || body?.method === 'tasks/cancel',
    async answer(seen, request, response, its) {
      site = its;
      if (isOld && seen.body?.method === 'server/discover')
        return json(response, 400, { jsonrpc: '2.0', id: seen.body.id, error: { code: -32601, message: 'unknown' } });
      await relay(seen, request, response, handler.fetch);
    },
  };
}

function toolServer(site: () => TestUpstream, tasks: Tasks | null): Server {
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
    const said = `${params.name}: ${params.arguments?.task}!`;
    if (tasks) return createTask(tasks, said);
    const answers: Responses[] = [
      ...JSON.parse(mcpReq.requestState() ?? '[]'),
      ...(mcpReq.inputResponses ? [mcpReq.inputResponses] : []),
    ];
    const asked = requestsOf(mode, answers.length);
    if (!isDeclined(answers) && asked)
      return { resultType: 'input_required', inputRequests: asked, requestState: JSON.stringify(answers) } as never;
    return resultOf(said, answers);
  });
  if (tasks) serveTasks(server, tasks, () => site().mode);
  return server;
}

type Responses = Record<string, { readonly action: string; readonly content?: unknown }>;

/** The requests of a question; null: there is none any more. A question may be of several. */
function requestsOf(mode: Mode, nth: number): Record<string, object> | null {
  const question = mode.kind === 'asks' ? mode.questions[nth] : undefined;
  if (!question) return null;
  const all = [question, ...(question.others ?? [])].map(({ message, schema, url }, index) => {
    const params = url ? { mode: 'url', message, url } : { message, requestedSchema: schema ?? anything };
    return [`q${nth}${index}`, { method: 'elicitation/create', params }];
  });
  return Object.fromEntries(all);
}
const anything = { type: 'object', properties: {} };

const isDeclined = (answers: readonly Responses[]) =>
  answers.some((each) => Object.values(each).some(({ action }) => action === 'decline'));

const resultOf = (said: string, answers: readonly Responses[]) => {
  const told = answers.map((each) => ` ${JSON.stringify(each)}`).join('');
  return { isError: isDeclined(answers), content: [{ type: 'text' as const, text: said + told }] };
};

interface McpTask {
  readonly said: string;
  readonly answers: Responses[];
}
type Tasks = Map<string, McpTask>;

function createTask(tasks: Tasks, said: string): never {
  const taskId = `task-${tasks.size + 1}`;
  tasks.set(taskId, { said, answers: [] });
  return { resultType: 'task', taskId, status: 'working', content: [] } as never;
}

function serveTasks(server: Server, tasks: Tasks, mode: () => Mode): void {
  const params = z.looseObject({ taskId: z.string() });
  const find = (taskId: string): McpTask => tasks.get(taskId) ?? { said: 'unknown', answers: [] };
  server.setRequestHandler('tasks/get', { params }, async ({ taskId }): Promise<Record<string, unknown>> => {
    const { said, answers } = find(taskId);
    if (mode().kind === 'pends') return { taskId, status: 'working', pollIntervalMs: 10 };
    const inputRequests = isDeclined(answers) ? null : requestsOf(mode(), answers.length);
    if (inputRequests) return { taskId, status: 'input_required', inputRequests };
    return { taskId, status: 'completed', result: resultOf(said, answers) };
  });
  server.setRequestHandler('tasks/update', { params }, async ({ taskId }, { mcpReq }) => {
    find(taskId).answers.push((mcpReq.inputResponses ?? {}) as Responses);
    return {};
  });
  server.setRequestHandler('tasks/cancel', { params }, async () => ({}));
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
