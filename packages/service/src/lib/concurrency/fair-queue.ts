/**
 * Round-robin queue over tenants. A tenant's entries are served by priority, 0 first; entries of the last priority only when no tenant has
 * any other. A tenant with many entries delays only its own, and gains nothing by their priorities.
 */
export interface FairQueue<T> {
  readonly size: number;
  add(entry: T, ticket: QueueTicket, nowMs: number): void;
  /** Removes and returns the next entry; null if the queue is empty. */
  take(): T | null;
  /** Estimates how many entries are served before one that came now. */
  countAhead(ticket: QueueTicket): number;
  /** Time since the tenant last had no entries of this class. */
  backlogMs(ticket: QueueTicket, nowMs: number): number;
  /** Evicts the newest lowest-priority entry of the longest tenant; null if the newcomer would be worse off. */
  evictFor(ticket: QueueTicket): T | null;
  /** Removes expired entries. Checks each tenant's entries of a priority from the oldest up to the first that stays. */
  removeExpired(isExpired: (entry: T) => boolean): T[];
}

export interface QueueTicket {
  readonly tenant: string;
  readonly priority: number;
  /** Rounds that the entry uses up, default 1: its tenant skips the others. */
  readonly cost?: number;
}

interface Tenant<T> {
  /** By priority, in order of arrival. */
  readonly queues: T[][];
  readonly sinceMs: number;
  size: number;
  /** Rounds to skip, for entries that cost several. */
  owed: number;
}

/** Tenants in the order in which they are served. */
interface Ring<T> {
  readonly tenants: Map<string, Tenant<T>>;
  size: number;
}

export function createFairQueue<T>(priorities: number): FairQueue<T> {
  /** Entries of all priorities but the last, and those of the last. */
  const first: Ring<T> = { tenants: new Map(), size: 0 };
  const last: Ring<T> = { tenants: new Map(), size: 0 };
  const isLast = (priority: number) => priority === priorities - 1;
  const ringOf = (priority: number) => (isLast(priority) ? last : first);

  return {
    get size() {
      return first.size + last.size;
    },
    add(entry, { tenant: name, priority, cost = 1 }, nowMs) {
      const ring = ringOf(priority);
      const tenant = ring.tenants.get(name) ?? {
        queues: Array.from({ length: priorities }, () => []),
        sinceMs: nowMs,
        size: 0,
        owed: 0,
      };
      ring.tenants.set(name, tenant);
      tenant.queues[priority]?.push(entry);
      tenant.size += 1;
      tenant.owed += cost - 1;
      ring.size += 1;
    },
    take: () => takeFrom(first) ?? takeFrom(last),
    countAhead({ tenant, priority }) {
      const ring = ringOf(priority);
      const own = aheadIn(ring.tenants.get(tenant), priority);
      // A tenant with fewer entries is served no more often than it has entries.
      const served = Math.min((own + 1) * ring.tenants.size, ring.size);
      return isLast(priority) ? served + first.size : served;
    },
    backlogMs({ tenant, priority }, nowMs) {
      const known = ringOf(priority).tenants.get(tenant);
      return known ? nowMs - known.sinceMs : 0;
    },
    evictFor({ tenant: own, priority }) {
      // Entries of the last priority are evicted first.
      const ring = last.size > 0 ? last : first;
      const longest = longestOf(ring);
      if (!longest) return null;
      const [name, tenant] = longest;
      const worst = tenant.queues.findLastIndex((queue) => queue.length > 0);
      const ownSize = ringOf(priority).tenants.get(own)?.size ?? 0;
      const isWorseOff =
        (isLast(worst) && !isLast(priority)) || (name === own ? worst > priority : tenant.size > ownSize + 1);
      if (!isWorseOff) return null;
      const entry = tenant.queues[worst]?.pop() ?? null;
      countRemoved(ring, name, tenant, 1);
      return entry;
    },
    removeExpired: (isExpired) => [...removeFrom(first, isExpired), ...removeFrom(last, isExpired)],
  };
}

/** Updates the sizes; a tenant without entries leaves the ring. */
function countRemoved<T>(ring: Ring<T>, name: string, tenant: Tenant<T>, count: number): void {
  tenant.size -= count;
  ring.size -= count;
  if (tenant.size === 0) ring.tenants.delete(name);
}

/** Serves the first tenant, which then goes to the end of the ring. */
function takeFrom<T>(ring: Ring<T>): T | null {
  for (const [name, tenant] of ring.tenants) {
    if (tenant.owed > 0 && ring.tenants.size > 1) {
      tenant.owed -= 1;
      ring.tenants.delete(name);
      ring.tenants.set(name, tenant);
      continue;
    }
    const entry = tenant.queues.find((queue) => queue.length > 0)?.shift();
    countRemoved(ring, name, tenant, 1);
    if (ring.tenants.delete(name)) ring.tenants.set(name, tenant);
    return entry ?? null;
  }
  return null;
}

/** Number of a tenant's entries that are served before a new one of this priority. */
const aheadIn = <T>(tenant: Tenant<T> | undefined, priority: number): number =>
  (tenant?.queues ?? []).slice(0, priority + 1).reduce((sum, queue) => sum + queue.length, 0);

function longestOf<T>({ tenants }: Ring<T>): [name: string, tenant: Tenant<T>] | null {
  let longest: [string, Tenant<T>] | null = null;
  for (const each of tenants) if (!longest || each[1].size > longest[1].size) longest = each;
  return longest;
}

function removeFrom<T>(ring: Ring<T>, isExpired: (entry: T) => boolean): T[] {
  const expired: T[] = [];
  for (const [name, tenant] of ring.tenants)
    for (const queue of tenant.queues) {
      const stays = queue.findIndex((entry) => !isExpired(entry));
      const gone = queue.splice(0, stays === -1 ? queue.length : stays);
      expired.push(...gone);
      countRemoved(ring, name, tenant, gone.length);
    }
  return expired;
}
