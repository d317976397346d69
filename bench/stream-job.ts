import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from './http-connection.ts';
import type { LoadResult, StreamJob } from './load-jobs.ts';
import { quantile } from './measure.ts';
import { openStream, type StreamReader } from './stream-reader.ts';

/** So many are being opened at a time. */
const OPENERS = 32;
/** Past the 30 s after which a client that takes nothing is let go. */
const STALL_MS = 34_000;
/** Every stream begins with what was asked for, and ends with one terminal event. */
const EVENTS_BESIDE_CHUNKS = 3;

/** Opens all streams, reads all of them to their ends, and checks every event. Throws when one is lost, repeated or out of order. */
export async function runStreamJob(job: StreamJob): Promise<LoadResult> {
  const slow = job.slow && (await openSlowReaders(job.slow));
  const openMs = performance.now();
  const readers = await openAll(job);
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  if (job.gate !== undefined) await writeFile(job.gate, '');
  await Promise.all(readers.map((reader) => readToEnd(reader, job.chunks)));
  const tookS = (performance.now() - startMs) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const delaysMs = readers.flatMap(({ delaysUs }) => delaysUs.map((us) => us / 1000)).sort((a, b) => a - b);
  const events = delaysMs.length;
  let dropped = 0;
  if (slow && job.slow) {
    await sleep(Math.max(0, STALL_MS - (performance.now() - startMs)));
    dropped = await resumeSlowReaders(slow, job.slow);
  }
  return {
    calls: events,
    perSecond: events / tookS,
    p50Ms: quantile(delaysMs, 0.5),
    p99Ms: quantile(delaysMs, 0.99),
    generatorCpu: (user + system) / 1e6 / tookS,
    streams: { openInMs: startMs - openMs, droppedAndResumed: dropped },
  };
}

async function openAll({ request, readersEach, streams, eventsUrl }: StreamJob): Promise<StreamReader[]> {
  const readers: StreamReader[] = [];
  let begun = 0;
  const openSome = async () => {
    while (begun < streams) {
      const own = Math.min(readersEach, streams - begun);
      begun += own;
      const first = await openStream(request);
      const again = followRequest(request, eventsUrl, first.requestId);
      readers.push(first, ...(await Promise.all(Array.from({ length: own - 1 }, () => openStream(again)))));
    }
  };
  await Promise.all(Array.from({ length: OPENERS }, openSome));
  return readers;
}

/** Reads the events of an existing request. */
const followRequest = ({ headers }: Request, eventsUrl: string, requestId: string, after = 0): Request => ({
  method: 'GET',
  url: eventsUrl.replace('{requestId}', requestId),
  headers: after === 0 ? headers : { ...headers, 'last-event-id': String(after) },
});

async function readToEnd(reader: StreamReader, chunks: number): Promise<void> {
  const isWhole = await reader.read();
  if (!isWhole || !reader.hasEnded || reader.lastId !== chunks + EVENTS_BESIDE_CHUNKS)
    throw new Error(`stream ${reader.requestId} broke off after event ${reader.lastId}`);
}

type Slow = NonNullable<StreamJob['slow']>;

/** Readers of one large stream that stop after its first events. */
async function openSlowReaders({ request, eventsUrl, chunks, readers }: Slow): Promise<StreamReader[]> {
  const whole = await openStream(request);
  await readToEnd(whole, chunks);
  const again = followRequest(request, eventsUrl, whole.requestId);
  return Promise.all(Array.from({ length: readers }, () => openStream(again, { stopsReading: true })));
}

/** Lets slow readers read their rest, and resume after their last event. Returns the number of dropped ones. */
async function resumeSlowReaders(
  readers: readonly StreamReader[],
  { request, eventsUrl, chunks }: Slow,
): Promise<number> {
  let dropped = 0;
  for (const reader of readers) {
    if (await reader.read()) continue;
    dropped += 1;
    const again = followRequest(request, eventsUrl, reader.requestId, reader.lastId);
    await readToEnd(await openStream(again, { after: reader.lastId }), chunks);
  }
  return dropped;
}
