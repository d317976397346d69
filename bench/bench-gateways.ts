import { type BenchContext, echoed, type Figure, figureOf, invokeRequest, peerOf, work } from './bench-context.ts';
import { fillTreasury } from './bench-treasury.ts';
import type { Request } from './http-connection.ts';
import { type PlainJob, type Question, UNIQUE } from './load-jobs.ts';
import { median } from './measure.ts';
import { nodeCpu } from './node-cpu.ts';
import { runRounds } from './rounds.ts';

const CALLERS = 16;
const WARM_UP_SECONDS = 5;
/** Most processor time of a call through a gateway, as a multiple of REST. */
const MAX_CPU = 1.15;

interface Way {
  readonly name: string;
  readonly question: Question;
  /** The way of REST that it is compared with: the same purchase, named or not. */
  readonly beside: 'REST' | 'REST, with a key' | null;
}

/** (k) A call paid from a treasury through each gateway, in processor time of the node. */
export async function benchGateways(ctx: BenchContext): Promise<Figure[]> {
  await fillTreasury(ctx);
  const { baseUrl } = ctx.service.local;
  const ways = waysOf(ctx);
  const jobOf = (question: Question, seconds: number): PlainJob => ({
    ...{ kind: 'plain', callers: CALLERS, seconds, questions: [question] },
  });
  for (const { question } of ways) await ctx.load.run(jobOf(question, WARM_UP_SECONDS));
  const costs = new Map<string, number[]>();
  let before = await nodeCpu(baseUrl);
  const contestants = ways.map(({ name, question }) => ({
    name,
    job: jobOf(question, ctx.seconds),
    async after() {
      const now = await nodeCpu(baseUrl);
      const each = (now.cpuMs - before.cpuMs) / (now.requests - before.requests);
      costs.set(name, [...(costs.get(name) ?? []), each]);
      before = now;
    },
  }));
  const results = await runRounds(ctx.load, ctx.rounds, contestants);
  return ways.flatMap(({ name, beside }, index): Figure[] => {
    const result = results[index];
    const cost = costs.get(name) ?? [];
    if (!result) return [];
    const figure = figureOf('k', `treasury call: ${name}`, CALLERS, result);
    const note = `${name}: ${median(cost).toFixed(3)} ms of the node's processor time a call`;
    const peer = results[ways.findIndex((way) => way.name === beside)];
    if (beside === null || !peer) return [{ ...figure, note }];
    const ratio = median(cost.map((each, round) => each / (costs.get(beside)?.[round] ?? Number.NaN)));
    return [
      {
        ...figure,
        peer: peerOf(beside, result, peer),
        aim: { text: `at most ${MAX_CPU} times its processor time (${ratio.toFixed(2)})`, isReached: ratio <= MAX_CPU },
        note,
      },
    ];
  });
}

function waysOf(ctx: BenchContext): Way[] {
  const { service } = ctx;
  const { baseUrl, apiKey } = service.local;
  const paying = { authorization: `Bearer ${apiKey}`, 'x-payment-method': 'treasury' };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Request => ({
    ...{ method: 'POST', url: baseUrl + path, headers: { ...paying, ...headers }, body },
  });
  const sync = { 'x-sync': 'true', 'x-payment-method': 'treasury' };
  const answered = (request: Request, includes: string = echoed): Question => ({ request, status: 200, includes });
  const agentId = service.echoAgentId;
  return [
    { name: 'REST', question: answered(invokeRequest(ctx, sync)), beside: null },
    {
      name: 'REST, with a key',
      question: answered(invokeRequest(ctx, { ...sync, 'idempotency-key': UNIQUE })),
      beside: null,
    },
    {
      name: 'MCP',
      question: answered(
        post('/mcp', mcpCall({ agentId, ...work, maxCost: '1' }), {
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': MCP_VERSION,
          'mcp-method': 'tools/call',
          'mcp-name': 'invoke_agent',
        }),
      ),
      beside: 'REST',
    },
    {
      name: 'OpenAI',
      question: answered(
        post('/v1/chat/completions', { model: agentId, messages: [{ role: 'user', content: work.task }] }),
        '"finish_reason":"stop"',
      ),
      beside: 'REST',
    },
    {
      name: 'A2A',
      question: answered(post(`/a2a/${agentId}`, a2aMessage, { 'a2a-version': '1.0' }), 'TASK_STATE_COMPLETED'),
      beside: 'REST, with a key',
    },
  ];
}

const MCP_VERSION = '2026-07-28';

const mcpCall = (args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'invoke_agent',
    arguments: args,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': MCP_VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});

const a2aMessage = {
  jsonrpc: '2.0',
  id: 1,
  method: 'SendMessage',
  params: {
    message: { messageId: UNIQUE, role: 'ROLE_USER', parts: [{ text: work.task }, { data: work.input }] },
  },
};
