import { createBoundedCache } from '../../lib/bounded-cache.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { isRolledBack } from '../database-away.ts';
import type { Changes, Topic } from './changes.ts';
import type { Replica } from './replica.ts';

/** Cache of rows, read on first use and evicted when the change log has one of their tags. */
export interface LazyCopies<Row> {
  /** The current row, from memory if it is cached; null: none. */
  find(id: string): Row | Promise<Row | null>;
  /** Evicts a copy, for changes that the log does not contain. */
  forget(id: string): void;
}

/** The name of a row in the change log. */
export type ChangeTag = `${Topic} ${string}`;

export interface LazyCopiesOptions<Row> {
  /** Maximum copies; those that were not asked for the longest go first. */
  readonly max: number;
  /** Age at which a copy is read again, for columns that the log does not name; 0: never. */
  readonly maxAgeMs: number;
  readonly topics: readonly Topic[];
  /** Reads the rows that exist of these ids. */
  read(ids: readonly string[]): Promise<ReadonlyMap<string, Row>>;
  /** The changes that alter a row. */
  tagsOf(row: Row): readonly ChangeTag[];
}

/** Rows that one statement reads, and statements at a time. */
const MAX_BATCH = 200;
const MAX_BATCHES = 2;
/** Do not cache a read if more than this many rows changed while it ran. */
const MAX_NOTED = 10_000;

/** A statement under way, and the changes that were applied since it was sent: its snapshot may not have them. */
interface Reading {
  readonly changed: Set<ChangeTag>;
  isVoid: boolean;
}

/**
 * Adds the cache to the replica. It answers only while the replica is fresh, and a refresh evicts the changed rows. Missing rows are not
 * cached, so guessed ids take no memory and evict nothing.
 */
export function createLazyCopies<Row extends object>(
  { replica }: { readonly replica: Replica },
  { max, maxAgeMs, topics, read, tagsOf }: LazyCopiesOptions<Row>,
): LazyCopies<Row> {
  const readings = new Set<Reading>();
  const tagged = createTagIndex();
  const copies = createBoundedCache<Row>(max, maxAgeMs, (row, id) => tagged.remove(id, tagsOf(row)));
  const reader = createBatcher<string, Row | null>({
    run: readAll,
    maxSize: MAX_BATCH,
    maxConcurrent: MAX_BATCHES,
    canSplit: isRolledBack,
  });

  async function readAll(ids: string[]): Promise<(Row | null)[]> {
    const reading: Reading = { changed: new Set(), isVoid: false };
    readings.add(reading);
    const start = performance.now();
    try {
      const rows = await read([...new Set(ids)]);
      for (const [id, row] of rows) if (isCurrent(reading, row)) remember(id, row, start);
      return ids.map((id) => rows.get(id) ?? null);
    } finally {
      readings.delete(reading);
    }
  }

  const isCurrent = ({ isVoid, changed }: Reading, row: Row): boolean =>
    !isVoid && (changed.size === 0 || !tagsOf(row).some((tag) => changed.has(tag)));

  function remember(id: string, row: Row, start: number): void {
    copies.set(id, row, { start });
    tagged.add(id, tagsOf(row));
  }

  function forgetChanged(changes: Changes): void {
    for (const topic of topics)
      for (const changedId of changes.get(topic) ?? []) {
        const tag: ChangeTag = `${topic} ${changedId}`;
        for (const reading of readings) reading.changed.add(tag);
        for (const id of tagged.idsOf(tag)) copies.delete(id);
      }
    for (const reading of readings) reading.isVoid ||= reading.changed.size > MAX_NOTED;
  }

  replica.add({
    topics,
    async load() {
      for (const reading of readings) reading.isVoid = true;
      copies.clear();
    },
    read: async (_, changes) => [() => forgetChanged(changes)],
  });

  async function findFresh(id: string): Promise<Row | null> {
    await replica.fresh();
    return copies.get(id) ?? reader.add(id);
  }

  return {
    find: (id) => (replica.isFresh() ? (copies.get(id) ?? reader.add(id)) : findFresh(id)),
    forget(id) {
      for (const reading of readings) reading.isVoid = true;
      copies.delete(id);
    },
  };
}

/** The ids of the copies that a change concerns. */
function createTagIndex() {
  const idsByTag = new Map<ChangeTag, Set<string>>();
  return {
    add(id: string, tags: readonly ChangeTag[]): void {
      for (const tag of tags) {
        const ids = idsByTag.get(tag);
        if (ids) ids.add(id);
        else idsByTag.set(tag, new Set([id]));
      }
    },
    remove(id: string, tags: readonly ChangeTag[]): void {
      for (const tag of tags) {
        const ids = idsByTag.get(tag);
        ids?.delete(id);
        if (ids?.size === 0) idsByTag.delete(tag);
      }
    },
    /** A list of its own: removing copies changes the index. */
    idsOf: (tag: ChangeTag): string[] => [...(idsByTag.get(tag) ?? [])],
  };
}
