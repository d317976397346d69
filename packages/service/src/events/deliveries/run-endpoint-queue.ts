import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { endsWithin } from '../../lib/concurrency/within.ts';
import { resumed } from '../../lib/telemetry/tracing.ts';
import type { Store } from '../../store/database.ts';
import { type EndpointAnswer, judge, unanswered } from '../webhooks/attempt.ts';
import type { Sender } from './dispatcher.ts';
import { type DueDelivery, type EndpointQueue, listDue } from './endpoint-queue-store.ts';
import type { BodyPreparer, PreparedDelivery } from './prepare-bodies.ts';
import type { AttemptRecorder } from './record-attempts.ts';
import { sendDelivery } from './send-delivery.ts';

export type EndpointQueueContext = Store &
  Pick<NodeKeys, 'secrets'> & { readonly recorder: AttemptRecorder; readonly bodyPreparer: BodyPreparer };

const BATCH = 100;
/** Bodies that are prepared together, while those before are being sent. */
const BODIES = 20;
/** Maximum bytes of bodies in flight; a single larger body is sent too. Together with two batches, this is a queue's memory. */
const MAX_SENT_BYTES = 1024 * 1024;
/** Turn length, from its first body on, which may have waited in line: a slow endpoint yields to others after this, and is queued again. */
const TURN_MS = 2000;
/** The next delivery is sent after the previous answer, or after this: a slow answer delays the rest only briefly. */
const IN_TURN_MS = 1000;
const ENDPOINT_AT_ONCE = 8;
/** Concurrent deliveries to URLs of single requests, which have no order among them. */
const ACCOUNT_AT_ONCE = 32;

/** Results of the attempts of one turn so far. */
interface Turn extends Sender {
  readonly queue: EndpointQueue;
  hasFailed: boolean;
  readonly answered: Set<string>;
  isOver: boolean;
  endMs: number;
  error: unknown;
}

/**
 * Sends the due deliveries of one webhook in the order of events, for one turn. The endpoint queue must be taken; it stays so. Successful
 * receivers are added to `answered`, also when the turn throws.
 */
export async function runEndpointQueue(
  ctx: EndpointQueueContext,
  queue: EndpointQueue,
  sender: Sender,
  answered: Set<string> = new Set(),
): Promise<void> {
  const hasFailed = queue.failingSince !== null;
  const turn: Turn = {
    ...sender,
    queue,
    hasFailed,
    answered,
    isOver: false,
    endMs: Number.POSITIVE_INFINITY,
    error: null,
  };
  const mayGoOn = () => !turn.isOver && !sender.signal.aborted && performance.now() <= turn.endMs;
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
  const inFlight = new Map<Promise<void>, number>();
  const bytesInFlight = () => [...inFlight.values()].reduce((sum, bytes) => sum + bytes, 0);
  let sent = 0;
  try {
    for await (const { delivery, body } of withBodies(ctx, due)) {
      const bytes = Buffer.byteLength(body ?? '');
      turn.endMs = Math.min(turn.endMs, performance.now() + TURN_MS);
      while (inFlight.size > 0 && bytesInFlight() + bytes > MAX_SENT_BYTES) await Promise.race(inFlight.keys());
      if (!mayGoOn()) break;
      sent += 1;
      const { answered, recorded } = attempt(ctx, turn, delivery, body);
      const tracked: Promise<void> = recorded
        .catch((error: unknown) => {
          turn.isOver = true;
          turn.error ??= error;
        })
        .finally(() => inFlight.delete(tracked));
      inFlight.set(tracked, bytes);
      if (queue.kind === 'endpoint') await endsWithin(answered, IN_TURN_MS);
      while (inFlight.size >= most) await Promise.race(inFlight.keys());
    }
  } finally {
    await Promise.all(inFlight.keys());
  }
  return sent;
}

/** Each delivery with its body. The next batch is prepared while this one is sent. */
async function* withBodies(
  { bodyPreparer }: EndpointQueueContext,
  due: readonly DueDelivery[],
): AsyncGenerator<PreparedDelivery> {
  let rest = due;
  const prepareNext = () => {
    const batch = bodyPreparer.prepare(rest.slice(0, BODIES));
    batch.catch(() => undefined);
    return batch;
  };
  let next = prepareNext();
  while (rest.length > 0) {
    const { ready, left } = await next;
    rest = [...left, ...rest.slice(BODIES)];
    next = prepareNext();
    yield* ready;
  }
}

const unreadable = unanswered('The object of the event could not be read; nothing was sent.');

/** One attempt: `answered` resolves with the endpoint's answer, `recorded` when it is stored. */
function attempt(
  ctx: EndpointQueueContext,
  turn: Turn,
  delivery: DueDelivery,
  body: string | undefined,
): { answered: Promise<EndpointAnswer>; recorded: Promise<void> } {
  const { queue } = turn;
  const at = ctx.clock.now();
  const { id: deliveryId, eventId, sequence } = delivery;
  const message = { eventId, sequence, url: queue.url ?? delivery.url ?? '', body: body ?? '' };
  const send = () => sendDelivery(ctx, queue, message, turn.send);
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
