import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { createPoller } from '../../lib/concurrency/poller.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { NodeProcess } from '../../store/queue/heartbeat.ts';
import { hasEnded, isWithheld } from '../invocation.ts';
import { findRecords, findStates, type InvocationRecord, type InvocationState } from '../record-store.ts';
import type { ChangeHub } from './change-hub.ts';
import { type ChunkPage, countChunks, readChunkPages, readMarks, type StreamPosition } from './stream-store.ts';

/** Polls the database for all readers of this process together: thousands of readers need few connections. */
export interface StreamPoller {
  /** Reads the request and the chunks after a position; null when the request does not exist. */
  look(position: StreamPosition): Promise<Sight | null>;
  /** Has the change hub notify of changes by other processes. */
  follow(requestId: string): { stop(): void };
}

export interface Sight extends ChunkPage {
  readonly invocation: InvocationState;
  /** The record and the total number of chunks of a request that has ended, with the last page; else null. */
  readonly end: { readonly record: InvocationRecord; readonly count: number } | null;
}

/** Page size in memory for each reader that catches up. */
const PAGE = { chunks: 64, bytes: 64 * 1024 };
const MAX_BATCH = 25;

export function createStreamPoller(
  ctx: Store & NodeProcess & Telemetry & { readonly changeHub: ChangeHub },
): StreamPoller {
  const looks = createBatcher<StreamPosition, Sight | null>({
    maxSize: MAX_BATCH,
    maxConcurrent: 2,
    run: (positions) => lookAt(ctx, positions),
  });
  return { look: (position) => looks.add(position), follow: createFollower(ctx) };
}

async function lookAt({ db }: Store, positions: readonly StreamPosition[]): Promise<(Sight | null)[]> {
  const found = await findStates(db, [...new Set(positions.map(({ requestId }) => requestId))]);
  const byId = new Map(found.map((invocation) => [invocation.id, invocation]));
  const ended = found.filter(({ status }) => hasEnded(status)).map(({ id }) => id);
  const withheld = new Set(found.filter(isWithheld).map(({ id }) => id));
  const counts = ended.length > 0 ? await countChunks(db, ended, [...withheld]) : new Map<string, number>();
  // Chunks are read after the state: an ended request has all of its chunks stored.
  const pages = await readChunkPages(db, positions, { ...PAGE, withheld: [...withheld] });
  const isLast = (id: string, index: number) => pages[index]?.isWhole === true && ended.includes(id);
  const last = positions.map(({ requestId }) => requestId).filter(isLast);
  const records = last.length > 0 ? await findRecords(db, last) : new Map<string, InvocationRecord>();
  return positions.map(({ requestId }, index) => {
    const invocation = byId.get(requestId);
    const page = pages[index];
    if (!invocation || !page) return null;
    const record = isLast(requestId, index) ? records.get(requestId) : undefined;
    return { ...page, invocation, end: record ? { record, count: counts.get(requestId) ?? 0 } : null };
  });
}

interface Followed {
  readers: number;
  /** null: not polled yet. */
  mark: string | null;
  isHere: boolean;
}

const FOLLOW_MS = 300;
/** Requests that run here notify by themselves; they are polled this much less often, in case they move elsewhere. */
const LOOKS_PER_LOOK_HERE = 16;
const MARKS_AT_ONCE = 1000;

function createFollower(
  ctx: Store & NodeProcess & Telemetry & { readonly changeHub: ChangeHub },
): StreamPoller['follow'] {
  const followed = new Map<string, Followed>();
  let nth = 0;

  async function compare(): Promise<void> {
    nth += 1;
    const isHereDue = nth % LOOKS_PER_LOOK_HERE === 0;
    const due = [...followed].filter(([, { isHere }]) => isHereDue || !isHere).map(([id]) => id);
    for (let from = 0; from < due.length; from += MARKS_AT_ONCE)
      for (const { id, worker, status, said } of await readMarks(ctx.db, due.slice(from, from + MARKS_AT_ONCE))) {
        const entry = followed.get(id);
        if (!entry) continue;
        entry.isHere = worker === ctx.processId();
        // Chunks of this process are notified already.
        const mark = `${status} ${worker} ${entry.isHere ? '' : said}`;
        if (mark !== entry.mark) ctx.changeHub.changed(id);
        entry.mark = mark;
      }
  }

  const poller = createPoller({
    intervalMs: FOLLOW_MS,
    poll: compare,
    hasWaiters: () => followed.size > 0,
    onError: (err) => ctx.log.debug({ err }, 'polling of followed requests failed'),
  });

  return (requestId) => {
    const entry = followed.get(requestId) ?? { readers: 0, mark: null, isHere: false };
    entry.readers += 1;
    followed.set(requestId, entry);
    poller.start();
    return {
      stop() {
        entry.readers -= 1;
        if (entry.readers === 0) followed.delete(requestId);
      },
    };
  };
}
