import { setTimeout as delay } from 'node:timers/promises';
import type { HasDb } from '../db/database.ts';
import type { HasClock } from '../lib/clock.ts';
import type { HasGuardedFetch } from '../lib/guarded-fetch.ts';
import type { HasLog } from '../lib/log.ts';
import type { HasSecrets } from '../lib/secrets.ts';
import { type EndpointAnswer, judge } from './attempt.ts';
import { deliveryBody } from './delivery-body.ts';
import { type DueDelivery, type Lane, listDue, storeBodies } from './lane-store.ts';
import type { AttemptRecorder } from './record-attempts.ts';
import { sendDelivery } from './send-delivery.ts';
import type { HasSubjects } from './subjects.ts';

export type LaneContext = HasDb &
  HasClock &
  HasLog &
  HasSecrets &
  HasGuardedFetch &
  HasSubjects & { readonly baseUrl: string; readonly recorder: AttemptRecorder };

const BATCH = 100;
/** A slow endpoint gives its place to others after this, and comes back. */
const TURN_MS = 2000;
/** The next delivery leaves when the one before was answered, or after this: a slow answer does not hold up the rest for long. */
const IN_TURN_MS = 1000;
const ENDPOINT_AT_ONCE = 8;
/** The URLs of single requests have no order among them. */
const ACCOUNT_AT_ONCE = 32;

/** What the attempts of one turn came to so far. */
interface Turn {
  readonly lane: Lane;
  readonly signal: AbortSignal;
  hasFailed: boolean;
  isOver: boolean;
  error: unknown;
}

/** Sends what is due at one webhook, in the order of the events, for one turn. The lane must be taken; it stays so. */
export async function runLane(ctx: LaneContext, lane: Lane, signal: AbortSignal): Promise<void> {
  const endMs = performance.now() + TURN_MS;
  const most = lane.kind === 'endpoint' ? ENDPOINT_AT_ONCE : ACCOUNT_AT_ONCE;
  const due = await listDue(ctx.db, lane.id, ctx.clock.now(), BATCH);
  const bodies = await prepareBodies(ctx, due);
  const turn: Turn = { lane, signal, hasFailed: lane.failingSince !== null, isOver: false, error: null };
  const inFlight = new Set<Promise<void>>();
  for (const delivery of due) {
    if (turn.isOver || signal.aborted || performance.now() > endMs) break;
    const { answered, recorded } = attempt(ctx, turn, delivery, bodies.get(delivery.id));
    const tracked: Promise<void> = recorded
      .catch((error: unknown) => {
        turn.isOver = true;
        turn.error ??= error;
      })
      .finally(() => inFlight.delete(tracked));
    inFlight.add(tracked);
    if (lane.kind === 'endpoint') await settledWithin(answered, IN_TURN_MS);
    while (inFlight.size >= most) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  if (turn.error) throw turn.error;
}

/** Bodies are stored before any is sent: every attempt, also another process's, sends the same bytes. */
async function prepareBodies(ctx: LaneContext, due: readonly DueDelivery[]): Promise<Map<string, string>> {
  const bodies = new Map(due.flatMap(({ id, body }) => (body === null ? [] : [[id, body] as const])));
  const made = new Map<string, string>();
  const build = async ({ id, event }: DueDelivery) => {
    const data = event.data ?? (await ctx.readSubject(event));
    made.set(id, deliveryBody(event, data, ctx.baseUrl));
  };
  const report = (delivery: DueDelivery, err: unknown) =>
    ctx.log.error({ err, eventId: delivery.eventId }, 'what an event happened to cannot be read');
  const missing = due.filter(({ body }) => body === null);
  await Promise.all(missing.map((delivery) => build(delivery).catch((err: unknown) => report(delivery, err))));
  if (made.size > 0) await storeBodies(ctx.db, made);
  for (const [id, body] of made) bodies.set(id, body);
  return bodies;
}

const unreadable: EndpointAnswer = {
  status: null,
  error: 'The object of the event could not be read; nothing was sent.',
  response: null,
  retryAfter: null,
  durationMs: 0,
};

/** One attempt: `answered` when the endpoint has, `recorded` when that is stored. */
function attempt(
  ctx: LaneContext,
  turn: Turn,
  delivery: DueDelivery,
  body: string | undefined,
): { answered: Promise<EndpointAnswer>; recorded: Promise<void> } {
  const { lane, signal } = turn;
  const at = ctx.clock.now();
  const { id: deliveryId, eventId, sequence } = delivery;
  const message = { eventId, sequence, url: lane.url ?? delivery.url ?? '', body: body ?? '' };
  const answered = body === undefined ? Promise.resolve(unreadable) : sendDelivery(ctx, lane, message, signal);
  const record = async (answer: EndpointAnswer) => {
    const tries = delivery.tries + 1;
    const verdict = judge(answer, tries, ctx.clock.now(), Math.random());
    if (lane.kind === 'endpoint') {
      turn.hasFailed ||= verdict.state !== 'delivered';
      turn.isOver ||= verdict.isGone || verdict.pauseUntil !== null;
    }
    // Where all goes well there is nothing to write about the endpoint.
    const concernsEndpoint = lane.kind === 'endpoint' && body !== undefined && turn.hasFailed;
    const made = { deliveryId, webhookId: lane.id, number: delivery.attempts + 1, tries, at, answer, verdict };
    await ctx.recorder.record({ ...made, concernsEndpoint });
  };
  return { answered, recorded: answered.then(record) };
}

async function settledWithin(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  const done = new AbortController();
  const late = delay(timeoutMs, undefined, { signal: done.signal }).catch(() => undefined);
  await Promise.race([work.then(noop, noop), late]);
  done.abort();
}

const noop = () => undefined;
