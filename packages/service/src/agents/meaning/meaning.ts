import type { ListingQuestion, Meant } from '@agent-network/search-index/listing';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../lib/app-error.ts';
import { createJobThread } from '../../lib/concurrency/job-thread.ts';
import { singleFlight } from '../../lib/concurrency/single-flight.ts';
import { within } from '../../lib/concurrency/within.ts';
import type { Log } from '../../lib/telemetry/log.ts';
import type { Listing } from '../search/listing.ts';
import { ModelBusyError, type TextModel } from './text-model.ts';
import type { ScanJob, ScanResult } from './vector-scan.ts';

/** A search for agents with texts of the same meaning as a text. */
export interface MeaningSearch {
  readonly text: string;
  /** The words of the text, and the conditions that agents have to fit. */
  readonly question: ListingQuestion;
  /** Later vectors are left out; null: none is. */
  readonly asOfMs: number | null;
  /** True: words will not do instead. */
  readonly isPatient: boolean;
}

/** Search by meaning. */
export interface Meaning {
  /**
   * The agents with the closest vectors, and those closest among the ones that match by words, with their cosines. null when it is off, late
   * or has failed: then words have to do. It never rejects.
   */
  closest(search: MeaningSearch): Promise<Meant | null>;
}

/** Maximum wait of a search: for a running model, for one that starts or is far away, and of a patient search. */
const QUICK_MS = 100;
const START_MS = 2000;
const PATIENT_MS = 10_000;
/** Pause after a failure, in which only patient searches ask. */
const PAUSE_MS = 10_000;
const KEPT_BYTES = 8 * 1024 * 1024;
/** With reading a million vectors at first. */
const MAX_SCAN_MS = 60_000;
const SCAN_IDLE_MS = 30 * 60_000;

/** Shared by the process. */
const scans = createJobThread<ScanJob, ScanResult>(new URL('scan-worker.ts', import.meta.url), {
  maxMs: MAX_SCAN_MS,
  idleMs: SCAN_IDLE_MS,
});
/** Maximum scans that run or wait. */
const MAX_SCANS = 32;

/** `model`: null: searches are by words. */
export function createMeaning(
  { listing, log }: { readonly listing: Listing; readonly log: Log },
  model: TextModel | null,
): Meaning {
  if (!model) return { closest: async () => null };
  const kept = new LRUCache<string, { readonly vector: Float32Array | null }>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ vector }, text) => 100 + 2 * text.length + 4 * (vector?.length ?? 0),
  });
  const read = singleFlight(
    async (text: string, waitMs: number) => {
      const found = { vector: await model.ofSearch(text, waitMs) };
      kept.set(text, found);
      return found;
    },
    (text, waitMs) => `${waitMs} ${text}`,
  );
  let pausedUntilMs = 0;
  let scanning = 0;

  async function find({ text, question, asOfMs }: MeaningSearch, waitMs: number): Promise<Meant | null> {
    const { vector } = kept.get(text) ?? (await read(text, waitMs));
    if (!vector || scanning >= MAX_SCANS) return null;
    const { name, chunks, dimensions, among, having, newestMs, idsAt } = await listing.read((index) =>
      index.meaning(question),
    );
    if (dimensions === 0) return null;
    if (dimensions !== vector.length)
      throw new Error(`the model answers ${vector.length} numbers, and has made vectors of ${dimensions} before`);
    const asOf = asOfMs ?? newestMs;
    scanning++;
    const { places, cosines } = await scans
      .run({ name, chunks, vector, among, having, asOfMs: asOf })
      .finally(() => scanning--);
    const hits = idsAt(places).flatMap((id, index) => (id === null ? [] : { id, cosine: cosines[index] as number }));
    return { hits, asOfMs: asOf };
  }

  return {
    async closest(search) {
      const nowMs = performance.now();
      if (!search.isPatient && nowMs < pausedUntilMs) return null;
      const patienceMs = search.isPatient ? PATIENT_MS : model.isQuick() ? QUICK_MS : START_MS;
      try {
        const meant = await within(find(search, patienceMs), patienceMs, null);
        if (meant) pausedUntilMs = 0;
        return meant;
      } catch (err) {
        // The search itself says what else is wrong.
        if (err instanceof ModelBusyError || err instanceof AppError) return null;
        if (nowMs >= pausedUntilMs) log.warn({ err }, 'search by meaning failed; searching by words');
        pausedUntilMs = performance.now() + PAUSE_MS;
        return null;
      }
    },
  };
}
