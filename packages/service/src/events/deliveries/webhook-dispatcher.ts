import { setTimeout as delay } from 'node:timers/promises';
import type { Records } from '../../db/records.ts';
import { createWake } from '../../lib/concurrency/wake.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import type { HasProcessId } from '../../queue/heartbeat.ts';
import type { Repeating, Schedule } from '../../queue/schedule.ts';
import { advanceEventClock } from '../outbox/event-store.ts';
import { bringForward } from './bring-forward.ts';
import {
  type AnsweringReceiver,
  type EndpointQueue,
  HAS_DUE_QUEUES,
  releaseEndpointQueue,
  takeEndpointQueues,
} from './endpoint-queue-store.ts';
import { fanOut } from './fan-out.ts';
import { HAS_UNTOLD } from './fan-out-store.ts';
import { type BodyContext, createBodyPreparer } from './prepare-bodies.ts';
import { createAttemptRecorder } from './record-attempts.ts';
import { runEndpointQueue } from './run-endpoint-queue.ts';

/** Webhook dispatcher: turns events into deliveries and sends them. Every process of a node has one. */
export interface WebhookDispatcher {
  /** Runs now rather than at the next tick: an event was committed, or a delivery is to be repeated. */
  requestRun(): void;
  /** `schedule`: the recurring jobs of this process, one of which looks for events and queues that became due. */
  start(schedule: Schedule): Repeating;
}

export interface HasWebhookDispatcher {
  readonly webhookDispatcher: WebhookDispatcher;
}

export type WebhookDispatcherContext = Records & BodyContext & HasSecrets & HasGuardedFetch & HasProcessId;

const TICK_MS = 500;
/** Longest pause between two runs without a request. */
const SAFETY_MS = 30_000;
/** First pause before another look for events behind an open transaction; doubles each time. */
const FIRST_WAIT_MS = 20;
const MAX_QUEUES = 256;
/** Maximum wait for an endpoint's answer once the process stops. */
const GRACE_MS = 1000;

const answeredOf = ({ id, kind }: EndpointQueue, urls: ReadonlySet<string>): AnsweringReceiver | null =>
  urls.size === 0 ? null : { webhookId: id, urls: kind === 'endpoint' ? null : [...urls] };

export function createWebhookDispatcher(given: WebhookDispatcherContext): WebhookDispatcher {
  const ctx = { ...given, recorder: createAttemptRecorder(given), bodyPreparer: createBodyPreparer(given) };
  const queues = new Map<string, Promise<void>>();
  const aborting = new AbortController();
  const runs = createRunRequests();

  async function work(queue: EndpointQueue): Promise<void> {
    let wentWell = true;
    const answered = new Set<string>();
    try {
      await runEndpointQueue(ctx, queue, aborting.signal, answered);
    } catch (err) {
      wentWell = false;
      if (!aborting.signal.aborted) ctx.log.error({ err, webhookId: queue.id }, 'webhook delivery run failed');
    }
    const isDueAgain = await release(ctx, queue);
    const isBroughtForward = await retryNow(ctx, answeredOf(queue, answered), aborting.signal);
    queues.delete(queue.id);
    if ((isDueAgain || isBroughtForward) && wentWell) runs.request();
  }

  async function pass(): Promise<'done' | 'more' | 'wait'> {
    const told = await fanOut(ctx);
    const room = MAX_QUEUES - queues.size;
    if (room === 0) return told;
    const taker = { worker: ctx.processId(), running: [...queues.keys()], limit: room };
    for (const queue of await takeEndpointQueues(ctx.db, taker, ctx.clock.now())) queues.set(queue.id, work(queue));
    return told;
  }

  async function loop(): Promise<void> {
    let waitMs = FIRST_WAIT_MS;
    let isClockSet = false;
    while (!runs.isStopping()) {
      runs.begin();
      try {
        if (!isClockSet) await advanceEventClock(ctx.db);
        isClockSet = true;
        const told = await pass();
        waitMs = told === 'wait' ? Math.min(waitMs * 2, TICK_MS) : FIRST_WAIT_MS;
        if (told !== 'more') await runs.next(told === 'wait' ? waitMs : SAFETY_MS);
      } catch (err) {
        ctx.log.error({ err }, 'webhook dispatch failed');
        await runs.next(TICK_MS);
      }
    }
  }

  return {
    requestRun: runs.request,
    start(schedule) {
      schedule.here('deliver-webhooks', TICK_MS, async () => runs.request(), {
        look: { sql: `${HAS_UNTOLD} or ${HAS_DUE_QUEUES}` },
      });
      const looping = loop();
      return {
        async stop() {
          runs.stop();
          await looping;
          const finished = Promise.all(queues.values());
          await Promise.race([finished, delay(GRACE_MS, undefined, { ref: false })]);
          aborting.abort();
          await finished;
        },
      };
    },
  };
}

/** Gives a queue up for any process to take; true when it is due again. */
const release = (ctx: WebhookDispatcherContext, queue: EndpointQueue): Promise<boolean> =>
  ctx.db
    .transaction((tx) => releaseEndpointQueue(tx, queue, ctx.clock.now()))
    .catch((err: unknown) => {
      ctx.log.warn({ err, webhookId: queue.id }, 'release of a webhook endpoint failed; retried at the next tick');
      return false;
    });

/** Brings forward what failed before at those that answered; true when some of it is due now. */
async function retryNow(
  ctx: WebhookDispatcherContext,
  answered: AnsweringReceiver | null,
  signal: AbortSignal,
): Promise<boolean> {
  if (answered === null) return false;
  return bringForward(ctx, answered, signal).catch((err: unknown) => {
    ctx.log.warn({ err, webhookId: answered.webhookId }, 'retries of a webhook endpoint were not brought forward');
    return false;
  });
}

/** Requests for runs of the dispatcher, and the wait for the next one. */
function createRunRequests() {
  const bell = createWake();
  let isDue = false;
  let isStopping = false;
  return {
    isStopping: () => isStopping,
    request(): void {
      isDue = true;
      bell.wake();
    },
    stop(): void {
      isStopping = true;
      bell.wake();
    },
    /** A run begins: what is requested from now on is for the next one. */
    begin(): void {
      isDue = false;
    },
    /** Resolves when a run was requested since the last one began, when stopped, and after `timeoutMs`. */
    async next(timeoutMs: number): Promise<void> {
      if (!isDue && !isStopping) await bell.wait(timeoutMs);
    },
  };
}
