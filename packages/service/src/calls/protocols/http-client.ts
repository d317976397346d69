import { setTimeout as sleep } from 'node:timers/promises';
import { formatUsdc } from '@agent-network/contracts/money';
import { signAgentCall } from '../../agents/health/prove-endpoint.ts';
import { isDeeperThan, MAX_LEVELS } from '../../lib/json/json-limits.ts';
import { isObject, parseObject } from '../../lib/json/json-object.ts';
import { retryAfterMs } from '../../lib/net/error-text.ts';
import type { EventMessage } from '../../lib/net/event-parser.ts';
import type { GuardedResponse } from '../../lib/net/guarded-fetch.ts';
import { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { isCollected } from '../../payments/bills/watch-bills.ts';
import type { PaymentProof } from '../../payments/x402/payment-proof.ts';
import type { AgentOutcome, Invocation } from '../invocation.ts';
import { createPolledProgress, readProgressData } from '../stream/progress.ts';
import {
  type ChunkRecorder,
  createChunkRecorder,
  MAX_CHUNK_BYTES,
  MAX_CHUNKS,
  MAX_STREAM_BYTES,
  type Said,
} from '../stream/record-chunks.ts';
import type { GivenAnswer } from '../turns/turn-store.ts';
import { type AgentCall, type CallContext, isStopping, keyOf } from './adapter.ts';
import {
  type AgentAnswer,
  describeError,
  failed,
  MAX_RESULT_BYTES,
  readAnswer,
  readAsked,
  readFailure,
  readProgress,
  readResult,
} from './agent-answer.ts';
import { messagesOf, readJson } from './exchange.ts';
import { BILLED_PAUSES_MS, billedAgain, payAgentBill, proofSigned } from './pay-agent-bill.ts';
import { MISSES_UNTIL_GIVEN_UP, type Miss, pauseAfterMiss, pauseInTime } from './poll.ts';

/** Pauses before the second and third attempt. Retries carry the same Idempotency-Key. */
const RETRY_PAUSES_MS: readonly number[] = [200, 1000];
/**
 * Calls the agent until it answers, at most three times and until the deadline (docs/design.md, section 4, "agent contract: call"). An
 * agent that answers 402 is paid once and called again with the payment; every later call shows the same payment bytes. One that has
 * collected it is called after the deadline too, for seconds: the payer can lose nothing by that. Never throws for a fault of the agent or the
 * network: every end is an outcome.
 */
export async function callHttp(ctx: CallContext, call: AgentCall): Promise<AgentOutcome> {
  const { invocation, answers } = call;
  const body = JSON.stringify({ ...toAgentBody(invocation), ...continued(invocation, answers) });
  let proof = await proofSigned(ctx, call.invocation);
  for (let tries = 0; ; ) {
    const leftMs = await msForCall(ctx, call, proof);
    if (leftMs === null) return failed('deadline_exceeded', 'The deadline passed before the agent answered.');
    failpoint('before-agent-call');
    const answered = await tryOnce(ctx, call, {
      body,
      proof,
      leftMs,
      isRepetition: tries > 0 || call.invocation.attempt > 1,
    });
    failpoint('after-agent-call');
    if (answered.kind === 'accepted') return followAccepted(ctx, call, answered, proof !== null);
    if (answered.kind === 'billed' && proof === null && !call.signal.aborted) {
      const paid = await payAgentBill(ctx, call, answered);
      if ('kind' in paid) return paid;
      proof = paid;
      continue;
    }
    const { outcome, isRetryable } =
      answered.kind === 'billed' ? { outcome: billedAgain, isRetryable: true } : answered;
    const pausesMs = answered.kind === 'billed' ? BILLED_PAUSES_MS : RETRY_PAUSES_MS;
    const pauseMs = pausesMs[tries++];
    if (!isRetryable || pauseMs === undefined || pauseMs >= leftMs || call.signal.aborted) return outcome;
    await sleep(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
  }
}

/** The time for a call; null: it is too late, unless the agent has the money already. */
async function msForCall(
  ctx: CallContext,
  { invocation }: AgentCall,
  proof: PaymentProof | null,
): Promise<number | null> {
  const leftMs = invocation.deadline.getTime() - ctx.clock.now().getTime();
  if (leftMs > 0) return leftMs;
  return proof !== null && (await isCollected(ctx, invocation.id)) ? LAST_LOOK_MS : null;
}

const toAgentBody = (invocation: Invocation) => ({
  request_id: invocation.id,
  agent_id: invocation.agentId,
  task: invocation.task,
  input: invocation.input,
  ...(invocation.capability === null ? {} : { capability: invocation.capability }),
  context: invocation.context,
  priority: invocation.priority,
  deadline: invocation.deadline.toISOString(),
  max_spend: formatUsdc(invocation.priceMicro),
  metadata: invocation.metadata,
  stream: invocation.isStreamed,
});

/** The fields for an agent that asked back: all answers so far, and the state that it gave with its last question. */
const continued = ({ turn, inputTimeoutS }: Invocation, answers: readonly GivenAnswer[]) => ({
  ...(inputTimeoutS === null ? {} : { interactive: true }),
  ...(turn === 1
    ? {}
    : {
        turn,
        answers: answers.map(({ agentInputId, action, input, note }) => ({
          ...{ id: agentInputId, action, input: input ?? {} },
          ...(note === null ? {} : { message: note }),
        })),
        state: answers.at(-1)?.state ?? null,
      }),
});

interface Try {
  readonly body: string;
  readonly proof: PaymentProof | null;
  readonly leftMs: number;
  /** The agent may have streamed chunks of this request before. */
  readonly isRepetition: boolean;
}

async function tryOnce(
  ctx: CallContext,
  call: AgentCall,
  { body, proof, leftMs, isRepetition }: Try,
): Promise<AgentAnswer | BilledAnswer> {
  const { invocation, target, signal } = call;
  const request = {
    url: target.endpoint,
    method: 'POST',
    headers: {
      ...target.headers,
      'content-type': 'application/json',
      accept: invocation.isStreamed ? 'text/event-stream, application/json' : 'application/json',
      'idempotency-key': keyOf(invocation),
      'x-request-id': invocation.id,
      'x-deadline': invocation.deadline.toISOString(),
      ...(proof === null ? {} : { [proof.headerName]: proof.headerValue }),
      ...signAgentCall(target.identityToken, keyOf(invocation), body, ctx.clock.now()),
    },
    body,
    timeoutMs: leftMs,
    signal,
  };
  try {
    if (!invocation.isStreamed) return readCallAnswer(await call.media.request(request));
    const recorder = await createChunkRecorder(ctx, call, isRepetition);
    const answer = await ctx.guardedFetch.stream({ ...request, maxBytes: MAX_STREAM_BYTES, idleTimeoutMs: leftMs });
    const type = String(answer.headers['content-type'] ?? '').toLowerCase();
    if (answer.status !== 200 || !type.startsWith('text/event-stream'))
      return readCallAnswer({ ...answer, body: await readJson(call, answer.body) });
    const outcome = await followStream(call, answer.body, recorder);
    return { kind: 'ended', outcome, isRetryable: false };
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    const failure = readFailure(error);
    // The agent may have been paid: fetch its result again, under the same key and payment.
    const isWorthIt = proof !== null && error.kind === 'reset' && failure.kind === 'ended';
    return isWorthIt ? { ...failure, isRetryable: true } : failure;
  }
}

type BilledAnswer = GuardedResponse & { readonly kind: 'billed' };

const readCallAnswer = (answer: GuardedResponse): AgentAnswer | BilledAnswer =>
  answer.status === 402 ? { kind: 'billed', ...answer } : readAnswer(answer);

/**
 * Follows a streaming agent: stores `progress` and `chunk` events as they come; `result`, `error` or `input_required` ends it. A stream that ends without
 * either is an invalid answer; anything after the end is ignored.
 */
async function followStream(
  { media }: AgentCall,
  bytes: AsyncIterable<Buffer>,
  recorder: ChunkRecorder,
): Promise<AgentOutcome> {
  let count = 0;
  for await (const { messages, isTooLarge } of messagesOf(bytes, 1024, media)) {
    count += messages.length;
    const { said, outcome } = read(messages);
    if (said.length > 0 && !(await recorder.add(said)))
      return failed('agent_error', 'Another process has taken the request over.');
    if (outcome) return outcome;
    if (count > MAX_CHUNKS || recorder.isTooMuch()) return streamTooLarge;
    if (isTooLarge) return resultTooLarge;
  }
  return failed('invalid_response', 'The agent ended its stream without a result.');
}

const streamTooLarge = failed('response_too_large', `The agent streamed more than ${MAX_CHUNKS} events or 16 MiB.`);
const resultTooLarge = failed('response_too_large', 'The agent streamed an event of more than 1 MiB.');

/** The chunks up to the end, and the outcome; null: the stream continues. */
function read(messages: readonly EventMessage[]): { said: Said[]; outcome: AgentOutcome | null } {
  const said: Said[] = [];
  for (const message of messages) {
    const next = readOne(message);
    if (next && 'kind' in next) return { said, outcome: next };
    if (next) said.push(next);
  }
  return { said, outcome: null };
}

/** A chunk, or the end; null: an event without a meaning here. */
function readOne({ event = '', data }: EventMessage): Said | AgentOutcome | null {
  const bytes = Buffer.byteLength(data);
  if (bytes > MAX_RESULT_BYTES) return resultTooLarge;
  if (event === 'result') return readResult(parseObject(data));
  if (event === 'input_required') return readAsked(parseObject(data) ?? {});
  if (event === 'error') {
    const value = parseObject(data);
    return failed('agent_error', `The agent failed${describeError(value?.error ?? value)}.`);
  }
  const type = typeOf.get(event);
  if (!type) return null;
  if (bytes > MAX_CHUNK_BYTES) return failed('response_too_large', 'The agent streamed an event of more than 64 KiB.');
  const said = parse(data);
  const value = type === 'invocation.status' && isObject(said) ? readProgressData(said) : said;
  return isDeeperThan(value, MAX_LEVELS.result)
    ? failed('invalid_response', `The agent streamed an event nested deeper than ${MAX_LEVELS.result} levels.`)
    : { type, data: value };
}

const typeOf: ReadonlyMap<string, Said['type']> = new Map([
  ['chunk', 'invocation.chunk'],
  ['progress', 'invocation.status'],
]);

/** Parses JSON; any other text is the chunk itself, because chunks are often plain text. */
function parse(data: string): unknown {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { chunk: value };
  } catch {
    return { chunk: data };
  }
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
const ASK_TIMEOUT_MS = 10_000;
/** Time of a call or poll at the deadline, of an agent that has been paid: it gives the answer that it has. */
const LAST_LOOK_MS = 5000;

type Accepted = Extract<AgentAnswer, { kind: 'accepted' }>;

/**
 * Polls an agent that answered 202 until it has its result or the deadline passes, and then once more if it has been paid. When the
 * call becomes pointless, sends the agent one DELETE and ignores the answer.
 */
export async function followAccepted(
  ctx: CallContext,
  call: AgentCall,
  accepted: Accepted,
  isPaid: boolean,
): Promise<AgentOutcome> {
  const { invocation, target, signal } = call;
  const url = statusUrlOf(accepted, target.endpoint);
  if (url === null)
    return failed('invalid_response', 'The agent accepted the call without a status_url on its own origin.');
  const msLeft = () => Math.max(1, invocation.deadline.getTime() - ctx.clock.now().getTime());
  const giveUp = () => {
    if (!isStopping(signal)) void tellCancelled(ctx, url, call);
    return failed('deadline_exceeded', 'The deadline passed before the agent had its result.');
  };
  const progress = createPolledProgress(ctx, call);
  let pauseMs = pauseAfter({ answered: accepted, isTooOften: false, askedMs: 0 }, 0);
  for (let misses = 0; ; ) {
    await sleep(pauseInTime(pauseMs, msLeft()), undefined, { signal }).catch(() => undefined);
    const isLast = invocation.deadline <= ctx.clock.now();
    if (signal.aborted || (isLast && !isPaid)) return giveUp();
    const polled = await ask(ctx, url, call, isLast ? LAST_LOOK_MS : Math.min(ASK_TIMEOUT_MS, msLeft()));
    if (signal.aborted) continue;
    misses = polled.answered.kind === 'ended' && !polled.isTooOften ? misses + 1 : 0;
    const end = endIn(polled, misses);
    if (end) return end.kind === 'asks' ? { ...end, handle: url } : end;
    if (isLast) return giveUp();
    await progress.tell(progressIn(polled));
    pauseMs = pauseAfter(polled, pauseMs);
  }
}

/** null: no address, or one of an origin other than the agent's proven endpoint. */
function statusUrlOf({ statusUrl }: Accepted, endpoint: string): string | null {
  const url = statusUrl === '' ? null : URL.parse(statusUrl, endpoint);
  return url?.origin === new URL(endpoint).origin ? url.href : null;
}

/** An answer to a poll, with the kind of miss if it did not end the call. */
interface PollAnswer extends Miss {
  readonly answered: AgentAnswer;
}

const progressIn = ({ answered }: PollAnswer): unknown => (answered.kind === 'accepted' ? answered.progress : null);

/** The end of the work, or of the patience with an agent that is away; null: poll again. */
function endIn({ answered, isTooOften }: PollAnswer, misses: number): AgentOutcome | null {
  if (answered.kind !== 'ended' || isTooOften) return null;
  return answered.isRetryable && misses < MISSES_UNTIL_GIVEN_UP ? null : answered.outcome;
}

/** The pause that the agent asked for, or twice the previous one, within limits; after a missed poll the longer of them. */
function pauseAfter(polled: PollAnswer, beforeMs: number): number {
  const { answered, askedMs } = polled;
  const longerMs = Math.max(FIRST_PAUSE_MS, beforeMs * 2);
  if (answered.kind === 'ended') return pauseAfterMiss(polled, longerMs);
  const wishMs = answered.retryAfterS === null ? askedMs || longerMs : answered.retryAfterS * 1000;
  return Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, wishMs));
}

