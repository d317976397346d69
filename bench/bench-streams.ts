import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchContext, Figure } from './bench-context.ts';
import { startNode } from './child-process.ts';
import type { Request } from './http-connection.ts';
import type { LoadResult, StreamJob } from './load-jobs.ts';
import { peakDuring, residentMib } from './resident-memory.ts';
import type { StreamPlan } from './stream-plan.ts';

const STREAMS = 2000;
const SLOW_READERS = 50;
/** Maximum memory per stream: sockets of both sides, slow readers, and garbage that V8 has not collected yet. */
const MAX_KIB_EACH = 384;

/** A chunk every two seconds in each stream, once all of them are open. */
const slowly: StreamPlan = { chunks: 8, everyMs: 2000, text: 'x'.repeat(100) };
/** 60 kB each, together far more than the sockets between the two hold. */
const large: StreamPlan = { chunks: 240, everyMs: 0, text: '字'.repeat(20_000) };

/** (e) Streams that are open at once on one process: every event to every reader, within bounded memory. */
export async function benchStreams(ctx: BenchContext): Promise<Figure[]> {
  const { baseUrl, apiKey } = ctx.service.local;
  const agentId = await startAgent(ctx);
  const headers = { authorization: `Bearer ${apiKey}`, accept: 'text/event-stream' };
  const ask = (url: string, plan: StreamPlan): Request => ({
    method: 'POST',
    url,
    headers,
    body: { task: 'stream', stream: true, input: plan },
  });
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-bench-gates-'));
  ctx.stops.add(() => rm(folder, { recursive: true, force: true }));
  const gated = (url: string, gate: string) => ({ gate, request: ask(url, { ...slowly, gate }) });
  const eventsUrl = `${baseUrl}/invoke/{requestId}/events`;
  const invokeUrl = `${baseUrl}/invoke/${agentId}`;
  const slow = { request: ask(invokeUrl, large), chunks: large.chunks, eventsUrl, readers: SLOW_READERS };
  const plain = await startPlain(ctx);
  const job = { kind: 'streams', chunks: slowly.chunks, streams: STREAMS } as const;
  const plainJob = { ...job, ...gated(plain, join(folder, 'plain')), eventsUrl: '', readersEach: 1 };
  const theirs = await runWatched(ctx, plain, plainJob);
  const figures: Figure[] = [];
  for (const readersEach of [1, 4]) {
    const withSlow = readersEach === 1 ? { slow } : {};
    const ourJob = { ...job, ...withSlow, ...gated(invokeUrl, join(folder, `${readersEach}`)), eventsUrl, readersEach };
    figures.push(figureOfStreams(await runWatched(ctx, baseUrl, ourJob), theirs, readersEach));
  }
  return figures;
}

interface Watched extends LoadResult {
  readonly beforeMib: number;
  readonly peakMib: number;
  readonly afterMib: number;
}

async function runWatched(ctx: BenchContext, baseUrl: string, job: StreamJob): Promise<Watched> {
  const beforeMib = await residentMib(baseUrl);
  const { result, peakMib } = await peakDuring(baseUrl, ctx.load.run(job));
  return { ...result, beforeMib, peakMib, afterMib: await residentMib(baseUrl) };
}

function figureOfStreams(ours: Watched, theirs: Watched, readersEach: number): Figure {
  const kibEach = ((ours.peakMib - ours.beforeMib) * 1024) / STREAMS;
  const dropped = ours.streams?.droppedAndResumed ?? 0;
  const hadSlow = readersEach === 1;
  const isReached = kibEach <= MAX_KIB_EACH && (!hadSlow || dropped === SLOW_READERS);
  const mib = ({ beforeMib, peakMib, afterMib }: Watched) =>
    `${[beforeMib, peakMib, afterMib].map((each) => each.toFixed(0)).join(' → ')} MiB`;
  const ofSlow = hadSlow ? `; ${dropped} of ${SLOW_READERS} slow readers dropped and resumed` : '';
  return {
    bench: 'e',
    what: `open streams, ${readersEach} of each request (chunks/s)`,
    callers: STREAMS,
    perSecond: ours.perSecond,
    p50Ms: ours.p50Ms,
    p99Ms: ours.p99Ms,
    generatorCpu: ours.generatorCpu,
    peer: { name: 'bare SSE', perSecond: theirs.perSecond, ratio: ours.perSecond / theirs.perSecond },
    aim: { text: `all events, ${MAX_KIB_EACH} KiB each`, isReached, isPromise: true },
    note: `memory before, most, after: ${mib(ours)}, ${kibEach.toFixed(0)} KiB a stream (bare ${mib(theirs)}); opened in ${((ours.streams?.openInMs ?? 0) / 1000).toFixed(1)} s; bare p50 ${theirs.p50Ms.toFixed(2)}, p99 ${theirs.p99Ms.toFixed(2)} ms${ofSlow}`,
  };
}

const scriptOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

async function startAgent({ stops, service }: BenchContext): Promise<string> {
  const { baseUrl, apiKey } = service.local;
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-bench-agent-'));
  stops.add(() => rm(folder, { recursive: true, force: true }));
  const settings = { baseUrl, apiKey, tokenFile: join(folder, 'token.json') };
  const child = startNode([scriptOf('stream-agent.ts')], { AGENT_SETTINGS: JSON.stringify(settings) });
  stops.add(() => child.stop());
  return (await child.line(/^agent /)).slice('agent '.length);
}

async function startPlain({ stops }: BenchContext): Promise<string> {
  const child = startNode([scriptOf('plain-sse.ts')], {});
  stops.add(() => child.stop());
  return child.line(/^http:/);
}
