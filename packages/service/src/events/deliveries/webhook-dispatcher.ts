import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import type { Outbound } from '../../lib/net/guarded-fetch.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { NodeProcess } from '../../store/queue/heartbeat.ts';
import { advanceEventClock } from '../outbox/event-store.ts';
import { markDue } from '../webhooks/webhook-store.ts';
import type { SlotBounds } from './delivery-slots.ts';
import { createDispatcher, type Dispatcher, type Sender } from './dispatcher.ts';
import {
  type AnsweringReceiver,
  bringSomeForward,
  type EndpointQueue,
  HAS_DUE_QUEUES,
  type RetryPosition,
  releaseEndpointQueue,
  takeEndpointQueues,
} from './endpoint-queue-store.ts';
import { fanOut } from './fan-out.ts';
import { HAS_UNTOLD } from './fan-out-store.ts';
import { type BodyContext, createBodyPreparer } from './prepare-bodies.ts';
import { createAttemptRecorder } from './record-attempts.ts';
import { type EndpointQueueContext, runEndpointQueue } from './run-endpoint-queue.ts';

export type WebhookDispatcherContext = BodyContext &
  Pick<NodeKeys, 'secrets'> &
  Outbound &
  Telemetry &
  Pick<NodeProcess, 'processId'>;

/** A turn has bodies in memory, and an endpoint ten seconds to answer: turns that hang keep their slots. An account has at most 21 webhooks. */
const BOUNDS: SlotBounds = { prompt: 256, late: 64, each: Number.POSITIVE_INFINITY, hanging: null };

/** Webhook dispatcher: turns events into deliveries and sends them, by a queue for each endpoint. */
export function createWebhookDispatcher(given: WebhookDispatcherContext): Dispatcher {
  const ctx = { ...given, recorder: createAttemptRecorder(given), bodyPreparer: createBodyPreparer(given) };
  let isClockSet = false;
  return createDispatcher(ctx, {
    job: 'deliver-webhooks',
    isDue: `${HAS_UNTOLD} or ${HAS_DUE_QUEUES}`,
    bounds: BOUNDS,
    async fanOut() {
      if (!isClockSet) await advanceEventClock(ctx.db);
      isClockSet = true;
      return fanOut(ctx);
    },
    take: (wanted) => takeEndpointQueues(ctx.db, ctx.processId(), wanted, ctx.clock.now()),
    run: (queue, sender) => runTurn(ctx, queue, sender),
  });
}

async function runTurn(ctx: EndpointQueueContext & Telemetry, queue: EndpointQueue, sender: Sender): Promise<boolean> {
  let wentWell = true;
  const answered = new Set<string>();
  try {
    await runEndpointQueue(ctx, queue, sender, answered);
  } catch (err) {
    wentWell = false;
    if (!sender.signal.aborted) ctx.log.error({ err, webhookId: queue.id }, 'webhook delivery run failed');
  }
  const isDueAgain = await release(ctx, queue);
  const isBroughtForward = await retryNow(ctx, answeredOf(queue, answered), sender.signal);
  return (isDueAgain || isBroughtForward) && wentWell;
}

const answeredOf = ({ id, kind }: EndpointQueue, urls: ReadonlySet<string>): AnsweringReceiver | null =>
  urls.size === 0 ? null : { webhookId: id, urls: kind === 'endpoint' ? null : [...urls] };

/** Gives a queue up for any process to take; true when it is due again. */
const release = (ctx: Store & Telemetry, queue: EndpointQueue): Promise<boolean> =>
  ctx.db
    .transaction((tx) => releaseEndpointQueue(tx, queue, ctx.clock.now()))
    .catch((err: unknown) => {
      ctx.log.warn({ err, webhookId: queue.id }, 'release of a webhook endpoint failed; retried at the next tick');
      return false;
    });

/** Makes failed deliveries due at receivers that answer again; true when some are due now. */
async function retryNow(
  ctx: Store & Telemetry,
  answered: AnsweringReceiver | null,
  signal: AbortSignal,
): Promise<boolean> {
  if (answered === null) return false;
  return bringForward(ctx, answered, signal).catch((err: unknown) => {
    ctx.log.warn({ err, webhookId: answered.webhookId }, 'retries of a webhook endpoint were not brought forward');
    return false;
  });
}

const STEP = 1000;
/** Maximum time of a round, as the endpoint's next turn waits for it. */
const ROUND_MS = 2000;

/**
 * Makes failed deliveries due at receivers that have just succeeded, in steps without the webhook's lock: after days of outage there may be
 * millions, and that lock delays the fan-out of all accounts. The rest, after a round or the end of a process, waits for the schedule or
 * for the next success. Returns true when something is due now.
 */
export async function bringForward(ctx: Store, answered: AnsweringReceiver, signal: AbortSignal): Promise<boolean> {
  const [now, endMs] = [ctx.clock.now(), performance.now() + ROUND_MS];
  let behind: RetryPosition | null = null;
  let firstAt: Date | null = null;
  do {
    const { next, dueAt } = await bringSomeForward(ctx.db, answered, { behind, most: STEP, now });
    if (dueAt !== null) {
      // In each step: another process may have taken the queue since the last one, and released it for what it saw.
      await markDue(ctx.db, [answered.webhookId], dueAt);
      if (firstAt === null || dueAt < firstAt) firstAt = dueAt;
    }
    behind = next;
  } while (behind !== null && !signal.aborted && performance.now() < endMs);
  return firstAt !== null && firstAt <= now;
}
