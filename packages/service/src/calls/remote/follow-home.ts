import { setTimeout as sleep } from 'node:timers/promises';
import type { Home } from '../../agents/agent.ts';
import { invariant } from '../../lib/invariant.ts';
import { isDeeperThan, MAX_LEVELS } from '../../lib/json/json-limits.ts';
import { parseObject } from '../../lib/json/json-object.ts';
import type { EventMessage } from '../../lib/net/event-parser.ts';
import { GuardedFetchError } from '../../lib/net/guarded-fetch-error.ts';
import type { GuardedStream } from '../../lib/net/guarded-fetch-stream.ts';
import type { CallServices } from '../call-services.ts';
import type { Invocation, Outcome } from '../invocation.ts';
import type { CallContext } from '../protocols/adapter.ts';
import { failed } from '../protocols/agent-answer.ts';
import { messagesOf } from '../protocols/exchange.ts';
import { readProgressData } from '../stream/progress.ts';
import { MAX_CHUNK_BYTES, MAX_CHUNKS, MAX_STREAM_BYTES, type Said, storeChunks } from '../stream/record-chunks.ts';
import { type Chunk, measureChunks } from '../stream/stream-store.ts';
import type { GivenAnswer } from '../turns/turn-store.ts';
import { type HomeRecord, readHomeRecord } from './home-answer.ts';
import { openAtHome } from './home-client.ts';
import { insertHomeCall } from './home-store.ts';

/** Id of an agent's first event: events 1 and 2 are `created` and `processing`. */
const FIRST_CHUNK_ID = 3;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 5000;
/** A chunk is bounded as its agent says it. Here it comes as JSON: up to six bytes for each of a text, and the id of the request. */
const MAX_EVENT_BYTES = 6 * MAX_CHUNK_BYTES + 1024;
/** Allowance for the request id and envelope of each event. */
const ROOM_BYTES = 256 * 1024;

export type FollowedCall =
  | { readonly kind: 'told'; readonly record: HomeRecord }
  /** It waits for the answer to a question. */
  | { readonly kind: 'asks'; readonly inputRequest: unknown }
  | { readonly kind: 'failed'; readonly outcome: Outcome }
  /** The home node does not have the request, or its stream broke off before it sent the id. */
  | { readonly kind: 'unknown' };

/**
 * Follows a request at its home node until it ends, the deadline passes, or it is cancelled. The agent's chunks are stored here under the
 * same numbers: after a broken connection any process resumes behind the last stored one. `opened`: a stream that is already open.
 */
export async function followHome(
  ctx: CallContext & Pick<CallServices, 'homeKeys'>,
  call: HomeCall,
  homeRequestId: string | null,
  opened: GuardedStream | null,
): Promise<FollowedCall> {
  const { invocation, signal } = call;
  const reader = createReader(ctx, call, await measureChunks(ctx.db, invocation.id), homeRequestId);
  let stream = opened;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    try {
      stream ??= await open(ctx, call, reader);
      if (stream.status === 404) {
        stream.cancel();
        return { kind: 'unknown' };
      }
      const before = reader.last();
      const followed = stream.status === 200 ? await reader.read(stream.body) : null;
      if (followed) return followed;
      if (reader.last() > before) pauseMs = FIRST_PAUSE_MS;
    } catch (error) {
      if (!(error instanceof GuardedFetchError)) throw error;
    }
    stream?.cancel();
    stream = null;
    const leftMs = invocation.deadline.getTime() - ctx.clock.now().getTime();
    if (signal.aborted || leftMs <= 0) return { kind: 'failed', outcome: overdue };
    if (reader.homeRequestId() === null) return { kind: 'unknown' };
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => undefined);
  }
}

export const overdue = failed('deadline_exceeded', 'The deadline passed before the agent answered.');

async function open(
  ctx: CallContext & Pick<CallServices, 'homeKeys'>,
  { home, invocation, signal }: HomeCall,
  reader: Reader,
): Promise<GuardedStream> {
  const id = reader.homeRequestId();
  invariant(id !== null, 'a stream is opened again for a request whose id is known');
  const timeoutMs = Math.max(1, invocation.deadline.getTime() - ctx.clock.now().getTime());
  const headers = { accept: 'text/event-stream', 'last-event-id': String(reader.last()) };
  return openAtHome(ctx, home, {
    method: 'GET',
    path: `/invoke/${encodeURIComponent(id)}/events`,
    headers,
    timeoutMs,
    signal,
  });
}

