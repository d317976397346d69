import type { Endpoint, Parsed } from '@agent-network/contracts/endpoint';
import type { Context } from 'hono';
import type { AgentCaller, Caller } from '../access/caller.ts';
import {
  enterKey,
  fingerprintOf,
  freeKey,
  idUnderKey,
  type KeyedRequest,
  keepAnswer,
  keepKey,
} from '../access/idempotency.ts';
import { AppError, invalid } from '../lib/app-error.ts';
import { type CountedCall, countCall } from './count-call.ts';
import type { HandlerCall } from './handler.ts';
import type { HttpContext } from './http-context.ts';
import { identify, requireAllowed } from './identify.ts';
import { parseRequest } from './parse-request.ts';
import { readBody } from './read-body.ts';
import { SseAnswer } from './sse.ts';

export type AnyHandler = (ctx: HttpContext, call: HandlerCall<Endpoint>) => unknown;

/** One request on its way to an answer: what it is for and where its headers are gathered. */
export interface Incoming {
  readonly row: Endpoint;
  readonly handler: AnyHandler;
  readonly c: Context;
  readonly headers: Record<string, string>;
}

/** Identifies, counts, validates and handles a request; resolves with the JSON of the answer, or with a stream. */
export async function handleCall(ctx: HttpContext, incoming: Incoming): Promise<string | SseAnswer> {
  const { row, c, headers } = incoming;
  if (!ctx.isReady()) throw new AppError('UNAVAILABLE', 'The node is starting or stopping.');
  const caller = await identify(ctx, row, c, headers);
  const counted = await countCall(ctx, caller, row, headers);
  try {
    requireAllowed(row, caller);
    const parsed = parseRequest(row, {
      params: c.req.param(),
      query: c.req.queries(),
      header: (name) => c.req.header(name),
      body: row.body ? await readBody(c.req.raw) : undefined,
    });
    const keyed = keyedRequest(incoming, caller, parsed);
    return await (keyed
      ? runKeyed(ctx, incoming, caller, parsed, counted, keyed)
      : run(ctx, incoming, caller, parsed, counted, null));
  } catch (error) {
    // Whatever did not become an invocation does not count as one.
    await counted.uncount();
    throw error;
  }
}

async function run(
  ctx: HttpContext,
  { row, handler, headers }: Incoming,
  caller: Caller,
  parsed: Parsed<Endpoint>,
  counted: CountedCall,
  keyed: KeyedRequest | null,
): Promise<string | SseAnswer> {
  const data = await handler(ctx, {
    ...parsed,
    caller: caller as AgentCaller,
    setHeader(name, value) {
      headers[name] = value;
    },
    idFor: (prefix) => (keyed ? idUnderKey(keyed, prefix) : null),
    countMore: counted.countMore,
    uncount: counted.uncount,
  });
  if (data instanceof SseAnswer) return data;
  if (ctx.checksAnswers) check(row, data);
  return JSON.stringify({ status: 'success', data });
}

/** Runs once per Idempotency-Key; a repetition gets the answer that there was, and counts for nothing. */
async function runKeyed(
  ctx: HttpContext,
  incoming: Incoming,
  caller: Caller,
  parsed: Parsed<Endpoint>,
  counted: CountedCall,
  keyed: KeyedRequest,
): Promise<string | SseAnswer> {
  const stored = await enterKey(ctx, keyed);
  if (stored !== null) {
    incoming.headers['idempotency-replayed'] = 'true';
    await counted.uncount();
    return stored;
  }
  try {
    const answer = await run(ctx, incoming, caller, parsed, counted, keyed);
    await (answer instanceof SseAnswer ? keepKey(ctx, keyed) : keepAnswer(ctx, keyed, answer));
    return answer;
  } catch (error) {
    await freeKey(ctx, keyed);
    throw error;
  }
}

function keyedRequest({ row, c }: Incoming, caller: Caller, parsed: Parsed<Endpoint>): KeyedRequest | null {
  const key = c.req.header('idempotency-key');
  // What needs no key changes nothing, and may simply be done again.
  if (key === undefined || row.method !== 'POST' || row.auth === 'none' || caller.kind === 'anonymous') return null;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw invalid('Idempotency-Key', 'must be 1 to 255 visible ASCII characters');
  const who = caller.kind === 'agent' ? caller.agentId : caller.accountId;
  return { accountId: who, key, fingerprint: fingerprintOf([row.method, c.req.path, parsed.query, parsed.body]) };
}

function check(row: Endpoint, data: unknown): void {
  const result = row.data.safeParse(data);
  if (!result.success)
    throw new Error(`the answer of ${row.method} ${row.path} breaks its schema: ${result.error.message}`);
}