async function ask(
  ctx: CallContext,
  url: string,
  { target, invocation, media, signal }: AgentCall,
  timeoutMs: number,
): Promise<PollAnswer> {
  try {
    const answer = await media.request({
      url,
      method: 'GET',
      headers: { ...target.headers, accept: 'application/json', 'x-request-id': invocation.id },
      timeoutMs,
      signal,
    });
    return {
      answered: readProgress(answer),
      isTooOften: answer.status === 429,
      askedMs: retryAfterMs(answer.headers['retry-after'], ctx.clock.now()) ?? 0,
    };
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    const failure = readFailure(error);
    const isPassing = error.kind === 'timeout' || error.kind === 'reset';
    const isMiss = failure.kind === 'ended' && isPassing;
    return { answered: isMiss ? { ...failure, isRetryable: true } : failure, isTooOften: false, askedMs: 0 };
  }
}

/** Sends one DELETE to the address of an agent's work. The answer is ignored. */
export async function tellCancelled(
  ctx: CallContext,
  url: string,
  { target, invocation }: Pick<AgentCall, 'target' | 'invocation'>,
): Promise<void> {
  const headers = { ...target.headers, 'x-request-id': invocation.id };
  const request = { url, method: 'DELETE', headers, timeoutMs: 2000, maxBytes: 4096 };
  await ctx.guardedFetch.request(request).catch(() => undefined);
}
