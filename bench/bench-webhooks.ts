import { fileURLToPath } from 'node:url';
import { type BenchContext, echoed, type Figure, invokeRequest } from './bench-context.ts';
import { fillTreasury } from './bench-treasury.ts';
import { startNode } from './child-process.ts';
import type { LoadJob } from './load-jobs.ts';
import { median } from './measure.ts';
import type { PlainDispatcherSettings } from './plain-dispatcher.ts';
import { seedEvents } from './seed-events.ts';
import type { Arrivals } from './webhook-arrivals.ts';
import { addEndpoints, type Receiver, startReceiver } from './webhook-endpoints.ts';

/** Maximum number of webhooks of an account. */
const MANY = 20;
const DELIVERIES = 4000;

/** (g) Deliveries of events: signed, in order at each endpoint, and recorded, to a receiver that checks every signature. */
export async function benchWebhooks(ctx: BenchContext): Promise<Figure[]> {
  await fillTreasury(ctx);
  const receiver = await startReceiver(ctx);
  const prompt = await measureTimes(ctx, receiver);
  const backlogs = [];
  for (const endpoints of [1, MANY]) backlogs.push(await measureBacklog(ctx, receiver, endpoints));
  return [prompt, ...backlogs];
}

const callsOf = (ctx: BenchContext): LoadJob => {
  const request = invokeRequest(ctx, { 'x-sync': 'true', 'x-payment-method': 'treasury' });
  return { kind: 'plain', callers: 2, seconds: ctx.seconds, questions: [{ request, status: 200, includes: echoed }] };
};

/** Measures the delay until the receiver has an event, while two callers keep the node busy. */
async function measureTimes(ctx: BenchContext, receiver: Receiver): Promise<Figure> {
  const endpoints = await addEndpoints(ctx, receiver, 1);
  // The receiver waits for more than can come, so that it sees all: those of the warm-up as well.
  const { generatorCpu, calls } = await ctx.load.run(callsOf(ctx));
  const arrivals = await receiver.await(calls);
  requireOnce(arrivals, calls);
  await endpoints.remove();
  const { perSecond, p50Ms, p99Ms } = arrivals;
  const what = 'event → arrival, 1 endpoint';
  return { bench: 'g', what, callers: 2, perSecond, p50Ms, p99Ms, generatorCpu };
}

/** Measures the rate at which a backlog of deliveries leaves. */
async function measureBacklog(ctx: BenchContext, receiver: Receiver, count: number): Promise<Figure> {
  const ours: Arrivals[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ctx.rounds; round++) {
    const endpoints = await addEndpoints(ctx, receiver, count);
    await seedEvents(ctx.service.local.database, DELIVERIES / count);
    const arrivals = await receiver.await(DELIVERIES);
    requireOnce(arrivals, DELIVERIES, DELIVERIES);
    ours.push(arrivals);
    theirs.push(await runPlainDispatcher(ctx, receiver, endpoints.secrets));
    await endpoints.remove();
  }
  const of = (read: (arrivals: Arrivals) => number) => median(ours.map(read));
  const ratio = median(ours.map(({ perSecond }, round) => perSecond / (theirs[round] ?? Number.NaN)));
  return {
    bench: 'g',
    what: `deliveries of a backlog of ${DELIVERIES}, ${count} ${count === 1 ? 'endpoint' : 'endpoints'}`,
    callers: 0,
    perSecond: of((each) => each.perSecond),
    p50Ms: of((each) => each.p50Ms),
    p99Ms: of((each) => each.p99Ms),
    generatorCpu: 0,
    peer: { name: 'fetch loop', perSecond: median(theirs), ratio },
  };
}

/** Requires that every delivery came once; duplicates are recognized by their ids. */
function requireOnce({ arrived, refused }: Arrivals, atLeast: number, atMost = Number.POSITIVE_INFINITY): void {
  if (refused > 0) throw new Error(`${refused} deliveries were not signed as they should be`);
  if (arrived < atLeast || arrived > atMost) throw new Error(`${arrived} deliveries came instead of ${atLeast}`);
}

/** Deliveries per second of a plain loop for each endpoint, for the same number. */
async function runPlainDispatcher(
  ctx: BenchContext,
  receiver: Receiver,
  secrets: Record<string, string>,
): Promise<number> {
  const paths = Object.keys(secrets);
  const [secret = ''] = Object.values(secrets);
  await receiver.begin(Object.fromEntries(paths.map((path) => [path, secret])));
  const settings: PlainDispatcherSettings = {
    urls: paths.map((path) => receiver.baseUrl + path),
    secret,
    deliveriesEach: DELIVERIES / paths.length,
    body: JSON.stringify({ type: 'invocation.completed', timestamp: new Date().toISOString(), data: sample }),
  };
  const script = fileURLToPath(new URL('plain-dispatcher.ts', import.meta.url));
  const child = startNode([script], { PLAIN_DISPATCHER: JSON.stringify(settings) });
  ctx.stops.add(() => child.stop());
  const tookMs = Number((await child.line(/^took /)).slice('took '.length));
  requireOnce(await receiver.await(DELIVERIES), DELIVERIES, DELIVERIES);
  return DELIVERIES / (tookMs / 1000);
}

/** Payload of the same length as the service's. */
const sample = { requestId: 'req_bench', result: 'x'.repeat(500) };