interface Reader {
  /** Id of the last event that was stored or needs no storing. */
  last(): number;
  homeRequestId(): string | null;
  /** Reads until the end of the request; null: the stream ended before. */
  read(body: AsyncIterable<Buffer>): Promise<FollowedCall | null>;
}

function createReader(
  ctx: CallContext & Pick<CallServices, 'homeKeys'>,
  { home, invocation, signal }: HomeCall,
  stored: { readonly count: number; readonly bytes: number },
  knownId: string | null,
): Reader {
  let last = FIRST_CHUNK_ID - 1 + stored.count;
  let { bytes } = stored;
  let homeRequestId = knownId;

  /** The next chunk, or the end; null: nothing new. */
  function readOne({ event = '', data, id }: EventMessage): Chunk | FollowedCall | null {
    if (event === 'invocation.created') homeRequestId ??= readHomeRecord(parseObject(data))?.homeRequestId ?? null;
    if (terminal.has(event)) return endOf(data);
    const number = Number(id);
    const isQuestion = event === 'invocation.input_required';
    if (!(isSaid(event) || isQuestion) || !(number > last)) return null;
    const value = parseObject(data);
    const problem = problemOf(data, value, number - last);
    if (problem) return problem;
    // The question is stored by the call, under the same number.
    if (!isSaid(event)) return { kind: 'asks', inputRequest: value?.inputRequest };
    last = number;
    const { requestId: _, ...given } = value ?? {};
    const said = event === 'invocation.status' ? readProgressData(given) : given;
    return { position: number - FIRST_CHUNK_ID + 1, type: event, data: said, createdAt: ctx.clock.now() };
  }

  async function take(messages: readonly EventMessage[]): Promise<FollowedCall | null> {
    const chunks: Chunk[] = [];
    let ended: FollowedCall | null = null;
    const isUnknown = homeRequestId === null;
    for (const message of messages) {
      const next = readOne(message);
      if (next && 'position' in next) chunks.push(next);
      else ended ??= next;
      if (ended) break;
    }
    // By this row a cancellation reaches the home node. Of a paid request, the bill told the id.
    if (isUnknown && homeRequestId !== null)
      await insertHomeCall(ctx.db, { requestId: invocation.id, nodeId: home.nodeId, homeRequestId }, ctx.clock.now());
    if (chunks.length > 0) {
      const added = await storeChunks(ctx, invocation, chunks, signal);
      if (added === null) return lost;
      bytes += added;
    }
    return ended;
  }

  return {
    last: () => last,
    homeRequestId: () => homeRequestId,
    async read(body) {
      for await (const { messages, isTooLarge } of messagesOf(body, ROOM_BYTES)) {
        const followed = await take(messages);
        if (followed) return followed;
        if (isTooLarge) return tooMuch;
        // Over all connections: each has a limit of its own beside.
        if (last - FIRST_CHUNK_ID >= MAX_CHUNKS || bytes > MAX_STREAM_BYTES) return tooMuch;
      }
      return null;
    },
  };
}

function endOf(data: string): FollowedCall {
  const record = readHomeRecord(parseObject(data));
  return record ? { kind: 'told', record } : invalid('a record that cannot be read');
}

const terminal = new Set(['invocation.completed', 'invocation.failed', 'invocation.cancelled']);

const isSaid = (event: string): event is Said['type'] => event === 'invocation.chunk' || event === 'invocation.status';

function problemOf(data: string, value: unknown, step: number): FollowedCall | null {
  if (value === undefined || isDeeperThan(value, MAX_LEVELS.result)) return invalid('an event that cannot be taken');
  if (step !== 1) return invalid('events with a gap between them');
  return Buffer.byteLength(data) > MAX_EVENT_BYTES ? tooMuch : null;
}

const invalid = (what: string): FollowedCall => ({
  kind: 'failed',
  outcome: failed('invalid_response', `The agent's home node streamed ${what}.`),
});
const tooMuch: FollowedCall = {
  kind: 'failed',
  outcome: failed('response_too_large', "The agent's home node streamed more than is taken."),
};
const lost: FollowedCall = {
  kind: 'failed',
  outcome: failed('agent_error', 'Another process has taken the request over.'),
};

/** A request for a remote agent. */
export interface HomeCall {
  readonly home: Home;
  readonly invocation: Invocation;
  /** Answers to the agent's questions, first to last. */
  readonly answers: readonly GivenAnswer[];
  /** Aborted when the call has become pointless: the request was cancelled, or this process stops. */
  readonly signal: AbortSignal;
}
