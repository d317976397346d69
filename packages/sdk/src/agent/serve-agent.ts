import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentError } from './agent-error.ts';
import { type Answer, AnswerOnce } from './answer-once.ts';
import { challengeResponse, isSignedByNode } from './call-signature.ts';
import { parseCall } from './parse-call.ts';
import { readBody } from './read-body.ts';
import { type AgentIdentity, registerSelf, type SelfRegistration } from './register-self.ts';
import { type AgentCall, errorAnswer, type HandleCall, runCall } from './run-call.ts';

export { type AgentCall, AgentError, type HandleCall };

export interface ServeAgentOptions {
  /** Does the work. What it returns is the result; `AgentError` fails the call with a reason. */
  readonly handle: HandleCall;
  /** The token that registering the agent gave; a promise when it is still to come (calls wait for it). */
  readonly identityToken?: string | Promise<string>;
  /** Registers the agent, once, and keeps its token in a file. */
  readonly registerWith?: SelfRegistration;
  /** Default 0: a free one. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** The URL at which the agent is registered, letter for letter; default: `http://`, the Host header and the path of the call. */
  readonly endpoint?: string;
  /** How long `close` lets running calls finish; default 10,000. */
  readonly closeTimeoutMs?: number;
  /** Told of errors that are no `AgentError`; default: written to stderr. */
  readonly onError?: (error: unknown, requestId: string) => void;
}

export interface ServedAgent {
  /** Where the agent listens, ending in `/`. */
  readonly url: string;
  readonly port: number;
  /** Set when the agent registered itself. */
  readonly agentId: string | undefined;
  /** Takes no new calls, lets running ones finish, then stops. */
  close(): Promise<void>;
}

interface Serving {
  readonly options: ServeAgentOptions;
  readonly token: Promise<string>;
  readonly answers: AnswerOnce;
  isClosing: boolean;
}

const writeError = (error: unknown, requestId: string) => {
  process.stderr.write(`${requestId}: ${error instanceof Error ? error.stack : String(error)}\n`);
};

const headerOf = (request: IncomingMessage, name: string) => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
};

function respond(response: ServerResponse, answer: Answer, isLast: boolean): void {
  if (response.destroyed) return;
  const endsConnection = isLast || answer.status === 413 ? { connection: 'close' } : {};
  response.writeHead(answer.status, { 'content-type': 'application/json', ...endsConnection }).end(answer.body);
}

async function answerPost(serving: Serving, request: IncomingMessage, hungUp: AbortSignal): Promise<Answer> {
  const { options, answers } = serving;
  const body = await readBody(request);
  const token = await serving.token;
  const signed = {
    id: headerOf(request, 'webhook-id'),
    timestamp: headerOf(request, 'webhook-timestamp'),
    signature: headerOf(request, 'webhook-signature'),
    body,
  };
  if (!isSignedByNode(signed, token, new Date()))
    throw new AgentError('unauthorized', 'The call is not signed by the node of this agent', 401);
  const call = parseCall(body);
  if (call.kind === 'verification') {
    const endpoint = options.endpoint ?? `http://${headerOf(request, 'host')}${request.url}`;
    const response = challengeResponse(token, { ...call, endpoint });
    return { status: 200, body: JSON.stringify({ agent_id: call.agentId, response }) };
  }
  // The id inside the signed body, not the Idempotency-Key header: a captured call can't be run again under another key.
  return answers.answer(call.requestId, hungUp, (signal) =>
    runCall(options.handle, call, signal, options.onError ?? writeError),
  );
}

async function answerOf(serving: Serving, request: IncomingMessage, hungUp: AbortSignal): Promise<Answer> {
  try {
    if (request.method === 'GET' || request.method === 'HEAD')
      return { status: 200, body: JSON.stringify({ status: 'ok' }) };
    if (request.method === 'POST') return await answerPost(serving, request, hungUp);
    throw new AgentError('method_not_allowed', 'Only GET and POST are served', 405);
  } catch (error) {
    if (error instanceof AgentError) return errorAnswer(error);
    if (!request.destroyed) (serving.options.onError ?? writeError)(error, 'request');
    return errorAnswer(new AgentError('internal_error', 'The agent failed', 500));
  }
}

async function answerRequest(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const hungUp = new AbortController();
  response.once('close', () => hungUp.abort());
  const answer = await answerOf(serving, request, hungUp.signal);
  // What was not read of a refused body is thrown away, so that the caller gets to read why.
  request.resume();
  respond(response, answer, serving.isClosing);
}

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });
}

async function closeServer(server: Server, serving: Serving, timeoutMs: number): Promise<void> {
  serving.isClosing = true;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => {
    serving.answers.abortAll(new Error('the agent is closing'));
    server.closeAllConnections();
  }, timeoutMs);
  await closed;
  clearTimeout(timer);
}

/**
 * Serves an agent over HTTP as a node calls it: proves the endpoint, refuses calls that the node did not sign, runs each
 * request once and answers a repeat with the same result. Put TLS in front of it for the open internet, and name `endpoint`.
 */
export async function serveAgent(options: ServeAgentOptions): Promise<ServedAgent> {
  const { registerWith, host = '127.0.0.1', port = 0, closeTimeoutMs = 10_000 } = options;
  if (!registerWith && options.identityToken === undefined)
    throw new TypeError(
      'serveAgent needs an identityToken or registerWith: without one nobody could be told from a stranger',
    );
  const identity = Promise.withResolvers<AgentIdentity>();
  const token = registerWith
    ? identity.promise.then((known) => known.identityToken)
    : Promise.resolve(options.identityToken ?? '');
  token.catch(() => undefined);
  const serving: Serving = { options, token, answers: new AnswerOnce(), isClosing: false };
  const server = createServer((request, response) => void answerRequest(serving, request, response));
  const address = await listen(server, port, host);
  const hostInUrl = host.includes(':') ? `[${host}]` : host;
  const url = `http://${hostInUrl}:${address.port}/`;
  const close = () => closeServer(server, serving, closeTimeoutMs);
  let agentId: string | undefined;
  if (registerWith) {
    try {
      const known = await registerSelf(registerWith, options.endpoint ?? url);
      identity.resolve(known);
      agentId = known.agentId;
    } catch (error) {
      identity.reject(error);
      await close();
      throw error;
    }
  }
  return { url, port: address.port, agentId, close };
}
