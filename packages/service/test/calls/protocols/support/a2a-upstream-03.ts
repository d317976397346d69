import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
} from 'a2a-sdk-v03/server';
import { json, type Seen, type Speaker, startUpstream, type TestUpstream } from './upstream.ts';

/** An agent of A2A 0.3 made with the SDK of that version. */
export const startA2a03Upstream = (): Promise<TestUpstream> => startUpstream(speaker);

// biome-ignore lint/suspicious/noExplicitAny: what the SDK gives, as it is
type Any = any;

function speaker(origin: string): Speaker {
  let site: TestUpstream | null = null;
  const card = {
    name: 'Older upstream',
    description: 'An agent of a test.',
    version: '1',
    protocolVersion: '0.3.0',
    url: `${origin}/agent/rpc`,
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor(() => site) as AgentExecutor);
  const rpc = new JsonRpcTransportHandler(handler);
  return {
    protocol: 'a2a',
    path: '/agent',
    isWork: ({ body }) => body?.method === 'message/send' || body?.method === 'message/stream',
    isCancel: ({ body }) => body?.method === 'tasks/cancel',
    async answer(seen, _request, response, its) {
      site = its;
      if (seen.method === 'GET' && seen.path === '/agent/.well-known/agent-card.json') return json(response, 200, card);
      if (seen.path !== '/agent/rpc') return json(response, 404, {});
      await relay(rpc, seen, response);
    },
  };
}

async function relay(rpc: JsonRpcTransportHandler, { body }: Seen, response: ServerResponse): Promise<void> {
  const answer: Any = await rpc.handle(body);
  if (!(Symbol.asyncIterator in answer)) return json(response, 200, answer);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for await (const event of answer) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end();
}

/** Repeats its input, louder; waits until the mode changes. */
function executor(site: () => TestUpstream | null) {
  const execute = async ({ userMessage, taskId, contextId, task }: Any, bus: Any) => {
    const mode = site()?.mode ?? { kind: 'works' };
    const status = (state: string, message?: object) => ({ state, message, timestamp: new Date().toISOString() });
    const say = (state: string, message?: object) =>
      bus.publish({ kind: 'status-update', taskId, contextId, status: status(state, message), final: true });
    const first = task ?? { kind: 'task', id: taskId, contextId, history: [userMessage] };
    bus.publish({ ...first, status: status('working') });
    const payment = userMessage.metadata?.['x402.payment.payload'];
    const message = (text: string, more: object = {}, others: object[] = []) => {
      const parts = [{ kind: 'text', text }, ...others];
      return { kind: 'message', messageId: randomUUID(), role: 'agent', parts, taskId, contextId, ...more };
    };
    const given = (task?.history ?? [])
      .filter(({ role, metadata }: Any) => role === 'user' && !metadata?.['x402.payment.payload'])
      .slice(1);
    const answers = given.map(({ parts }: Any) => parts.map((part: Any) => part.text ?? part.data));
    const question = mode.kind === 'asks' ? mode.questions[given.length] : undefined;
    if (mode.kind === 'fails' || answers.at(-1)?.[1]?.action === 'decline') say('failed', message('no'));
    else if (question) {
      const { schema, url } = question;
      const data = schema || url ? [{ kind: 'data', data: { schema, url } }] : [];
      say(url ? 'auth-required' : 'input-required', message(question.message, {}, data));
    } else if (mode.kind === 'bills' && !payment) {
      const metadata = { 'x402.payment.status': 'payment-required', 'x402.payment.required': mode.terms.required };
      say('input-required', message('pay', { metadata }));
    } else {
      if (mode.kind === 'bills') await mode.terms.take(payment);
      while (site()?.mode.kind === 'pends') await new Promise((resolve) => setTimeout(resolve, 10));
      const said = task?.history?.[0] ?? userMessage;
      const told = answers.map((each: unknown) => ` ${JSON.stringify(each)}`).join('');
      const artifact = { artifactId: 'a', parts: [{ kind: 'text', text: `${said.parts[0].text}!${told}` }] };
      bus.publish({ kind: 'artifact-update', taskId, contextId, artifact, append: false, lastChunk: true });
      say('completed');
    }
    bus.finished();
  };
  return { execute, cancelTask: async () => undefined };
}
