import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { Context, Hono } from 'hono';
import type { KnownCaller } from '../../../accounts/caller.ts';
import { hasEnded, isAtRest } from '../../../calls/invocation.ts';
import { AUTO, keylessResourceOf, resourceOf } from '../../../calls/start/invocation-purchase.ts';
import { findAsked } from '../../../calls/turns/read-answers.ts';
import { AppError, invalidFields, notFound } from '../../../lib/app-error.ts';
import type { AnswerRoom } from '../../answer/answer-room.ts';
import { streamBody } from '../../answer/sse.ts';
import { countUntilTaken, linkOf } from '../../api/mount.ts';
import { type BodyBounds, trailOf } from '../../request/body-bounds.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { MAX_BODY_BYTES, readBody } from '../../request/read-body.ts';
import { recordRequest } from '../../request/record-request.ts';
import { callEndpoint } from '../common/call-endpoint.ts';
import { follow, MAX_WAIT_MS } from '../common/follow.ts';
import { gatewayErrorOf, gatewayJson, gatewayStream } from '../common/gateway-error.ts';
import { shownFilesOf } from '../common/gateway-files.ts';
import {
  type GatewayRequest,
  newGatewayHeaders,
  openGatewayRequest,
  readForGateway,
} from '../common/gateway-request.ts';
import { followStarted, isRepetition, settlementAtEnd } from '../common/purchase.ts';
import { admitRead, countRead, streamedTo } from '../common/read-room.ts';
import { answerOf, chatCompletion, isFailed, responseOf, type WithFiles } from './answers.ts';
import { failedRequest, openAiError } from './errors.ts';
import { contentLink, createFile, listFiles, readFile, removeFile } from './files.ts';
import { autoModel, listModels, modelOfDetail } from './models.ts';
import { type Bought, createPurchases, type Purchases } from './purchases.ts';
import { type AnsweredRequest, answerQuestion, requestOfResponse, responseIdOf, type SentAnswer } from './questions.ts';
import { type AnswerRequest, modelIdOf, type OpenAiRequest, readChatRequest, readResponseRequest } from './requests.ts';
import { chatStream, responseStream, type StreamedRequest } from './streams.ts';

interface Mounted {
  readonly ctx: HttpContext;
  readonly room: AnswerRoom;
  readonly purchases: Purchases;
}

/** Answer of a route: its status and JSON, or a stream. */
type Answer =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | Response;
type Route = (mounted: Mounted, opened: GatewayRequest) => Promise<Answer>;

/** Mounts the OpenAI gateway: models, chat completions and responses under `/v1`. */
export function mountOpenAi(app: Hono, ctx: HttpContext, room: AnswerRoom): void {
  const mounted = { ctx, room, purchases: createPurchases(ctx) };
  const on = (method: string, path: string, name: string, route: Route) =>
    app.on(method, path, (c) => answer(mounted, c, name, route));
  on('GET', '/v1/models', 'openaiModels', models);
  on('GET', '/v1/models/:id', 'openaiModel', model);
  on('POST', '/v1/chat/completions', 'openaiChat', chat);
  on('POST', '/v1/responses', 'openaiResponse', createResponse);
  on('GET', '/v1/responses/:id', 'openaiReadResponse', readResponse);
  on('POST', '/v1/responses/:id/cancel', 'openaiCancelResponse', cancelResponse);
  on('POST', '/v1/files', 'openaiCreateFile', async ({ ctx }, opened) => ({
    status: 200,
    body: await createFile(ctx, opened),
  }));
  on('GET', '/v1/files', 'openaiFiles', async ({ ctx }, opened) => ({
    status: 200,
    body: await listFiles(ctx, opened),
  }));
  on('GET', '/v1/files/:id', 'openaiFile', async ({ ctx }, opened) => ({
    status: 200,
    body: await readFile(ctx, opened),
  }));
  on('GET', '/v1/files/:id/content', 'openaiFileContent', async ({ ctx }, opened) => ({
    ...{ status: 302, body: {} },
    headers: { location: await contentLink(ctx, opened) },
  }));
  on('DELETE', '/v1/files/:id', 'openaiDeleteFile', async ({ ctx }, opened) => ({
    status: 200,
    body: await removeFile(ctx, opened),
  }));
  app.all('/v1/*', (c) => answer(mounted, c, 'openaiUnknown', unknown));
}

