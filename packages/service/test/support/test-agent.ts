import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { challengeResponse } from '../../src/agents/health/prove-endpoint.ts';
import type { Harness, TestAccount } from './harness.ts';
import { until } from './until.ts';

/** The node that a test agent registers with. */
type AgentHost = Pick<Harness, 'request' | 'newAccount'>;

export interface AgentRequest {
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: what the node sent, as it is
  readonly body: any;
}

/** Handles a call on the bare response: the agent may answer, disconnect, or stay silent. */
export type Behaviour = (request: AgentRequest, response: ServerResponse) => void | Promise<void>;

export interface TestAgent {
  readonly id: string;
  readonly identityToken: string;
  readonly endpoint: string;
  /** Every call that reached it, in order; challenges and probes are not among them. */
  readonly calls: AgentRequest[];
  behave(behaviour: Behaviour): void;
  /** Stops listening, as a process that died. */
  die(): Promise<void>;
  /** Listens again at the same address. */
  revive(): Promise<void>;
}

export const answerWith =
  (status: number, body: unknown, headers: Record<string, string> = {}): Behaviour =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
  };

export const echo: Behaviour = ({ body }, response) =>
  answerWith(200, { result: { echo: body.task, input: body.input } })({ headers: {}, body }, response);

export interface TestAgentOptions {
  readonly owner?: TestAccount;
  readonly perRequest?: string;
  readonly name?: string;
  readonly capabilities?: readonly string[];
  readonly behaviour?: Behaviour;
  readonly metadata?: Record<string, unknown>;
  /** false: it never answers the challenge, and so stays pending. */
  readonly provesItself?: boolean;
  /** The name of its host, as it registers itself. */
  readonly host?: string;
  /** Takes what comes to any other path than the endpoint's. */
  readonly aside?: RequestListener;
  /** Answers a GET, as probes are; default 200. */
  readonly probeStatus?: number;
}

/** An agent over real HTTP, registered with the node and online. Close it with `die`. */
export async function startTestAgent(harness: AgentHost, options: TestAgentOptions = {}): Promise<TestAgent> {
  const calls: AgentRequest[] = [];
  let behaviour = options.behaviour ?? echo;
  const provesItself = options.provesItself ?? true;
  const known = { id: '', identityToken: '', endpoint: '' };
  const registered = Promise.withResolvers<void>();

  const server = createServer(async (message, response) => {
    if (options.aside && message.url !== '/agent') return void options.aside(message, response);
    if (message.method === 'GET')
      return void answerWith(options.probeStatus ?? 200, { ok: true })({ headers: {}, body: null }, response);
    const text = await readText(message);
    // A caller that gave up has sent nothing.
    if (text === '') return void message.destroy();
    const body = JSON.parse(text);
    if (body.type !== 'verification') {
      const request = { headers: message.headers, body };
      calls.push(request);
      return void behaviour(request, response);
    }
    await registered.promise;
    const answer = challengeResponse(known.identityToken, {
      challenge: body.challenge,
      agentId: known.id,
      endpoint: known.endpoint,
    });
    answerWith(200, { agent_id: known.id, response: provesItself ? answer : 'no' })({ headers: {}, body }, response);
  });
  // Longer than clients keep an idle connection: one that is sent on as it ends is reset.
  server.keepAliveTimeout = 65_000;
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  known.endpoint = `http://${options.host ?? '127.0.0.1'}:${port}/agent`;

  const owner = options.owner ?? (await harness.newAccount());
  const { status, body } = await harness.request('POST', '/agents', {
    key: owner.key,
    body: {
      name: options.name ?? 'Test agent',
      description: 'An agent of a test.',
      capabilities: options.capabilities ?? ['testing'],
      rates: { perRequest: options.perRequest ?? '0.05' },
      endpoint: known.endpoint,
      ...(options.metadata ? { metadata: options.metadata } : {}),
    },
  });
  if (status !== 200) throw new Error(`registration answered ${status}: ${JSON.stringify(body)}`);
  known.id = body.data.id;
  known.identityToken = body.data.identityToken;
  registered.resolve();
  if (provesItself) await untilStatus(harness, known.id, 'online');
  return {
    ...known,
    calls,
    behave(next) {
      behaviour = next;
    },
    async die() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
    revive: async () => void (await listen(port)),
  };
}

/** Waits for a status of an agent; throws when it does not come. */
export async function untilStatus(harness: Pick<Harness, 'request'>, agentId: string, wanted: string): Promise<void> {
  await until(async () => (await harness.request('GET', `/agents/${agentId}`)).body.data.status === wanted);
}

async function readText(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
