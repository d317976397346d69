import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import type { Context, Hono } from 'hono';
import { hasEnded } from '../../../invocations/invocation.ts';
import { AUTO, keylessResourceOf, resourceOf } from '../../../invocations/start/invocation-purchase.ts';
import { AppError, invalidFields } from '../../../lib/app-error.ts';
import type { AnswerRoom } from '../../answer/answer-room.ts';
import { streamBody } from '../../answer/sse.ts';
import { countUntilTaken, linkOf } from '../../mount.ts';
import { type BodyBounds, trailOf } from '../../request/body-bounds.ts';
import type { HttpContext } from '../../request/http-context.ts';
import { noteRequest } from '../../request/note-request.ts';
import { MAX_BODY_BYTES, readBody } from '../../request/read-body.ts';
import { callEndpoint } from '../common/call-endpoint.ts';
import { faceJson, faceStream } from '../common/face-answer.ts';
import { faceErrorOf } from '../common/face-error.ts';
import { type FaceRequest, newFaceHeaders, openFaceRequest, readForFace } from '../common/face-request.ts';
import { MAX_WAIT_MS } from '../common/max-wait.ts';
import { followStarted, isRepetition, settlementAtEnd } from '../common/purchase.ts';
import { admitRead, streamedTo } from '../common/read-room.ts';
import { answerOf, chatCompletion, responseOf } from './answers.ts';
import { failedRequest, openAiError } from './errors.ts';
import { autoModel, listModels, modelOfDetail } from './models.ts';
import { type Bought, createPurchases, type Purchases } from './purchases.ts';
import { modelIdOf, type OpenAiRequest, readChatRequest, readResponseRequest } from './requests.ts';
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
type Route = (mounted: Mounted, face: FaceRequest) => Promise<Answer>;

/** Mounts the OpenAI face: models, chat completions and responses under `/v1`. */
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
  app.all('/v1/*', (c) => answer(mounted, c, 'openaiUnknown', unknown));
}

async function answer(mounted: Mounted, c: Context, name: string, route: Route): Promise<Response> {
  const startMs = performance.now();
  const headers = newFaceHeaders(c);
  const response = await serve(mounted, c, headers, route).catch((error) =>
    refused(mounted.ctx, c, name, headers, error),
  );
  const requestId = headers['x-request-id'] ?? '';
  noteRequest(mounted.ctx, c, { face: 'openai', route: name, requestId, status: response.status, startMs });
  return response;
}

async function serve({ ctx, room, purchases }: Mounted, c: Context, headers: Record<string, string>, route: Route) {
  const face = await openFaceRequest(ctx, { face: 'openai', room }, c, headers);
  const answered = await route({ ctx, room, purchases }, face);
  if (answered instanceof Response) return answered;
  const all = { ...headers, ...answered.headers };
  return faceJson(ctx, c, { status: answered.status, headers: all, json: JSON.stringify(answered.body) });
}

function refused(
  ctx: HttpContext,
  c: Context,
  name: string,
  headers: Record<string, string>,
  error: unknown,
): Response {
  const known = openAiError(faceErrorOf(ctx, name, headers['x-request-id'] ?? '', error), isOfModel(c));
  const all = { ...headers, ...known.headers };
  return faceJson(ctx, c, { status: known.status, headers: all, json: JSON.stringify(known.body) });
}

/** A 404 is about the agent, except among responses. */
const isOfModel = (c: Context) =>
  ['/v1/chat/completions', '/v1/responses'].includes(c.req.path) || c.req.path.startsWith('/v1/models/');

/** Its bytes count as those of a list of agents: it is as large, and as public. */
const models: Route = async ({ ctx, room }, { c, readers, headers }) => {
  room.admit(readers, 'listAgents');
  const json = JSON.stringify(await listModels(ctx, c.req.query()));
  countUntilTaken(c, (bytes) => room.take(readers, 'listAgents', bytes), json);
  return faceJson(ctx, c, { status: 200, headers, json });
};

