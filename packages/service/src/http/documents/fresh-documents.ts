import { LRUCache } from 'lru-cache';
import type { Document } from './document-answer.ts';

/** Maximum age of a document that is read from the database. */
const MAX_AGE_MS = 1000;
/** Most documents that are kept. */
export const MAX_KEPT = 500;
/** Most bytes of them. */
export const MAX_KEPT_BYTES = 64 * 1024 * 1024;

interface Reading<D> {
  readonly startedMs: number;
  readonly result: Promise<D>;
  isOver: boolean;
}

/**
 * Caches each document, or a source of one, for a second, and shares one read among all readers. Failures are cached too, so a missing
 * document is not looked up on every call. Expired entries are removed when another document is read.
 */
export function createFreshDocuments<D = Document>(): (name: string, read: () => Promise<D>) => Promise<D> {
  const readings = new LRUCache<string, Reading<D>>({ max: MAX_KEPT, maxSize: MAX_KEPT_BYTES });
  return (name, read) => {
    const nowMs = performance.now();
    const known = readings.get(name);
    if (known && !isOld(known, nowMs)) return known.result;
    for (const [each, kept] of [...readings]) if (isOld(kept, nowMs)) readings.delete(each);
    const reading: Reading<D> = { startedMs: nowMs, result: read(), isOver: false };
    const end = (size: number) => {
      reading.isOver = true;
      // Another object: the cache takes the size of a value that it has for known.
      if (readings.peek(name) === reading) readings.set(name, { ...reading }, { size });
    };
    reading.result.then(
      (document) => end(sizeOf(document)),
      () => end(1),
    );
    readings.set(name, reading, { size: 1 });
    return reading.result;
  };
}

function sizeOf(made: unknown): number {
  const { bytes, gzip } = (made ?? {}) as Partial<Document>;
  return 1 + (bytes?.length ?? 0) + (gzip?.bytes.length ?? 0);
}

const isOld = ({ startedMs, isOver }: Reading<unknown>, nowMs: number): boolean =>
  isOver && nowMs - startedMs >= MAX_AGE_MS;
