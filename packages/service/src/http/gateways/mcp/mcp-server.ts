import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { priceText } from '@agent-network/contracts/agents/price-text';
import { listedTools, type McpTool, mcpAgentTools, mcpTools, withInput } from '@agent-network/contracts/mcp-tools';
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import { AppError, invalidFields } from '../../../lib/app-error.ts';
import { problemsOf, problemText } from '../../../lib/json/problem-text.ts';
import { madeOnce } from '../../../lib/made-once.ts';
import { NODE_VERSION } from '../../../lib/process/node-version.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { callEndpoint } from '../common/call-endpoint.ts';
import type { GatewayRequest } from '../common/gateway-request.ts';
import type { UndeliveredAnswers } from '../common/undelivered-answers.ts';
import type { ToolCallContext } from './call-context.ts';
import type { GivenUpCalls } from './given-up.ts';
import { invalidState } from './request-state.ts';
import { withResultFiles } from './result-files.ts';
import { serveTasks, TASKS } from './tasks.ts';
import { toolError } from './tool-result.ts';
import { runAgentTools, runTools, type ToolCall } from './tools.ts';

/** The node's description of itself in each answer. */
export const serverInfo = { name: 'agent-network', title: 'Agent Network', version: NODE_VERSION };
const capabilities = { tools: {}, extensions: { [TASKS]: {} } };
const instructions =
  'Find agents with search_agents, read one with get_agent, and pay one with invoke_agent; or have the best one for a task chosen: match_agents ranks the candidates, invoke_best pays the first. maxCost bounds what a call may cost. A request that has not ended goes on; read it with get_invocation. One with status input_required waits for your answer_invocation. Reading the registry needs no key; spending needs an API key whose treasury holds USDC, or an x402 payment in _meta["x402/payment"].';

type Run = (ctx: HttpContext, call: ToolCall<McpTool>) => Promise<CallToolResult | InputRequiredResult>;

/** The tools of an endpoint: their listing, and their implementations. */
interface ToolSet {
  readonly tools: Readonly<Record<string, McpTool>>;
  readonly listed: () => ReturnType<typeof listedTools>;
  readonly runs: Readonly<Record<string, Run>>;
}

const all: ToolSet = {
  tools: mcpTools,
  listed: madeOnce(() => listedTools(mcpTools)),
  runs: runTools as unknown as Readonly<Record<string, Run>>,
};
const ofAgent: ToolSet = {
  tools: mcpAgentTools,
  listed: madeOnce(() => listedTools(mcpAgentTools)),
  runs: runAgentTools as unknown as Readonly<Record<string, Run>>,
};

/** A request to an endpoint of the gateway: `/mcp`, or the one of an agent. */
export interface McpRequest {
  readonly opened: GatewayRequest;
  readonly agentId: string | null;
  readonly lost: UndeliveredAnswers;
  readonly givenUp: GivenUpCalls;
  /** The method that it calls; others need no handler in its server. */
  readonly method: string;
}

/** The server of one request: the protocol is stateless, and so is the gateway. */
export function createMcpServer(ctx: HttpContext, request: McpRequest): Server {
  const { opened, agentId, method } = request;
  const server = new Server(serverInfo, { capabilities, ...(agentId === null ? { instructions } : {}) });
  server.setRequestHandler('tools/list', async () => ({
    tools: agentId === null ? all.listed() : await namedTools(ctx, opened, agentId),
  }));
  server.setRequestHandler('tools/call', async ({ params }, call) => {
    const { name } = params;
    if (!hasTool(request, name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 100)}`);
    return callTool(ctx, request, call, { name, args: params.arguments ?? {} });
  });
  if (method.startsWith('tasks/')) serveTasks(ctx, opened, server);
  return server;
}

/** True for a tool of the endpoint that was called. */
export const hasTool = (request: McpRequest, name: string): boolean => Object.hasOwn(toolsOf(request).tools, name);

const toolsOf = ({ agentId }: McpRequest): ToolSet => (agentId === null ? all : ofAgent);

/** Runs a tool of the endpoint. Turns a thrown error into its result. */
export async function callTool(
  ctx: HttpContext,
  request: McpRequest,
  call: ToolCallContext,
  { name, args }: { readonly name: string; readonly args: unknown },
): Promise<CallToolResult | InputRequiredResult> {
  const { opened, agentId, lost, givenUp } = request;
  const set = toolsOf(request);
  try {
    if (!asking.has(name) && hasResponses(call)) throw invalidState();
    const [tool, run] = [set.tools[name], set.runs[name]] as [McpTool, Run];
    const result = await run(ctx, { opened, agentId, lost, givenUp, call, args: validArgs(tool, args) });
    return await withResultFiles(ctx, result);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return toolError(ctx, opened, name, error);
  }
}

/** Tools that ask their client back. */
const asking: ReadonlySet<string> = new Set(['invoke', 'invoke_agent', 'invoke_best']);

const hasResponses = ({ mcpReq }: ToolCallContext): boolean =>
  mcpReq.requestState?.() !== undefined || mcpReq.inputResponses !== undefined;

function validArgs(tool: McpTool, given: unknown): Record<string, unknown> {
  const parsed = tool.args.safeParse(given, { error: problemText });
  if (parsed.success) return parsed.data;
  throw invalidFields(problemsOf(parsed.error, 'arguments'));
}

/** The tools of an agent. The first invokes the agent and describes it; a removed agent has only those that read earlier purchases. */
async function namedTools(ctx: HttpContext, opened: GatewayRequest, agentId: string) {
  const [invoke, ...others] = ofAgent.listed();
  const agent = await callEndpoint(ctx, opened, 'getAgent', { params: { id: agentId } }).catch((error) => {
    if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
    return null;
  });
  if (!invoke || !agent) return others.filter(({ name }) => name !== 'upload_file');
  const { data } = agent;
  const description = descriptionOf(data, invoke.description);
  return [{ ...withInput(invoke, data.types), title: data.name, description }, ...others];
}

const descriptionOf = ({ name, description, rates, metadata }: AgentDetail, what: string): string =>
  `Invokes the agent "${name}" for ${priceText({ ...rates, metadata })} a call. ${what}${description === '' ? '' : ` The agent's owner says of it: "${description}"`}`;