const model: Route = async ({ ctx }, face) => {
  const id = modelIdOf(face.c.req.param('id') ?? '');
  if (id === AUTO) return { status: 200, body: autoModel };
  const { data } = await callEndpoint(ctx, face, 'getAgent', { params: { id } });
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
const bounds: BodyBounds = { mostValues: 20_000, mostChars: MAX_BODY_BYTES, content: trailOf() };

/** Reads a body that says that it is JSON, as every client of this API does. */
async function readJson({ ctx }: Mounted, face: FaceRequest) {
  const { c } = face;
  const type = c.req.header('content-type');
  if (type !== undefined && !JSON_TYPE.test(type))
    throw invalidFields([{ path: 'Content-Type', message: 'must be application/json' }]);
  return readForFace(ctx, face, () => readBody(ctx, c, bounds));
}

const chat: Route = async (mounted, opened) => {
  const { face, body } = await readJson(mounted, opened);
  const request = readChatRequest(body);
  const started = await buy(mounted, face, request);
  const promptChars = promptCharsOf(request);
  if (request.isStreamed)
    return streamBought(mounted.ctx, face, started, chatStream, streamedOf(started, request, null));
  const record = await ended(mounted.ctx, face, started, request);
  if (record.status !== 'completed') return failedRequest(record);
  return { status: 200, body: chatCompletion(record, promptChars, isRepetition(started)) };
};

const badPrevious = (message: string) => invalidFields([{ path: 'previous_response_id', message }]);

const createResponse: Route = async (mounted, opened) => {
  const { ctx } = mounted;
  const { face, body } = await readJson(mounted, opened);
  const request = await readResponseRequest(body, async (requestId) => {
    const { data } = await callEndpoint(ctx, face, 'getInvocation', { params: { requestId } }).catch((error) => {
      if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
      throw badPrevious('names no response of yours');
    });
    if (data.status !== 'completed') throw badPrevious('names a response that is not completed');
    const { text, toolCalls } = answerOf(data.result);
    return { task: data.task, answer: text, toolCalls };
  });
  const started = await buy(mounted, face, request);
  if (request.isStreamed) {
    return streamBought(ctx, face, started, responseStream, streamedOf(started, request, request.previousId));
  }
  const { first } = started;
  const record = request.isBackground ? (first.data as RequestRecord) : await ended(ctx, face, started, request);
  const { previousId } = request;
  const responded = { promptChars: promptCharsOf(request), previousId, isRepeated: isRepetition(started) };
  return { status: 200, body: responseOf(record, responded) };
};

const readResponse: Route = async (mounted, face) => {
  // A client that asks for a stream would read any other answer as an empty one.
  if ((face.c.req.query('stream') ?? 'false') !== 'false')
    throw invalidFields([{ path: 'stream', message: 'must be false: a response is read whole' }]);
  return wholeResponse(mounted, face);
};

const wholeResponse: Route = async ({ ctx }, face) => {
  const requestId = face.c.req.param('id') ?? '';
  const { data } = await callEndpoint(ctx, face, 'getInvocation', {
    params: { requestId },
    headers: readHeaders(face),
  });
  return { status: 200, body: responseOf(data, { promptChars: data.task.length }) };
};

/** OpenAI's API answers a second cancellation with the response that was cancelled. */
const cancelResponse: Route = async (mounted, face) => {
  const params = { requestId: face.c.req.param('id') ?? '' };
  const call = { params, headers: readHeaders(face) };
  const refused = await callEndpoint(mounted.ctx, face, 'cancelInvocation', call).then(
    () => null,
    (error: unknown) => error,
  );
  if (refused !== null && !(refused instanceof AppError && refused.code === 'CONFLICT')) throw refused;
  const answer = await wholeResponse(mounted, face);
  const isCancelled = 'body' in answer && (answer.body as { status: string }).status === 'cancelled';
  if (refused !== null && !isCancelled) throw refused;
  return answer;
};

/** Starts the purchase, or finds it. Throws FORBIDDEN when its payment is shown by somebody who is not known to have made the call. */
async function buy({ purchases }: Mounted, face: FaceRequest, request: OpenAiRequest): Promise<Bought> {
  const started = await purchases.buy(face, request);
  const { requestId, resultToken } = started.first.data;
  if (started.isWithheld)
    throw new AppError(
      'FORBIDDEN',
      `This payment paid for ${requestId} before. Read it with its resultToken (X-Result-Token).`,
    );
  if (resultToken !== undefined) face.headers['x-result-token'] = resultToken;
  if (isRepetition(started)) face.headers['idempotency-replayed'] = 'true';
  return started;
}

/** The token that came with the answer of a call without a key. */
const readHeaders = ({ c }: FaceRequest): Record<string, string> => {
  const token = c.req.header('x-result-token');
  return token === undefined ? {} : { 'x-result-token': token };
};

/** The record of a purchase once it has ended. Throws UNAVAILABLE when it takes longer than a client waits: a repetition reads on. */
async function ended(
  ctx: HttpContext,
  face: FaceRequest,
  bought: Bought,
  { agentId }: OpenAiRequest,
): Promise<RequestRecord> {
  const following = { waitMs: MAX_WAIT_MS, signal: face.c.req.raw.signal };
  const { data } = await followStarted(ctx, face, bought, following).catch((error) => {
    bought.lose();
    throw error;
  });
  if (hasEnded(data.status)) {
    const resource = face.caller.kind === 'anonymous' ? keylessResourceOf(agentId) : resourceOf(agentId);
    await settlementAtEnd(ctx, face, bought, ctx.baseUrl + resource);
    return data as RequestRecord;
  }
  bought.lose();
  throw new AppError(
    'UNAVAILABLE',
    `The request ${data.requestId} still runs. Read it with GET /v1/responses/${data.requestId}.`,
  );
}

function streamedOf(bought: Bought, request: OpenAiRequest, previousId: string | null): StreamedRequest {
  const { requestId, agentId, createdAt } = bought.first.data;
  const { includesUsage } = request;
  const promptChars = promptCharsOf(request);
  const isRepeated = isRepetition(bought);
  return { requestId, agentId, createdAt, promptChars, includesUsage, previousId, isRepeated, lose: bought.lose };
}

/**
 * Streams a purchase. A repetition that was found by its payment or key is admitted as other reading; one that was found by its loss was
 * admitted as it was read, and what is refused is still to be found.
 */
function streamBought(
  ctx: HttpContext,
  face: FaceRequest,
  bought: Bought,
  open: OpenStream,
  streamed: StreamedRequest,
): Response {
  try {
    if (streamed.isRepeated && !bought.isAdmitted) admitRead(face, 'getInvocation');
    return stream(ctx, face, open, streamed);
  } catch (error) {
    bought.lose();
    throw error;
  }
}

type OpenStream = (ctx: HttpContext, streamed: StreamedRequest, signal: AbortSignal) => AsyncIterable<string>;

const encoder = new TextEncoder();

/** A stream of events. Nothing breaks it off but its client, whose work goes on. */
function stream(ctx: HttpContext, face: FaceRequest, open: OpenStream, streamed: StreamedRequest): Response {
  const { c, headers, requestId } = face;
  const source = {
    open: (signal: AbortSignal) => {
      const unawait = () => ctx.runner.unawait(streamed.requestId);
      if (signal.aborted) unawait();
      else signal.addEventListener('abort', unawait, { once: true });
      return open(ctx, streamed, ctx.keyWatch.whileValid(face.caller, signal));
    },
    encode: (text: string) => encoder.encode(text),
    opening: '',
  };
  return faceStream(
    streamBody(source, {
      ...linkOf(ctx, 'openai', requestId, c),
      ...(streamed.isRepeated ? { sent: streamedTo(face, 'getInvocation') } : {}),
    }),
    headers,
  );
}
