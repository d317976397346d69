import type { EndpointName } from '@agent-network/contracts/api';
import { type Endpoint, type Parsed, takesIdempotencyKey } from '@agent-network/contracts/endpoint';
import type { Context } from 'hono';
import type { AgentCaller, Caller } from '../../accounts/caller.ts';
import {
  type FoundAnswer,
  fingerprintOf,
  type KeyedRequest,
  keyCallerOf,
} from '../../accounts/idempotency/idempotency.ts';
import { unkeyed } from '../../accounts/idempotency/once.ts';
import { budgetOf } from '../../accounts/spending-limits.ts';
import { requireActive } from '../../accounts/suspension.ts';
import { resolveAgent } from '../../agents/search/find-agent.ts';
import { AppError, invalid } from '../../lib/app-error.ts';
import { encodeJson } from '../../lib/json/prepared-json.ts';
import { PaymentRequiredError } from '../../payments/x402/payment-required.ts';
import type { Drain } from '../../store/queue/drain.ts';
import { describeOutage } from '../answer/errors.ts';
import { FileAnswer } from '../answer/file-answer.ts';
import { SseAnswer } from '../answer/sse.ts';
import { auditCall, auditRefusal, auditReplay, isSettled } from './audit-call.ts';
import { clientOf } from './client.ts';
import type { CountedCall } from './count-call.ts';
import type { HandlerCall } from './handler.ts';
import type { HttpContext } from './http-context.ts';
import { readAs, requireAllowed } from './identify.ts';
import { agentParamOf, parseRequest } from './parse-request.ts';
import type { RequestParts } from './request-parts.ts';
import { type Running, runKeyed } from './run-keyed.ts';
import { orTerms } from './unpaid-terms.ts';
import { uploadOf } from './upload.ts';

/** Wait of other requests for a database connection, above which new requests are refused. */
const SHED_AFTER_MS = 1_500;

export type AnyHandler = (ctx: HttpContext, call: HandlerCall<Endpoint>) => unknown;

/** A request in progress: its row, its handler, and the headers of its answer. */
export interface Incoming {
  readonly name: EndpointName;
  readonly row: Endpoint;
  readonly handler: AnyHandler;
  readonly c: Context;
  /** The parts that its row validates. */
  readonly parts: RequestParts;
  readonly headers: Record<string, string>;
  /** Makes the answer a 201. */
  readonly setCreated: () => void;
  /** Identifies the caller. */
  readonly identify: () => Promise<Caller>;
  /** Counts the call against the limits of its caller. */
  readonly count: (caller: Caller) => Promise<CountedCall>;
  /** Called once the caller is identified and counted; may refuse it. */
  readonly admit: (caller: Caller) => void;
}

const paymentHeaders = ['payment-signature', 'x-payment'];

/** JSON as text or bytes, a stream, or the content of a file. */
export type AnswerBody = string | Buffer<ArrayBuffer> | SseAnswer | FileAnswer;

/** Identifies, counts, validates and handles a request. */
export async function handleCall(ctx: HttpContext, incoming: Incoming): Promise<AnswerBody> {
  const { row, parts } = incoming;
  requireRoom(ctx, row.method);
  const progress: Progress = { hasBegun: false, isInvoked: false, end: () => undefined };
  try {
    const answer = await handleReady(ctx, incoming, progress);
    if (isSettled(incoming.name, row)) await ctx.replica.settleWrite();
    return answer;
  } catch (error) {
    throw describeOutage(error, {
      method: row.method,
      hasBegun: progress.hasBegun,
      hasKey: parts.header('idempotency-key') !== undefined,
      hasPayment: paymentHeaders.some((name) => parts.header(name) !== undefined),
    });
  } finally {
    progress.end();
  }
}

interface Progress {
  hasBegun: boolean;
  /** True when it has become an invocation. */
  isInvoked: boolean;
  /** Marks the call as answered. */
  end: () => void;
}

/**
 * Refuses a new request before start and after stop, one that changes something while an operator drains the process, and any while
 * connections are short, so that the running ones can finish.
 */
export function requireRoom({ isReady, drain, db, metrics }: HttpContext, method: string): void {
  if (!isReady())
    throw new AppError('UNAVAILABLE', 'The node is starting or stopping. Repeat the request after Retry-After.');
  requireNotDrained(drain, method);
  if (db.queueAgeMs() < SHED_AFTER_MS) return;
  metrics.requestsShed.inc({ reason: 'database', priority: '' });
  const message = 'The node is overloaded. Nothing was done; repeat the request later.';
  throw new AppError('UNAVAILABLE', message, { details: { outcome: 'nothing' } });
}

