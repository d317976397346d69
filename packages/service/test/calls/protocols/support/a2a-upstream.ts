import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server';
import { json, type Seen, type Speaker, startUpstream, type TestUpstream } from './upstream.ts';

/** An agent of A2A 1.0 made with the SDK. */
export const startA2aUpstream = (): Promise<TestUpstream> => startUpstream(speaker);

function speaker(origin: string): Speaker {
  const site: { current: TestUpstream | null } = { current: null };
  const url = `${origin}/agent/rpc`;
  const card = {
    name: 'Upstream',
    description: 'An agent of a test.',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [],
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
  };
  // biome-ignore lint/suspicious/noExplicitAny: the types of the SDK are those of protobuf, in which every field is set
  const handler = new DefaultRequestHandler(card as any, new InMemoryTaskStore(), executor(site) as any);
  const rpc = new JsonRpcTransportHandler(handler);
  return {
    protocol: 'a2a',
    path: '/agent',
    isWork: ({ body }) => body?.method === 'SendMessage' || body?.method === 'SendStreamingMessage',
    isCancel: ({ body }) => body?.method === 'CancelTask',
    async answer(seen, _request, response, its) {
      site.current = its;
      if (seen.method === 'GET' && seen.path === '/agent/.well-known/agent-card.json') return json(response, 200, card);
      if (seen.path !== '/agent/rpc') return json(response, 404, {});
      await relay(rpc, seen, response);
    },
  };
}

async function relay(rpc: JsonRpcTransportHandler, { body }: Seen, response: ServerResponse): Promise<void> {
  const answer = await rpc.handle(body, new ServerCallContext({ requestedVersion: '1.0' }));
  if (!(Symbol.asyncIterator in answer)) return json(response, 200, answer);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for await (const event of answer) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end();
}

// biome-ignore lint/suspicious/noExplicitAny: as above
type Any = any;
const text = (said: string) => ({ content: { $case: 'text', value: said } });
const content = ($case: string, value: unknown) => ({ content: { $case, value } });

/** Repeats its input, louder; waits until the mode changes. */
function executor(site: { current: TestUpstream | null }): AgentExecutor {
  const run = async ({ userMessage, taskId, contextId, task }: Any, bus: Any) => {
    const mode = site.current?.mode ?? { kind: 'works' };
    const now = () => new Date().toISOString();
    const status = (state: number, message?: object) => ({ state, message, timestamp: now() });
    const say = (state: number, message?: object) =>
      bus.publish({ kind: 'statusUpdate', data: { taskId, contextId, status: status(state, message) } });
    const first = task ?? { id: taskId, contextId, artifacts: [], history: [userMessage] };
    bus.publish({ kind: 'task', data: { ...first, status: status(WORKING) } });
    const message = (said: string, metadata?: object, more: object[] = []) => ({
      ...{ messageId: randomUUID(), role: 2, parts: [text(said), ...more], taskId, contextId },
      metadata,
    });
    const said = task?.history?.[0] ?? userMessage;
    const payment = userMessage.metadata?.['x402.payment.payload'];
    const given = (task?.history ?? [])
      .filter(({ role, metadata }: Any) => role === USER && !metadata?.['x402.payment.payload'])
      .slice(1);
    const answers = given.map(({ parts }: Any) => parts.map(contentOf));
    const question = mode.kind === 'asks' ? mode.questions[given.length] : undefined;
    if (mode.kind === 'bills' && mode.isBegun) say(WORKING, message(payment ? 'paid' : 'begun'));
    if (mode.kind === 'fails' || answers.at(-1)?.[1]?.action === 'decline') say(FAILED, message('no'));
    else if (question) {
      const { message: said, schema, url } = question;
      const more = [...(schema ? [content('data', { schema })] : []), ...(url ? [content('url', url)] : [])];
      say(url ? AUTH_REQUIRED : INPUT_REQUIRED, message(said, undefined, more));
    } else if (mode.kind === 'needs input') say(INPUT_REQUIRED, message('which one?'));
    else if (mode.kind === 'bills' && !payment)
      say(
        INPUT_REQUIRED,
        message('pay', {
          'x402.payment.status': 'payment-required',
          'x402.payment.required': mode.terms.required,
        }),
      );
    else {
      if (mode.kind === 'bills') await mode.terms.take(payment);
      while (site.current?.mode.kind === 'pends') await new Promise((resolve) => setTimeout(resolve, 10));
      const told = answers.map((each: unknown) => ` ${JSON.stringify(each)}`).join('');
      const artifact = { artifactId: 'a', parts: [text(`${said.parts[0].content.value}!${told}`)] };
      bus.publish({ kind: 'artifactUpdate', data: { taskId, contextId, artifact, append: false, lastChunk: true } });
      say(COMPLETED);
    }
    bus.finished();
  };
  return { execute: run, cancelTask: async () => undefined } as Any;
}

const contentOf = (part: Any) => part.content.value;

const [WORKING, COMPLETED, FAILED, INPUT_REQUIRED, AUTH_REQUIRED] = [2, 3, 4, 6, 8];
const USER = 1;