async function answer(mounted: Mounted, c: Context, name: string, route: Route): Promise<Response> {
  const startMs = performance.now();
  const headers = newGatewayHeaders(c);
  const response = await serve(mounted, c, headers, route).catch((error) =>
    refused(mounted.ctx, c, name, headers, error),
  );
  const requestId = headers['x-request-id'] ?? '';
  recordRequest(mounted.ctx, c, { gateway: 'openai', route: name, requestId, status: response.status, startMs });
  return response;
}

async function serve({ ctx, room, purchases }: Mounted, c: Context, headers: Record<string, string>, route: Route) {
  const opened = await openGatewayRequest(ctx, { gateway: 'openai', room }, c, headers);
  const answered = await route({ ctx, room, purchases }, opened);
  if (answered instanceof Response) return answered;
  const all = { ...headers, ...answered.headers };
  return gatewayJson(ctx, c, { status: answered.status, headers: all, json: JSON.stringify(answered.body) });
}

function refused(
  ctx: HttpContext,
  c: Context,
  name: string,
  headers: Record<string, string>,
  error: unknown,
): Response {
  const known = openAiError(gatewayErrorOf(ctx, name, headers['x-request-id'] ?? '', error), isOfModel(c));
  const all = { ...headers, ...known.headers };
  return gatewayJson(ctx, c, { status: known.status, headers: all, json: JSON.stringify(known.body) });
}

/** A 404 is about the agent, except among responses. */
const isOfModel = (c: Context) =>
  ['/v1/chat/completions', '/v1/responses'].includes(c.req.path) || c.req.path.startsWith('/v1/models/');

/** Lists the models. Its bytes count like those of the list of agents, which is as large and as public. */
const models: Route = async ({ ctx, room }, { c, readers, headers }) => {
  room.admit(readers, 'listAgents');
  const json = JSON.stringify(await listModels(ctx, c.req.query()));
  countUntilTaken(c, (bytes) => room.take(readers, 'listAgents', bytes), json);
  return gatewayJson(ctx, c, { status: 200, headers, json });
};

const model: Route = async ({ ctx }, opened) => {
  const id = modelIdOf(opened.c.req.param('id') ?? '');
  if (id === AUTO) return { status: 200, body: autoModel };
  const { data } = await callEndpoint(ctx, opened, 'getAgent', { params: { id } });
  return { status: 200, body: modelOfDetail(data) };
};

const unknown: Route = async ({ ctx }, { c }) => {
  throw new AppError(
    'NOT_FOUND',
    `There is no ${c.req.method} ${c.req.path}. Use ${ctx.baseUrl}/v1 as the base URL: it serves /models, /chat/completions and /responses.`,
  );
};

const promptCharsOf = ({ body }: OpenAiRequest) => body.task.length + String(body.context ?? '').length;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i;

/** Messages are validated one by one. Other fields are the agent's, but few. */
const bounds: BodyBounds = { maxValues: 20_000, maxChars: MAX_BODY_BYTES, content: trailOf() };

/** Reads a body with a JSON content type, which every client of this API sends. */
async function readJson({ ctx }: Mounted, unread: GatewayRequest) {
  const { c } = unread;
  const type = c.req.header('content-type');
  if (type !== undefined && !JSON_TYPE.test(type))
    throw invalidFields([{ path: 'Content-Type', message: 'must be application/json' }]);
  return readForGateway(ctx, unread, () => readBody(ctx, c, bounds));
}