function requireNotDrained(drain: Drain, method: string): void {
  if (!drain.isRefusing() || method === 'GET' || method === 'HEAD') return;
  const message =
    'This process of the node is draining. Nothing was done; repeat the request: another process takes it.';
  throw new AppError('UNAVAILABLE', message, { details: { outcome: 'nothing' } });
}

/** Counts a call once its request has arrived. A client that still sends its body, perhaps for a minute, does not delay a drain. */
function enter({ drain }: HttpContext, { method }: Endpoint): () => void {
  if (method === 'GET') return () => undefined;
  requireNotDrained(drain, method);
  return drain.begin('calls');
}

async function handleReady(ctx: HttpContext, incoming: Incoming, progress: Progress): Promise<AnswerBody> {
  const { row, c, parts, headers } = incoming;
  const first = await incoming.identify();
  const counted = await incoming.count(first);
  try {
    await requireAllowedOrNote(ctx, incoming, first);
    incoming.admit(first);
    const { caller, parsed } = await readParts(ctx, incoming, first).catch(async (error) => {
      throw await orTerms(ctx, { row, parts, caller: first }, error);
    });
    if (caller !== first) await requireAllowedOrNote(ctx, incoming, caller);
    // An upload enters once it is whole: it may take minutes.
    if (row.bytes !== 'sent') progress.end = enter(ctx, row);
    const begin = (running: Running) => {
      progress.hasBegun = true;
      return run(ctx, incoming, { caller, parsed, counted, progress, ...running });
    };
    const request = keyedRequest(incoming, caller, parsed);
    if (!request) {
      const data = await begin({ once: unkeyed, headers: {} });
      return data instanceof SseAnswer || data instanceof FileAnswer ? data : encodeAnswer(ctx, row, data);
    }
    return await runKeyed(ctx, {
      request,
      shownOnce: row.shownOnce,
      takesLate: takesKeyLate(incoming, caller),
      encode: (data) => encodeAnswer(ctx, row, data).toString(),
      run: begin,
      async replay(find, read) {
        const call = { name: incoming.name, row, caller, client: clientOf(ctx, c), parsed };
        const data = await auditReplay<FoundAnswer>(ctx, call, find, async (found) => {
          Object.assign(headers, found.headers, { 'idempotency-replayed': 'true' });
          return read(found);
        });
        await counted.uncount();
        return data;
      },
    });
  } catch (error) {
    // A call that did not become a paid invocation does not count as one. If that cannot be stored, report the first error.
    if (!progress.isInvoked || error instanceof PaymentRequiredError)
      await counted
        .uncount()
        .catch((err: unknown) => ctx.log.debug({ err }, 'cannot undo the rate-limit count of a failed call'));
    throw error;
  }
}

/** True for calls of an agent that need no lookup before acceptance: no payment, quote or daily budget. */
const takesKeyLate = ({ name, parts }: Incoming, caller: Caller): boolean =>
  name === 'invokeAgent' &&
  caller.kind !== 'anonymous' &&
  budgetOf(caller) === null &&
  parts.query.quote === undefined &&
  !paymentHeaders.some((header) => parts.header(header) !== undefined);

async function readParts(ctx: HttpContext, incoming: Incoming, first: Caller) {
  const { row, parts, identify } = incoming;
  const { caller, body } = await readAs(
    first,
    async () => (row.body && row.bytes !== 'sent' ? parts.body() : undefined),
    identify,
  );
  const { params, query, header } = parts;
  return { caller, parsed: await withAgentIds(ctx, incoming, parseRequest(row, { params, query, header, body })) };
}

/** Replaces slugs and names of agents by their ids, once and before anything is decided, so that all of a call is about the same agents. */
async function withAgentIds(
  ctx: HttpContext,
  { name: endpoint, row }: Pick<Incoming, 'name' | 'row'>,
  parsed: Parsed<Endpoint>,
): Promise<Parsed<Endpoint>> {
  if (endpoint === 'invokeBulk') {
    const body = parsed.body as { readonly agents: readonly string[] };
    const agents = await Promise.all(body.agents.map((ref) => resolveAgent(ctx, ref, 'agents')));
    return { ...parsed, body: { ...body, agents } };
  }
  const name = agentParamOf(row);
  if (name === undefined) return parsed;
  const params = parsed.params as Readonly<Record<string, string>>;
  return { ...parsed, params: { ...params, [name]: await resolveAgent(ctx, params[name] ?? '', name) } };
}

