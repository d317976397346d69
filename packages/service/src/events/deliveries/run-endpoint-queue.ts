import type { Records } from '../../db/records.ts';
import { endsWithin } from '../../lib/concurrency/within.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import { resumed } from '../../lib/tracing/tracing.ts';
import { type EndpointAnswer, judge } from '../webhooks/attempt.ts';
import { type DueDelivery, type EndpointQueue, listDue } from './endpoint-queue-store.ts';
import { type BodyContext, prepareBodies } from './prepare-bodies.ts';
import type { AttemptRecorder } from './record-attempts.ts';
import { sendDelivery } from './send-delivery.ts';

export type EndpointQueueContext = Records &
  BodyContext &
  HasSecrets &
  HasGuardedFetch & { readonly recorder: AttemptRecorder };

const BATCH = 100;
/** Batch size of prepared bodies; another batch is being sent meanwhile, so an endpoint queue has at most two in memory. */
const BODIES = 20;
/** Turn length: a slow endpoint yields to others after this, and is queued again. */
const TURN_MS = 2000;
/** The next delivery is sent after the previous answer, or after this: a slow answer delays the rest only briefly. */
const IN_TURN_MS = 1000;
const ENDPOINT_AT_ONCE = 8;
/** Concurrent deliveries to URLs of single requests, which have no order among them. */
const ACCOUNT_AT_ONCE = 32;

/** Results of the attempts of one turn so far. */
interface Turn {
  readonly queue: EndpointQueue;
  readonly signal: AbortSignal;
  hasFailed: boolean;
  readonly answered: Set<string>;
  isOver: boolean;
  error: unknown;
}

/**
 * Sends the due deliveries of one webhook in the order of events, for one turn. The endpoint queue must be taken; it stays so. Successful
 * receivers are added to `answered`, also when the turn throws.
 */
export async function runEndpointQueue(
  ctx: EndpointQueueContext,
  queue: EndpointQueue,
  signal: AbortSignal,
  answered: Set<string> = new Set(),
): Promise<void> {
  const endMs = performance.now() + TURN_MS;
  const turn: Turn = { queue, signal, hasFailed: queue.failingSince !== null, answered, isOver: false, error: null };
  const mayGoOn = () => !turn.isOver && !signal.aborted && performance.now() <= endMs;
  let sent = BATCH;
  // All attempts are recorded before the next read: nothing is sent twice.
  while (sent === BATCH && mayGoOn()) sent = await sendBatch(ctx, turn, mayGoOn);
  if (turn.error) throw turn.error;
}

/** Returns the number of deliveries that were sent and recorded. */
async function sendBatch(ctx: EndpointQueueContext, turn: Turn, mayGoOn: () => boolean): Promise<number> {
  const { queue } = turn;
  const most = queue.kind === 'endpoint' ? ENDPOINT_AT_ONCE : ACCOUNT_AT_ONCE;
  const due = await listDue(ctx.db, queue.id, ctx.clock.now(), BATCH);
  const inFlight = new Set<Promise<void>>();
  let sent = 0;
  try {
    for await (const { delivery, body } of withBodies(ctx, due)) {
      if (!mayGoOn()) break;
      sent += 1;
      const { answered, recorded } = attempt(ctx, turn, delivery, body);
      const tracked: Promise<void> = recorded
        .catch((error: unknown) => {
          turn.isOver = true;
          turn.error ??= error;
        })
        .finally(() => inFlight.delete(tracked));
      inFlight.add(tracked);
      if (queue.kind === 'endpoint') await endsWithin(answered, IN_TURN_MS);
      while (inFlight.size >= most) await Promise.race(inFlight);
    }
  } finally {
    await Promise.all(inFlight);
  }
  return sent;
}

/** Each delivery with its body; undefined when the body could not be built. The next batch is prepared while this one is sent. */
async function* withBodies(
  ctx: EndpointQueueContext,
  due: readonly DueDelivery[],
): AsyncGenerator<{ delivery: DueDelivery; body: string | undefined }> {
  const prepareFrom = (from: number) => {
    const bodies = prepareBodies(ctx, due.slice(from, from + BODIES));
    bodies.catch(() => undefined);
    return bodies;
  };
  let next = prepareFrom(0);
  for (let from = 0; from < due.length; from += BODIES) {
    const bodies = await next;
    next = prepareFrom(from + BODIES);
    for (const delivery of due.slice(from, from + BODIES)) yield { delivery, body: bodies.get(delivery.id) };
  }
}

const unreadable: EndpointAnswer = {
  status: null,
  error: 'The object of the event could not be read; nothing was sent.',
  response: null,
  retryAfter: null,
  durationMs: 0,
};

/** One attempt: `answered` resolves with the endpoint's answer, `recorded` when it is stored. */
function attempt(
  ctx: EndpointQueueContext,
  turn: Turn,
  delivery: DueDelivery,
  body: string | undefined,
): { answered: Promise<EndpointAnswer>; recorded: Promise<void> } {
  const { queue, signal } = turn;
  const at = ctx.clock.now();
  const { id: deliveryId, eventId, sequence } = delivery;
  const message = { eventId, sequence, url: queue.url ?? delivery.url ?? '', body: body ?? '' };
  const send = () => sendDelivery(ctx, queue, message, signal);
  const answered =
    body === undefined
      ? Promise.resolve(unreadable)
      : resumed(delivery.event.subjectId, 'deliver webhook', { 'agent_network.event': delivery.event.type }, send);
  const record = async (answer: EndpointAnswer) => {
    // An early attempt uses up no step of the schedule.
    const tries = delivery.isEarly && delivery.tries > 0 ? delivery.tries : delivery.tries + 1;
    const verdict = judge(answer, tries, ctx.clock.now(), Math.random());
    if (queue.kind === 'endpoint') {
      turn.hasFailed ||= verdict.state !== 'delivered';
      turn.isOver ||= verdict.isGone || verdict.pauseUntil !== null;
    }
    // Without failures there is no change of the endpoint to write.
    const concernsEndpoint = queue.kind === 'endpoint' && body !== undefined && turn.hasFailed;
    const made = {
      deliveryId,
      webhookId: queue.id,
      number: delivery.attempts + 1,
      tries,
      triesBefore: delivery.tries,
      url: message.url,
      at,
      answer,
      verdict,
    };
    await ctx.recorder.record({ ...made, concernsEndpoint });
    if (verdict.state === 'delivered') turn.answered.add(message.url);
  };
  return { answered, recorded: answered.then(record) };
}