const chat: Route = async (mounted, unread) => {
  const { opened, body } = await readJson(mounted, unread);
  const request = readChatRequest(body, askerOf(opened));
  if ('answer' in request) return answerChat(mounted.ctx, opened, request);
  const started = await buy(mounted, opened, request);
  const promptChars = promptCharsOf(request);
  if (request.isStreamed)
    return streamBought(mounted.ctx, opened, started, chatStream, streamedOf(started, request, null));
  const record = await ended(mounted.ctx, opened, started, request);
  if (isFailed(record)) return failedRequest(record);
  return { status: 200, body: chatCompletion(record, promptChars, isRepetition(started)) };
};

const askerOf = ({ caller }: GatewayRequest) => ({ canBeAsked: caller.kind !== 'anonymous' });

/** Answers the question that a request waits with, and returns its next completion. */
async function answerChat(ctx: HttpContext, opened: GatewayRequest, request: AnswerRequest): Promise<Answer> {
  const answered = await sendAnswer(ctx, opened, request.answer);
  if (request.isStreamed) return stream(ctx, opened, chatStream, streamedAnswer(answered, request));
  const record = await endedAnswer(ctx, opened, answered);
  if (isFailed(record)) return failedRequest(record);
  return { status: 200, body: chatCompletion(record, request.answer.text.length, answered.isRepeated) };
}

/** Answers the question that a response ended with, and returns the next response. */
async function answerResponse(ctx: HttpContext, opened: GatewayRequest, request: AnswerRequest): Promise<Answer> {
  const { answer, previousId, isBackground, isStreamed } = request;
  const asked = await findAsked(ctx, { inputId: answer.inputId });
  if (previousId !== null && asked && requestOfResponse(previousId).requestId !== asked.requestId)
    throw badPrevious('does not name the response with this function call');
  const answered = await sendAnswer(ctx, opened, answer);
  if (isStreamed) return stream(ctx, opened, responseStream, streamedAnswer(answered, request));
  const record = isBackground ? answered.record.data : await endedAnswer(ctx, opened, answered);
  return {
    status: 200,
    body: responseOf(record, { promptChars: answer.text.length, previousId, isRepeated: answered.isRepeated }),
  };
}

/** Sends an answer. One that came before only reads, and counts as such. */
async function sendAnswer(ctx: HttpContext, opened: GatewayRequest, answer: SentAnswer): Promise<AnsweredRequest> {
  const answered = await answerQuestion(ctx, opened, answer);
  if (answered.isRepeated) admitRead(opened, 'getInvocation');
  return answered;
}

const streamedAnswer = (
  { record: { data }, after, isRepeated }: AnsweredRequest,
  { answer, includesUsage, previousId }: AnswerRequest,
): StreamedRequest => ({
  ...{ requestId: data.requestId, agentId: data.agentId, createdAt: data.createdAt, turn: data.turn, after },
  ...{ promptChars: answer.text.length, includesUsage, previousId, isRepeated, lose: () => undefined },
});

/** The record of an answered request, once it has ended or asks again. */
async function endedAnswer(
  ctx: HttpContext,
  opened: GatewayRequest,
  { record, isRepeated }: AnsweredRequest,
): Promise<WithFiles<RequestRecord>> {
  const { requestId } = record.data;
  if (isRepeated) {
    countRead(opened, 'getInvocation', record.json);
    return shown(ctx, record.data);
  }
  const following = { waitMs: MAX_WAIT_MS, signal: opened.c.req.raw.signal };
  const { data } = await follow(ctx, opened.caller as KnownCaller, requestId, following);
  if (!isAtRest(data.status)) throw stillRuns(data);
  return shown(ctx, data);
}

const badPrevious = (message: string) => invalidFields([{ path: 'previous_response_id', message }]);

