import { randomInt } from 'node:crypto';
import { createListingIndex } from '@agent-network/search-index/create-listing-index';
import type { ListingIndex } from '@agent-network/search-index/listing';
import type { ListingRow } from '@agent-network/search-index/listing-fields';
import type { PreparedJson } from '../../lib/json/prepared-json.ts';
import type { Changes } from '../../store/replica/changes.ts';
import type { Replica, ReplicaPart } from '../../store/replica/replica.ts';
import type { Sql } from '../../store/sql.ts';
import { isVerified } from '../agent.ts';
import { toListItem } from '../agent-view.ts';
import { findVectors, listVectors, type StoredVector } from '../meaning/vector-store.ts';
import { findStoredListings, listStoredListings, type StoredListing } from './listing-row-store.ts';

/** The listed agents in memory, as the replica keeps them. */
export interface Listing {
  /** Asks the index when it is fresh, at a position of the registry; never inside a transaction. */
  read<T>(ask: (index: ListingIndex, position: string) => T): Promise<T>;
  /** The label of a node with listed agents. */
  labelOf(nodeId: string): string;
}

/** An answer with agents that are JSON already. */
export type Listed<T extends { agents: unknown }> = Omit<T, 'agents'> & { readonly agents: PreparedJson };

const ROWS_TO_A_STEP = 2000;
const CHANGES_TO_A_STEP = 500;

interface ListingNeeds {
  readonly replica: Replica;
  readonly nodeLabel: string;
  /** The model of the vectors to keep with the agents; null: none. */
  readonly model: string | null;
}

/** Keeps the listing among the copies of this process. */
export function createListing({ replica, nodeLabel, model }: ListingNeeds): Listing {
  let index = createIndex();
  const labels = new Map<string, string>();
  const put = (stored: StoredListing) => {
    if (stored.home !== null) labels.set(stored.home, stored.homeLabel ?? '');
    index.put(toRow(stored, nodeLabel));
  };
  const setVector = ({ id, ...vector }: StoredVector) => index.setVector(id, vector);
  const part: ReplicaPart = {
    topics: ['agent', 'account', 'node', ...(model === null ? [] : (['vector'] as const))],
    async load(sql) {
      index = createIndex();
      labels.clear();
      await forEachStep(
        (after) => listStoredListings(sql, after, ROWS_TO_A_STEP),
        (rows) => rows.forEach(put),
      );
      index.settle();
      if (model !== null)
        await forEachStep(
          (after) => listVectors(sql, model, after, ROWS_TO_A_STEP),
          (rows) => rows.forEach(setVector),
        );
    },
    async read(sql, changes) {
      const { rows, gone } = await readChanged(sql, changes);
      const changed = model === null ? [] : (changes.get('vector') ?? []);
      const vectors = changed.length === 0 ? [] : await findVectors(sql, model ?? '', changed);
      const steps: (() => void)[] = [];
      for (let from = 0; from < rows.length; from += CHANGES_TO_A_STEP)
        steps.push(() => {
          for (const row of rows.slice(from, from + CHANGES_TO_A_STEP)) put(row);
        });
      const removeGone = () => {
        for (const id of gone) index.remove(id);
      };
      if (changed.length > 0)
        steps.push(() => {
          for (const id of changed) index.setVector(id, null);
          vectors.forEach(setVector);
        });
      return [removeGone, ...steps];
    },
  };
  replica.add(part);
  return {
    async read(ask) {
      if (!replica.isFresh()) await replica.fresh();
      return ask(index, replica.position());
    },
    labelOf: (nodeId) => labels.get(nodeId) ?? '',
  };
}

/** Reads all rows in steps, each behind the id of the last one; the next step is on its way while `take` works. */
async function forEachStep<Row extends { readonly id: string }>(
  read: (after: string) => Promise<Row[]>,
  take: (rows: Row[]) => void,
): Promise<void> {
  for (let reading = read(''); ; ) {
    const rows = await reading;
    const last = rows.at(-1);
    if (!last) return;
    reading = read(last.id);
    // Its error is thrown where it is awaited, unless `take` throws first.
    reading.catch(() => undefined);
    take(rows);
  }
}

/** Creates an index with a random seed, so that colliding words can't be chosen in advance. */
const createIndex = () => createListingIndex(randomInt(2 ** 32));

async function readChanged(sql: Sql, changes: Changes) {
  const of = (topic: 'agent' | 'account' | 'node') => changes.get(topic) ?? [];
  const rows = await findStoredListings(sql, { agents: of('agent'), accounts: of('account'), nodes: of('node') });
  const found = new Set(rows.map(({ id }) => id));
  return { rows, gone: of('agent').filter((id) => !found.has(id)) };
}

const toRow = (stored: StoredListing, nodeLabel: string): ListingRow => ({
  ...stored,
  tags: stored.tags ?? [],
  isOnline: stored.status === 'online',
  isVerified: isVerified(stored),
  item: Buffer.from(JSON.stringify(toListItem(stored, nodeLabel))),
});
