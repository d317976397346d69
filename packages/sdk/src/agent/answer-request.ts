import type { IncomingMessage, ServerResponse } from 'node:http';
import { AgentError } from './agent-error.ts';
import type { Answer, Answering, AnswerOnce, RunOnce } from './answer-once.ts';
import { challengeResponse, isSignedByNode } from './call-signature.ts';
import type { Deferred } from './deferred.ts';
import { type CallContent, parseCall, type Verification } from './parse-call.ts';
import { errorAnswer, type HandleCall, runCall } from './run-call.ts';

/** The 1 MiB that a caller may send to a node, and the fields that a node adds to it. */
const maxBodyBytes = 1024 * 1024 + 16 * 1024;

/** Maximum pieces kept separately. The sender chooses their number, and each costs 200 bytes on top of its own. */
const maxApart = 256;

const tooLarge = () => new AgentError('payload_too_large', 'The body is larger than 1 MiB', 413);

/** Reads the whole body. Throws `AgentError` with status 413 as soon as it exceeds the limit. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge();
  const joined: Buffer[] = [];
  let apart: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw tooLarge();
    apart.push(chunk);
    if (apart.length < maxApart) continue;
    joined.push(Buffer.concat(apart));
    apart = [];
  }
  return Buffer.concat([...joined, ...apart]);
}

/** Writes an answer as JSON, unless the caller is gone. */
function writeAnswer(response: ServerResponse, answer: Answer, isLast: boolean): void {
  if (response.destroyed) return;
  const endsConnection = isLast || answer.status === 413 ? { connection: 'close' } : {};
  response.writeHead(answer.status, { 'content-type': 'application/json', ...endsConnection }).end(answer.body);
}

const frame = (event: string, data: string) => `event: ${event}\ndata: ${data}\n\n`;

/**
 * Writes events as server-sent events, and then the `result`, the `error` or the question (`input_required`). A call that ends without any event gets a plain answer, so
 * that its status shows the node whether to retry.
 */
async function writeStream(response: ServerResponse, { said, answer }: Answering, isLast: boolean) {
  for await (const { event, data } of said.follow()) {
    if (response.destroyed) return;
    if (!response.headersSent)
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        connection: 'close',
      });
    response.write(frame(event, data));
  }
  const end = await answer;
  if (!response.headersSent) writeAnswer(response, end, isLast);
  else if (!response.destroyed) response.end(frame(nameOf(end), end.body));
}

const nameOf = ({ status, isQuestion }: Answer) =>
  status !== 200 ? 'error' : isQuestion ? 'input_required' : 'result';

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
  // The id and turn inside the signed body, not the Idempotency-Key header: a captured call can't be run again under another key.
  const requestId = call.turn === 1 ? call.requestId : `${call.requestId}:${call.turn}`;
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

/** Answers any request to the agent's server; never rejects. */
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