const createResponse: Route = async (mounted, unread) => {
  const { ctx } = mounted;
  const { opened, body } = await readJson(mounted, unread);
  const findPrevious = async (responseId: string) => {
    const { requestId } = requestOfResponse(responseId);
    const { data } = await callEndpoint(ctx, opened, 'getInvocation', { params: { requestId } }).catch((error) => {
      if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
      throw badPrevious('does not name one of your responses');
    });
    if (data.inputRequest) throw badPrevious('needs the function_call_output of its function call');
    if (data.status !== 'completed') throw badPrevious('names a response that is not completed');
    const { text, toolCalls } = answerOf(data.result);
    return { task: data.task, answer: text, toolCalls };
  };
  const request = await readResponseRequest(body, { ...askerOf(opened), findPrevious });
  if ('answer' in request) return answerResponse(ctx, opened, request);
  const started = await buy(mounted, opened, request);
  if (request.isStreamed) {
    return streamBought(ctx, opened, started, responseStream, streamedOf(started, request, request.previousId));
  }
  const { first } = started;
  const record = request.isBackground ? (first.data as RequestRecord) : await ended(ctx, opened, started, request);
  const { previousId } = request;
  const responded = { promptChars: promptCharsOf(request), previousId, isRepeated: isRepetition(started) };
  return { status: 200, body: responseOf(record, responded) };
};

const readResponse: Route = async (mounted, opened) => {
  // A client that asks for a stream would read any other answer as an empty one.
  if ((opened.c.req.query('stream') ?? 'false') !== 'false')
    throw invalidFields([{ path: 'stream', message: 'must be false: a response is read whole' }]);
  return wholeResponse(mounted, opened);
};

const wholeResponse: Route = async ({ ctx }, opened) => {
  const { requestId, turn } = requestOfResponse(opened.c.req.param('id') ?? '');
  const { data } = await callEndpoint(ctx, opened, 'getInvocation', {
    params: { requestId },
    headers: readHeaders(opened),
  });
  const record = await ofTurn(ctx, data, turn);
  return { status: 200, body: responseOf(shown(ctx, record), { promptChars: data.task.length }) };
};

/** A request as the response of a turn has it: earlier ones end with a question. Throws NOT_FOUND for a turn to come. */
async function ofTurn(ctx: HttpContext, record: RequestRecord, turn: number): Promise<RequestRecord> {
  const { requestId, turn: current = 1 } = record;
  if (turn === current) return record;
  const asked = turn < current ? await findAsked(ctx, { requestId, turn }) : null;
  if (!asked) throw notFound('response');
  const { usage: _, ...rest } = record;
  const inputRequest = asked.question;
  return { ...rest, turn, inputRequest, status: 'input_required', cost: null, refund: null, error: null, result: null };
}

/** OpenAI's API answers a second cancellation with the response that was cancelled. */
const cancelResponse: Route = async (mounted, opened) => {
  const { requestId } = requestOfResponse(opened.c.req.param('id') ?? '');
  const params = { requestId };
  const call = { params, headers: readHeaders(opened) };
  const refused = await callEndpoint(mounted.ctx, opened, 'cancelInvocation', call).then(
    () => null,
    (error: unknown) => error,
  );
  if (refused !== null && !(refused instanceof AppError && refused.code === 'CONFLICT')) throw refused;
  const answer = await wholeResponse(mounted, opened);
  const isCancelled = 'body' in answer && (answer.body as { status: string }).status === 'cancelled';
  if (refused !== null && !isCancelled) throw refused;
  return answer;
};

/** Starts the purchase, or finds it. Throws FORBIDDEN when its payment is shown by somebody who is not known to have made the call. */
async function buy({ purchases }: Mounted, opened: GatewayRequest, request: OpenAiRequest): Promise<Bought> {
  const started = await purchases.buy(opened, request);
  const { requestId, resultToken } = started.first.data;
  if (started.isWithheld)
    throw new AppError(
      'FORBIDDEN',
      `This payment paid for ${requestId} before. Read it with its resultToken (X-Result-Token).`,
    );
  if (resultToken !== undefined) opened.headers['x-result-token'] = resultToken;
  if (isRepetition(started)) opened.headers['idempotency-replayed'] = 'true';
  return started;
}

