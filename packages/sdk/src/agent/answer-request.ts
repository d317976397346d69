import type { IncomingMessage, ServerResponse } from 'node:http';
import { AgentError } from './agent-error.ts';
import type { Answer, Answering, AnswerOnce, RunOnce } from './answer-once.ts';
import { challengeResponse, isSignedByNode } from './call-signature.ts';
import type { Deferred } from './deferred.ts';
import { type CallContent, parseCall, type Verification } from './parse-call.ts';
import { readBody } from './read-body.ts';
import { errorAnswer, type HandleCall, runCall } from './run-call.ts';
import { writeAnswer, writeStream } from './write-answer.ts';

export interface Serving {
  readonly handle: HandleCall;
  /** The registered endpoint URL; default: the called URL. */
  readonly endpoint: string | undefined;
  readonly defer: boolean;
  readonly onError: (error: unknown, requestId: string) => void;
  readonly token: Promise<string>;
  readonly answers: AnswerOnce;
  readonly deferred: Deferred;
  isClosing: boolean;
}

const headerOf = (request: IncomingMessage, name: string) => {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
};

async function readCall(request: IncomingMessage, token: string, body: Uint8Array) {
  const signed = {
    id: headerOf(request, 'webhook-id'),
    timestamp: headerOf(request, 'webhook-timestamp'),
    signature: headerOf(request, 'webhook-signature'),
    body,
  };
  if (!isSignedByNode(signed, token, new Date()))
    throw new AgentError('unauthorized', 'The call is not signed by the node of this agent', 401);
  return parseCall(body);
}

function verify(serving: Serving, request: IncomingMessage, token: string, challenge: Verification): Answer {
  const endpoint = serving.endpoint ?? `http://${headerOf(request, 'host')}${request.url}`;
  const response = challengeResponse(token, { ...challenge, endpoint });
  return { status: 200, body: JSON.stringify({ agent_id: challenge.agentId, response }) };
}

const wantsStream = (request: IncomingMessage, call: CallContent) =>
  call.isStreamed && (headerOf(request, 'accept') ?? '').includes('text/event-stream');

async function answerPost(
  serving: Serving,
  request: IncomingMessage,
  hungUp: AbortSignal,
): Promise<Answer | { readonly stream: Answering }> {
  const body = await readBody(request);
  const token = await serving.token;
  const call = await readCall(request, token, body);
  if (call.kind === 'verification') return verify(serving, request, token, call);
  // The id inside the signed body, not the Idempotency-Key header: a captured call can't be run again under another key.
  const { requestId } = call;
  const run: RunOnce = (signal, said) => runCall(serving.handle, call, signal, said, serving.onError);
  if (wantsStream(request, call)) return { stream: serving.answers.join(requestId, hungUp, run) };
  if (!serving.defer) return serving.answers.answer(requestId, hungUp, run);
  return serving.deferred.accept({ requestId, identityToken: token, url: request.url ?? '' }, run);
}

async function answerOther(serving: Serving, method: string, url: string): Promise<Answer> {
  const isRead = method === 'GET' || method === 'HEAD';
  const deferred = serving.defer && (isRead || method === 'DELETE');
  const answer = deferred ? await serving.deferred.answer(method, url, await serving.token) : null;
  if (answer) return answer;
  if (isRead) return { status: 200, body: JSON.stringify({ status: 'ok' }) };
  throw new AgentError('method_not_allowed', 'Only GET and POST are served', 405);
}

function toErrorAnswer(serving: Serving, response: ServerResponse, error: unknown): Answer {
  if (error instanceof AgentError) return errorAnswer(error);
  // A caller that hung up is no error; a request that was read is destroyed as well.
  if (!response.destroyed) serving.onError(error, 'request');
  return errorAnswer(new AgentError('internal_error', 'The agent failed', 500));
}

/** Answers one request of the agent's server, whatever it is; never rejects. */
export async function answerRequest(serving: Serving, request: IncomingMessage, response: ServerResponse) {
  const hungUp = new AbortController();
  response.once('close', () => response.writableFinished || hungUp.abort());
  const { method = '', url = '' } = request;
  const answer = await (method === 'POST'
    ? answerPost(serving, request, hungUp.signal)
    : answerOther(serving, method, url)
  ).catch((error: unknown) => toErrorAnswer(serving, response, error));
  // The unread rest of a refused body is discarded, so that the caller gets to read the refusal.
  request.resume();
  if ('stream' in answer) await writeStream(response, answer.stream, serving.isClosing);
  else writeAnswer(response, answer, serving.isClosing);
}
