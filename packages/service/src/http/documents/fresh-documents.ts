import { LRUCache } from 'lru-cache';
import type { Document } from './document-answer.ts';

/** Maximum age of a document that is read from the database. */
const MAX_AGE_MS = 1000;
/** Most documents that are kept. */
export const MAX_KEPT = 500;

interface Reading<D> {
  readonly startedMs: number;
  readonly result: Promise<D>;
  isOver: boolean;
}

/**
 * Caches each document, or what one is made of, for a second, and reads it once at a time, for any number of readers. Failures are cached
 * as well: a missing document is not looked up at every call. What is too old is forgotten when another document is read.
 */
export function createFreshDocuments<D = Document>(): (name: string, read: () => Promise<D>) => Promise<D> {
  const readings = new LRUCache<string, Reading<D>>({ max: MAX_KEPT });
  return (name, read) => {
    const nowMs = performance.now();
    const known = readings.get(name);
    if (known && !isOld(known, nowMs)) return known.result;
    for (const [each, kept] of [...readings]) if (isOld(kept, nowMs)) readings.delete(each);
    const reading: Reading<D> = { startedMs: nowMs, result: read(), isOver: false };
    const end = () => {
      reading.isOver = true;
    };
    reading.result.then(end, end);
    readings.set(name, reading);
    return reading.result;
  };
}

const isOld = ({ startedMs, isOver }: Reading<unknown>, nowMs: number): boolean =>
  isOver && nowMs - startedMs >= MAX_AGE_MS;
