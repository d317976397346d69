import { setTimeout as delay } from 'node:timers/promises';
import { createWake } from '../../lib/concurrency/wake.ts';
import type { Outbound } from '../../lib/net/guarded-fetch.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Repeating, Schedule } from '../../store/queue/schedule.ts';
import { type EndpointAnswer, unanswered } from '../webhooks/attempt.ts';
import { type Post, postWebhook } from '../webhooks/webhook-client.ts';
import { createDeliverySlots, type FreeSlots, type Receiver, type SlotBounds, type Timed } from './delivery-slots.ts';
import type { FanOutResult } from './fan-out.ts';

/** Sends the deliveries of a run. `send` throws only when the process stops, which aborts `signal`. */
export interface Sender {
  readonly signal: AbortSignal;
  send(post: Omit<Post, 'signal'>): Promise<EndpointAnswer>;
}

/** Due queues to take: of accounts with a receiver that hung recently, or of all others. */
export interface Wanted extends FreeSlots {
  readonly isLate: boolean;
  readonly limit: number;
}

/** Kind of delivery: how its due queues are found, and how one is run. */
export interface DeliveryKind<Queue extends Receiver> {
  /** Recurring job that looks for due work, with its condition in SQL. */
  readonly job: string;
  readonly isDue: string;
  readonly bounds: SlotBounds;
  /** Turns events into deliveries before queues are taken. */
  fanOut?(): Promise<FanOutResult>;
  take(wanted: Wanted): Promise<Queue[]>;
  /** Sends due deliveries, and records each attempt. Returns true when the queue is due again. */
  run(queue: Queue, sender: Sender): Promise<boolean>;
}

/** Sends one kind of delivery. Every process of a node has one of each. */
export interface Dispatcher {
  /** Runs now rather than at the next tick: an event was committed, or a delivery is to be repeated. */
  requestRun(): void;
  /** `schedule`: the recurring jobs of this process, one of which polls for due work. */
  start(schedule: Schedule): Repeating;
}

const TICK_MS = 500;
/** Longest pause between two runs without a request. */
const SAFETY_MS = 30_000;
/** First pause before another look for events behind an open transaction; doubles each time. */
const FIRST_WAIT_MS = 20;
/** Maximum wait for an endpoint's answer once the process stops. */
const GRACE_MS = 1000;

const CUT_OFF = unanswered('No answer in time: too many receivers hang.');

export function createDispatcher<Queue extends Receiver>(
  ctx: Outbound & Telemetry,
  kind: DeliveryKind<Queue>,
): Dispatcher {
  const slots = createDeliverySlots(kind.bounds);
  const aborting = new AbortController();
  const bell = createWake();
  let isRequested = false;
  let isStopping = false;

  function requestRun(): void {
    isRequested = true;
    bell.wake();
  }

  async function run(queue: Queue): Promise<void> {
    const isDueAgain = await slots.run(queue, (timed, cut) =>
      kind.run(queue, createSender(ctx, timed, { stopping: aborting.signal, cut })).catch((err: unknown) => {
        if (!aborting.signal.aborted)
          ctx.log.warn({ err, receiver: queue.receiver }, 'delivery run failed; it is repeated');
        return false;
      }),
    );
    if (isDueAgain) requestRun();
  }

  const pause = async (maxMs: number) => {
    if (!isRequested && !isStopping) await bell.wait(maxMs);
  };

  async function loop(): Promise<void> {
    let waitMs = FIRST_WAIT_MS;
    while (!isStopping) {
      isRequested = false;
      try {
        const told = await kind.fanOut?.();
        await takeDue(kind, slots.free(), (queue) => void run(queue));
        waitMs = told === 'wait' ? Math.min(waitMs * 2, TICK_MS) : FIRST_WAIT_MS;
        if (told !== 'more') await pause(told === 'wait' ? waitMs : SAFETY_MS);
      } catch (err) {
        ctx.metrics.recurringFailures.inc({ name: kind.job });
        ctx.log.error({ err, job: kind.job }, 'dispatch of deliveries failed');
        await pause(TICK_MS);
      }
    }
  }

  async function stop(looping: Promise<void>): Promise<void> {
    isStopping = true;
    bell.wake();
    await looping;
    const finished = slots.ended();
    await Promise.race([finished, delay(GRACE_MS, undefined, { ref: false })]);
    aborting.abort();
    await finished;
  }

  return {
    requestRun,
    start(schedule) {
      schedule.here(kind.job, TICK_MS, async () => requestRun(), { hasWork: { sql: kind.isDue } });
      const looping = loop();
      return { stop: () => stop(looping) };
    },
  };
}

/** Takes due queues while there are free slots; accounts with a receiver that hung recently come last. */
async function takeDue<Queue extends Receiver>(
  kind: DeliveryKind<Queue>,
  free: FreeSlots,
  begin: (queue: Queue) => void,
): Promise<void> {
  const take = async (isLate: boolean, limit: number): Promise<number> => {
    const queues = limit > 0 ? await kind.take({ ...free, isLate, limit }) : [];
    for (const queue of queues) begin(queue);
    return queues.length;
  };
  const taken = await take(false, free.prompt);
  if (free.lateAccounts.length > 0) await take(true, Math.min(free.late, free.prompt - taken));
}

function createSender(
  ctx: Outbound,
  timed: Timed,
  { stopping, cut }: { readonly stopping: AbortSignal; readonly cut: AbortSignal },
): Sender {
  const signal = AbortSignal.any([stopping, cut]);
  return {
    signal: stopping,
    send: (post) =>
      timed(() => postWebhook(ctx, { ...post, signal })).catch((error: unknown) => {
        if (stopping.aborted || !cut.aborted) throw error;
        return CUT_OFF;
      }),
  };
}