/** The token that came with the answer of a call without a key. */
const readHeaders = ({ c }: GatewayRequest): Record<string, string> => {
  const token = c.req.header('x-result-token');
  return token === undefined ? {} : { 'x-result-token': token };
};

/** A record with links to the files of its result. */
const shown = (ctx: HttpContext, record: RequestRecord): WithFiles<RequestRecord> => ({
  ...record,
  files: shownFilesOf(ctx, record),
});

/** The record of a purchase once it has ended. Throws UNAVAILABLE when it takes longer than a client waits: a repetition reads on. */
async function ended(
  ctx: HttpContext,
  opened: GatewayRequest,
  bought: Bought,
  { agentId }: OpenAiRequest,
): Promise<WithFiles<RequestRecord>> {
  const following = { waitMs: MAX_WAIT_MS, signal: opened.c.req.raw.signal };
  const { data } = await followStarted(ctx, opened, bought, following).catch((error) => {
    bought.lose();
    throw error;
  });
  if (hasEnded(data.status)) {
    const resource = opened.caller.kind === 'anonymous' ? keylessResourceOf(agentId) : resourceOf(agentId);
    await settlementAtEnd(ctx, opened, bought, ctx.baseUrl + resource);
    return shown(ctx, data as RequestRecord);
  }
  if (isAtRest(data.status)) return data as RequestRecord;
  bought.lose();
  throw stillRuns(data);
}

const stillRuns = (record: Pick<RequestRecord, 'requestId' | 'turn'>) =>
  new AppError(
    'UNAVAILABLE',
    `The request ${record.requestId} still runs. Read it with GET /v1/responses/${responseIdOf(record)}.`,
  );

function streamedOf(bought: Bought, request: OpenAiRequest, previousId: string | null): StreamedRequest {
  const { requestId, agentId, createdAt } = bought.first.data;
  const { includesUsage } = request;
  const promptChars = promptCharsOf(request);
  const isRepeated = isRepetition(bought);
  return { requestId, agentId, createdAt, promptChars, includesUsage, previousId, isRepeated, lose: bought.lose };
}

/**
 * Streams a purchase. A repetition found by its payment or key is admitted like other reads. One found as undelivered was already admitted;
 * if it is refused later, it can still be found.
 */
function streamBought(
  ctx: HttpContext,
  opened: GatewayRequest,
  bought: Bought,
  open: OpenStream,
  streamed: StreamedRequest,
): Response {
  try {
    if (streamed.isRepeated && !bought.isAdmitted) admitRead(opened, 'getInvocation');
    return stream(ctx, opened, open, streamed);
  } catch (error) {
    bought.lose();
    throw error;
  }
}

type OpenStream = (ctx: HttpContext, streamed: StreamedRequest, signal: AbortSignal) => AsyncIterable<string>;

const encoder = new TextEncoder();

/** A stream of events. Only its client ends it early, and then the work continues. */
function stream(ctx: HttpContext, opened: GatewayRequest, open: OpenStream, streamed: StreamedRequest): Response {
  const { c, headers, requestId } = opened;
  const source = {
    open: (signal: AbortSignal) => {
      const detach = () => ctx.runner.detach(streamed.requestId);
      if (signal.aborted) detach();
      else signal.addEventListener('abort', detach, { once: true });
      return open(ctx, streamed, ctx.revocations.whileValid(opened.caller, signal));
    },
    encode: (text: string) => encoder.encode(text),
    opening: '',
  };
  return gatewayStream(
    streamBody(source, {
      ...linkOf(ctx, 'openai', requestId, c),
      ...(streamed.isRepeated ? { sent: streamedTo(opened, 'getInvocation') } : {}),
    }),
    headers,
  );
}