/** The last look before an upload is kept: its caller may have lost a right while it arrived, and the process may drain. */
async function arrive(
  ctx: HttpContext,
  incoming: Incoming,
  { caller, progress }: Pick<Begun, 'caller' | 'progress'>,
): Promise<void> {
  const again = await incoming.identify();
  if (again.kind === 'anonymous' || caller.kind === 'anonymous' || again.accountId !== caller.accountId)
    throw new AppError('UNAUTHORIZED', 'The session ended while the upload arrived. Nothing was stored.');
  await requireAllowedOrNote(ctx, incoming, again);
  progress.end = enter(ctx, incoming.row);
}

interface Begun extends Running {
  readonly caller: Caller;
  readonly parsed: Parsed<Endpoint>;
  readonly counted: CountedCall;
  readonly progress: Progress;
}

async function run(
  ctx: HttpContext,
  incoming: Incoming,
  { caller, parsed, counted, progress, once, headers: kept }: Begun,
): Promise<unknown> {
  const { name, row, handler, c, parts, headers, setCreated } = incoming;
  const client = clientOf(ctx, c);
  const call = {
    ...parsed,
    caller: caller as AgentCaller,
    setCreated,
    upload: uploadOf(ctx, c, () => arrive(ctx, incoming, { caller, progress })),
    setHeader(header: string, value: string) {
      headers[header] = value;
      kept[header] = value;
    },
    client,
    get hungUp() {
      return c.req.raw.signal;
    },
    once,
    keylessKey: keylessKeyOf(row, parts, caller),
    countMore: counted.countMore,
    countPayer: counted.countPayer,
    recordInvoked() {
      progress.isInvoked = true;
    },
    uncount: counted.uncount,
    keepCount: counted.keep,
  };
  const data = await auditCall(ctx, { name, row, caller, client, parsed }, async () => handler(ctx, call));
  // A handler that did not say it itself read the registry last: no refresh came in between.
  if (row.fromRegistry) headers['x-registry-position'] ??= ctx.replica.position();
  return data;
}

async function requireAllowedOrNote(
  ctx: HttpContext,
  { name, row, c, parts }: Incoming,
  caller: Caller,
): Promise<void> {
  try {
    requireAllowed(row, caller);
    requireActive(caller, name, row);
  } catch (error) {
    await auditRefusal(ctx, { name, row, caller, client: clientOf(ctx, c) }, parts.params, error);
    throw error;
  }
}

function keyedRequest({ row, parts }: Incoming, caller: Caller, parsed: Parsed<Endpoint>): KeyedRequest | null {
  const key = parts.header('idempotency-key');
  // Calls without authentication change nothing, and may simply be repeated; a payment is its own key.
  if (key === undefined || !takesIdempotencyKey(row) || caller.kind === 'anonymous') return null;
  requireKeyText(key);
  const who = caller.kind === 'agent' ? caller.agentId : caller.accountId;
  const fingerprint = fingerprintOf([row.method, pathOf(row, parts.path, parsed), parsed.query, parsed.body]);
  return { accountId: who, key, fingerprint, ...keyCallerOf(caller) };
}

/** The path as it is with the id of an agent, by whatever name the call has it. */
function pathOf(row: Endpoint, path: string, { params }: Parsed<Endpoint>): string {
  if (agentParamOf(row) === undefined) return path;
  const given = params as Readonly<Record<string, string>>;
  return row.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name] ?? ''));
}

function requireKeyText(key: string): void {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw invalid('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
}

function keylessKeyOf(row: Endpoint, parts: Incoming['parts'], caller: Caller): string | null {
  const key = parts.header('idempotency-key');
  if (key === undefined || row.keyless !== 'pays' || caller.kind !== 'anonymous') return null;
  requireKeyText(key);
  return key;
}

function encodeAnswer(ctx: HttpContext, row: Endpoint, data: unknown): string | Buffer<ArrayBuffer> {
  const encoded = encodeJson({ status: 'success', data });
  const plain = () => (typeof encoded === 'string' ? data : JSON.parse(encoded.toString()).data);
  const result = ctx.checksAnswers ? row.data.safeParse(plain()) : null;
  if (result?.success === false)
    throw new Error(`the answer of ${row.method} ${row.path} breaks its schema: ${result.error.message}`);
  return encoded;
}
