import { createSemaphore } from '../../lib/concurrency/semaphore.ts';
import type { Store } from '../../store/database.ts';
import { isId } from '../agent-id.ts';
import {
  type CatalogAgent,
  type CatalogRange,
  findCatalogAgents,
  findListedAgent,
  listCatalogRows,
} from './catalog-store.ts';

export type { CatalogAgent };

/** Pages that are read at a time: a filter may make one look at every agent. */
const reads = createSemaphore(2);

const everything = {
  after: null,
  from: null,
  before: null,
  createdAfter: null,
  updatedAfter: null,
  name: null,
  isRemovedIncluded: false,
} as const satisfies Omit<CatalogRange, 'limit'>;

/** Lists agents of this node that have proven their endpoint, online or not, by id. */
export const listCatalog = (
  ctx: Store,
  range: Partial<CatalogRange> & Pick<CatalogRange, 'limit'>,
): Promise<CatalogAgent[]> => reads.run(() => listCatalogRows(ctx.db, { ...everything, ...range }));

/** Reads agents of this node and of others by id, in the order of the ids. Removed ones are left out. */
export async function readCatalog(ctx: Store, ids: readonly string[]): Promise<CatalogAgent[]> {
  if (ids.length === 0) return [];
  const byId = new Map((await findCatalogAgents(ctx.db, ids)).map((agent) => [agent.id, agent]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** An agent of this node that has proven its endpoint, also after its removal; null: there is none. */
export const findInCatalog = async (ctx: Store, id: string): Promise<CatalogAgent | null> =>
  isId(id) ? findListedAgent(ctx.db, id) : null;
