import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, openConnection } from '../http-connection.ts';
import { quantile } from '../measure.ts';

/** Stands for a deadline in the text of a request, and is as long. */
export const DEADLINE = '0000-DEADLINE-OF-IT-0000';

/** One sort of request of a load: how often it is sent, as a share of all. */
export interface Stream {
  readonly name: string;
  readonly share: number;
  /** The whole request; `DEADLINE` in it becomes the time in so many milliseconds. */
  readonly text: string;
  readonly deadlineMs?: number;
}

export interface OpenLoop {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
  /** Opened one after the other until `startsAtMs`. */
  readonly connections: number;
  /** Start time since the epoch: concurrent loads begin together. */
  readonly startsAtMs: number;
  readonly streams: readonly Stream[];
}

/** One answer: when it was due by its pace, since the epoch, and how long after that it was there. */
export interface Sample {
  readonly name: string;
  readonly status: number;
  readonly dueAtMs: number;
  readonly tookMs: number;
  readonly retryAfterS: number | null;
}

export interface OpenLoopResult {
  readonly samples: readonly Sample[];
  /** Requests that were due while every connection waited for an answer. */
  readonly unsent: number;
  readonly broken: number;
  readonly cpuShare: number;
}

const TICK_MS = 5;
const CONNECTED_AT_ONCE = 10;
const LAST_ANSWERS_MS = 12_000;

/** Sends at its pace, whatever has been answered: what is late counts from when it was due. */
export async function runOpenLoop(job: OpenLoop): Promise<OpenLoopResult> {
  const url = new URL(job.url);
  const all: Connection[] = [];
  while (all.length < job.connections) {
    const batch = Math.min(CONNECTED_AT_ONCE, job.connections - all.length);
    all.push(...(await Promise.all(Array.from({ length: batch }, () => openConnection(url)))));
    await sleep(TICK_MS);
  }
  const free = [...all];
  if (Date.now() > job.startsAtMs) throw new Error(`${job.connections} connections took too long`);
  await sleep(job.startsAtMs - Date.now());
  const samples: Sample[] = [];
  const open = new Set<Promise<void>>();
  let [unsent, broken] = [0, 0];
  const order = orderOf(job.streams);
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const epochMs = Date.now() - startMs;
  const ask = async (connection: Connection, { name, text, deadlineMs }: Stream, dueMs: number) => {
    const deadline = deadlineMs === undefined ? '' : new Date(Date.now() + deadlineMs).toISOString();
    try {
      const { status, head } = await connection.send(
        deadlineMs === undefined ? text : text.replace(DEADLINE, deadline),
      );
      const wait = /^retry-after: *(\d+)/im.exec(head)?.[1];
      const took = { dueAtMs: epochMs + dueMs, tookMs: performance.now() - dueMs };
      samples.push({ name, status, ...took, retryAfterS: wait === undefined ? null : Number(wait) });
      free.push(connection);
    } catch {
      broken += 1;
    }
  };
  const total = Math.floor(job.perSecond * job.seconds);
  for (let nth = 0; nth < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - startMs) * job.perSecond) / 1000) + 1);
    for (; nth < due; nth++) {
      const connection = free.pop();
      const stream = order[nth % order.length];
      if (!connection || !stream) unsent += 1;
      else {
        const asking = ask(connection, stream, startMs + (nth * 1000) / job.perSecond).finally(() =>
          open.delete(asking),
        );
        open.add(asking);
      }
    }
    await sleep(Math.min(TICK_MS, 1000 / job.perSecond));
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpuShare = (user + system) / 1000 / (performance.now() - startMs);
  await Promise.race([Promise.all(open), sleep(LAST_ANSWERS_MS)]);
  for (const connection of all) connection.close();
  return { samples, unsent, broken, cpuShare };
}

/** Streams in turn by their shares, in a hundred places, evenly. */
function orderOf(streams: readonly Stream[]): Stream[] {
  const sent = new Map(streams.map((stream) => [stream, 0]));
  return Array.from({ length: 100 }, (_, nth) => {
    const behind = (stream: Stream) => stream.share * (nth + 1) - (sent.get(stream) ?? 0);
    const next = [...streams].sort((a, b) => behind(b) - behind(a))[0] as Stream;
    sent.set(next, (sent.get(next) ?? 0) + 1);
    return next;
  });
}

export interface Figures {
  readonly count: number;
  readonly ok: number;
  readonly refused: number;
  readonly others: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** 503: the node has no time; 429: the account has as many calls waiting as it may. Both name a time. */
export const isRefusal = ({ status, retryAfterS }: Sample): boolean =>
  status === 503 || (status === 429 && retryAfterS !== null);

/** Times are of answers that are no refusal. */
export function figuresOf(samples: readonly Sample[]): Figures {
  const good = samples.filter(({ status }) => status === 200);
  const times = good.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const refused = samples.filter(isRefusal).length;
  return {
    ...{ count: samples.length, ok: good.length, refused, others: samples.length - good.length - refused },
    ...{ p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99), maxMs: times.at(-1) ?? Number.NaN },
  };
}
