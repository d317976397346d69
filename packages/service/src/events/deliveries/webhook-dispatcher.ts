import { setTimeout as delay } from 'node:timers/promises';
import type { Records } from '../../db/records.ts';
import type { HasGuardedFetch } from '../../lib/net/guarded-fetch.ts';
import type { HasSecrets } from '../../lib/secrets.ts';
import type { HasProcessId } from '../../queue/heartbeat.ts';
import type { Repeating } from '../../queue/repeat-every.ts';
import { advanceEventClock } from '../outbox/event-store.ts';
import { fanOut } from './fan-out.ts';
import { type Answered, type Lane, releaseLane, takeLanes } from './lane-store.ts';
import type { BodyContext } from './prepare-bodies.ts';
import { createAttemptRecorder } from './record-attempts.ts';
import { runLane } from './run-lane.ts';

/** Webhook dispatcher: turns events into deliveries and sends them. Every process of a node has one. */
export interface WebhookDispatcher {
  /** Runs now rather than at the next tick: an event was committed, or a delivery is to be repeated. */
  requestRun(): void;
  start(): Repeating;
}

export interface HasWebhookDispatcher {
  readonly webhookDispatcher: WebhookDispatcher;
}

export type WebhookDispatcherContext = Records & BodyContext & HasSecrets & HasGuardedFetch & HasProcessId;

const TICK_MS = 500;
/** First pause before another look for events behind an open transaction; doubles each time. */
const FIRST_WAIT_MS = 20;
const MAX_LANES = 256;
/** Maximum wait for an endpoint's answer once the process stops. */
const GRACE_MS = 1000;

const answeredOf = ({ id, kind }: Lane, urls: ReadonlySet<string>): Answered | null =>
  urls.size === 0 ? null : { webhookId: id, urls: kind === 'endpoint' ? null : [...urls] };

export function createWebhookDispatcher(given: WebhookDispatcherContext): WebhookDispatcher {
  const ctx = { ...given, recorder: createAttemptRecorder(given) };
  const lanes = new Map<string, Promise<void>>();
  const aborting = new AbortController();
  let isStopping = false;
  let isDue = false;
  let wake = () => {};

  function requestRun(): void {
    isDue = true;
    wake();
  }

  async function work(lane: Lane): Promise<void> {
    let wentWell = true;
    const answered = new Set<string>();
    try {
      await runLane(ctx, lane, aborting.signal, answered);
    } catch (err) {
      wentWell = false;
      if (!aborting.signal.aborted) ctx.log.error({ err, webhookId: lane.id }, 'webhook delivery run failed');
    }
    const isDueAgain = await release(lane, answered);
    lanes.delete(lane.id);
    if (isDueAgain && wentWell) requestRun();
  }

  const release = (lane: Lane, urls: ReadonlySet<string>): Promise<boolean> =>
    ctx.db
      .transaction((tx) => releaseLane(tx, lane, answeredOf(lane, urls), ctx.clock.now()))
      .catch((err: unknown) => {
        ctx.log.warn({ err, webhookId: lane.id }, 'release of a webhook endpoint failed; retried at the next tick');
        return false;
      });

  async function pass(): Promise<'done' | 'more' | 'wait'> {
    const told = await fanOut(ctx);
    const room = MAX_LANES - lanes.size;
    if (room === 0) return told;
    const taker = { courier: ctx.processId(), running: [...lanes.keys()], limit: room };
    for (const lane of await takeLanes(ctx.db, taker, ctx.clock.now())) lanes.set(lane.id, work(lane));
    return told;
  }

  async function sleep(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const timer = setTimeout(resolve, timeoutMs);
    if (!isDue && !isStopping) await promise;
    clearTimeout(timer);
  }

  async function loop(): Promise<void> {
    let waitMs = FIRST_WAIT_MS;
    let isClockSet = false;
    while (!isStopping) {
      isDue = false;
      try {
        if (!isClockSet) await advanceEventClock(ctx.db);
        isClockSet = true;
        const told = await pass();
        waitMs = told === 'wait' ? Math.min(waitMs * 2, TICK_MS) : FIRST_WAIT_MS;
        if (told !== 'more') await sleep(told === 'wait' ? waitMs : TICK_MS);
      } catch (err) {
        ctx.log.error({ err }, 'webhook dispatch failed');
        await sleep(TICK_MS);
      }
    }
  }

  return {
    requestRun,
    start() {
      const looping = loop();
      return {
        async stop() {
          isStopping = true;
          wake();
          await looping;
          const finished = Promise.all(lanes.values());
          await Promise.race([finished, delay(GRACE_MS, undefined, { ref: false })]);
          aborting.abort();
          await finished;
        },
      };
    },
  };
}
