import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentError } from './agent-error.ts';
import { AnswerOnce } from './answer-once.ts';
import { answerRequest, type Serving } from './answer-request.ts';
import { type AgentQuestion, ask, type CallerAnswer } from './ask.ts';
import { requireToken } from './call-signature.ts';
import { Deferred } from './deferred.ts';
import { type AgentIdentity, registerSelf, type SelfRegistration } from './register-self.ts';
import type { AgentCall, HandleCall } from './run-call.ts';
import { progress } from './stream-log.ts';
import { withResolvers } from './with-resolvers.ts';

export { type AgentCall, AgentError, type AgentQuestion, ask, type CallerAnswer, type HandleCall, progress };

export interface ServeAgentOptions {
  /** Does the work. Its return value is the result, or a question (`ask`); `AgentError` fails the call with a reason; a generator streams. */
  readonly handle: HandleCall;
  /**
   * For work that takes minutes: calls are answered 202 at once and the node asks for the result, so that no connection has to
   * last as long as the work. A caller who streams is still answered with a stream. Default: false.
   */
  readonly defer?: boolean;
  /**
   * The token that registering the agent gave; a promise when it is still to come (calls wait for it). Anything but `0x` and 64
   * hexadecimal digits is refused with `TypeError`.
   */
  readonly identityToken?: string | Promise<string>;
  /** Registers the agent, once, and keeps its token in a file. */
  readonly registerWith?: SelfRegistration;
  /** Default 0: a free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** The URL at which the agent is registered, letter for letter; default: `http://`, the Host header and the path of the call. */
  readonly endpoint?: string;
  /** Time that `close` gives running calls to finish; default 10,000. */
  readonly closeTimeoutMs?: number;
  /** Called with errors other than `AgentError`; default: writes them to stderr. */
  readonly onError?: (error: unknown, requestId: string) => void;
}

export interface ServedAgent {
  /** The agent's own URL, ending in `/`. */
  readonly url: string;
  readonly port: number;
  /** Set when the agent registered itself. */
  readonly agentId: string | undefined;
  /** Lets running calls finish, and the node read the end of those that it polls, then stops. */
  close(): Promise<void>;
}

const writeError = (error: unknown, requestId: string) => {
  process.stderr.write(`${requestId}: ${error instanceof Error ? error.stack : String(error)}\n`);
};

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });
}

async function closeServer(server: Server, serving: Serving, timeoutMs: number): Promise<void> {
  serving.isClosing = true;
  const late = withResolvers<void>();
  const timer = setTimeout(() => {
    serving.answers.abortAll(new Error('the agent is closing'));
    server.closeAllConnections();
    late.resolve();
  }, timeoutMs);
  await Promise.race([serving.deferred.whenAllRead(), late.promise]);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clearTimeout(timer);
}

function servingOf(options: ServeAgentOptions, token: Promise<string>): Serving {
  const answers = new AnswerOnce();
  return {
    handle: options.handle,
    endpoint: options.endpoint,
    defer: options.defer ?? false,
    onError: options.onError ?? writeError,
    token,
    answers,
    deferred: new Deferred(answers),
    isClosing: false,
  };
}

/**
 * Serves an agent over HTTP as a node calls it: proves the endpoint, refuses calls that the node did not sign, runs each
 * request once and answers a repeat with the same result. Put TLS in front of it for the open internet, and name `endpoint`.
 */
export async function serveAgent(options: ServeAgentOptions): Promise<ServedAgent> {
  const { registerWith, host = '127.0.0.1', port = 0, closeTimeoutMs = 10_000 } = options;
  const identity = withResolvers<AgentIdentity>();
  const given = registerWith ? identity.promise.then((known) => known.identityToken) : options.identityToken;
  if (given === undefined)
    throw new TypeError(
      'serveAgent needs an identityToken or registerWith: without one the agent cannot tell the node from a stranger',
    );
  if (typeof given === 'string') requireToken(given);
  const token = Promise.resolve(given).then((known) => requireToken(known));
  token.catch(() => undefined);
  const serving = servingOf(options, token);
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
