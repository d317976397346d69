import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { cachedFlight } from '../concurrency/single-flight.ts';
import type { Resolve, ResolvedAddress } from './guarded-fetch-connect.ts';
import { createLookupRoom, type LookupRoom } from './guarded-fetch-room.ts';

export interface ResolverOptions {
  /** DNS servers as `address` or `address:port`; default: the system's. */
  readonly servers?: readonly string[];
  readonly findHost?: FindHost;
  /** Timeout of one try; there are two. */
  readonly timeoutMs?: number;
  /** Maximum concurrent look-ups, in total and of one registrable domain. */
  readonly most?: number;
  readonly maxPerDomain?: number;
}

const TRIES = 2;
/** Refresh interval of the system's servers, which may change at run time. */
const SERVERS_KEPT_MS = 60_000;
/** Wait for the second address family after the first has answered. */
const OTHER_FAMILY_MS = 100;
const MIN_KEPT_MS = 5000;
const MAX_KEPT_MS = 60_000;
const FAILURE_KEPT_MS = 5000;
const MAX_KEPT = 4096;
/** Maximum age of a cached answer that replaces a missing one (RFC 8767). */
const STALE_MS = 3_600_000;

type Found = { readonly addresses: ResolvedAddress[]; readonly ttlS: number };
type Kept = {
  readonly answer: Promise<ResolvedAddress[]>;
  untilMs: number;
  /** The last answer, used when no server answers. */
  last: { readonly addresses: ResolvedAddress[]; readonly atMs: number } | null;
};

/**
 * Creates a resolver for names from strangers. Uses c-ares, which needs no thread: `dns.lookup` has the four of libuv, so that a few dozen
 * unanswered names would stop all other look-ups and file reads. Bounded in time, in concurrent look-ups (in total and by domain), and in
 * cached names. Concurrent calls for a name share one look-up; a name that resolved within the last hour gets its last answer when no
 * server answers. The hosts file comes first; search domains are not used.
 */
export function createResolver(options: ResolverOptions = {}): Resolve {
  const { timeoutMs = 1000, findHost = createHostsFile() } = options;
  const room = createLookupRoom({ most: options.most ?? 128, maxPerKey: options.maxPerDomain ?? 8 });
  const query = queryWith(options.servers, timeoutMs);
  const kept = new Map<string, Kept>();

  const lookUp = (name: string): Promise<ResolvedAddress[]> => {
    const nowMs = performance.now();
    const known = kept.get(name);
    if (known && known.untilMs > nowMs) return known.answer;
    const last = known?.last && nowMs - known.last.atMs < STALE_MS ? known.last : null;
    const keepFor = (ms: number) => {
      entry.untilMs = performance.now() + ms;
    };
    const answer = query(name, room).then(
      ({ addresses, ttlS }) => {
        keepFor(Math.min(Math.max(ttlS * 1000, MIN_KEPT_MS), MAX_KEPT_MS));
        entry.last = { addresses, atMs: performance.now() };
        return addresses;
      },
      (error) => {
        keepFor(error instanceof NoRoomError ? 0 : FAILURE_KEPT_MS);
        if (last && !isAnswer(error)) return last.addresses;
        throw error;
      },
    );
    // Cached during the look-up, so that concurrent calls share it.
    const entry: Kept = { answer, untilMs: Number.POSITIVE_INFINITY, last };
    kept.delete(name);
    kept.set(name, entry);
    forgetOldest(kept);
    return entry.answer;
  };

  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const family = isIP(name);
    if (family !== 0) return [{ address: name, family }];
    const own = await findHost(name);
    if (own) return [...own];
    if (name === 'localhost' || name.endsWith('.localhost')) return [{ address: '127.0.0.1', family: 4 }];
    return lookUp(name);
  };
}

/** True if a server answered that the name, or an address of it, does not exist. */
const isAnswer = ({ code }: NodeJS.ErrnoException) => code === 'ENOTFOUND' || code === 'ENODATA';

/** Evicts the oldest cached names, but not running look-ups, which have a limit of their own. */
function forgetOldest(kept: Map<string, Kept>): void {
  if (kept.size <= MAX_KEPT) return;
  for (const [name, { untilMs }] of kept) {
    if (untilMs !== Number.POSITIVE_INFINITY) kept.delete(name);
    if (kept.size <= MAX_KEPT) return;
  }
}

/** Too many concurrent look-ups. */
class NoRoomError extends Error {
  override readonly name = 'NoRoomError';
}

function queryWith(servers: readonly string[] | undefined, timeoutMs: number) {
  let resolver: Resolver | null = null;
  let madeAtMs = 0;
  const current = (): Resolver => {
    if (!resolver || performance.now() - madeAtMs > SERVERS_KEPT_MS) {
      resolver = new Resolver({ timeout: timeoutMs, tries: TRIES, maxTimeout: timeoutMs });
      if (servers && servers.length > 0) resolver.setServers(servers);
      madeAtMs = performance.now();
    }
    return resolver;
  };
  return async (name: string, room: LookupRoom): Promise<Found> => {
    const isIn = await room.enter(domainOf(name), TRIES * timeoutMs);
    if (!isIn) throw new NoRoomError(`no room to look ${name} up`);
    const dns = current();
    const families = [
      dns.resolve4(name, { ttl: true }).then((records) => records.map((record) => ({ ...record, family: 4 }))),
      dns.resolve6(name, { ttl: true }).then((records) => records.map((record) => ({ ...record, family: 6 }))),
    ];
    // It holds its slot until both have ended, even without waiters.
    void Promise.allSettled(families).then(() => room.leave(domainOf(name)));
    return firstFound(families);
  };
}

/** Returns the addresses of both families, or of one when the other has none or is late. Rejects when there are none. */
async function firstFound(families: readonly Promise<(ResolvedAddress & { ttl: number })[]>[]): Promise<Found> {
  await Promise.any(families).catch(({ errors }: AggregateError) => {
    throw errors[0];
  });
  const late = new Promise<[]>((resolve) => {
    setTimeout(resolve, OTHER_FAMILY_MS, []);
  });
  const records = (await Promise.all(families.map((family) => Promise.race([family.catch(() => []), late])))).flat();
  return {
    addresses: records.map(({ address, family }) => ({ address, family })),
    ttlS: Math.min(...records.map(({ ttl }) => ttl)),
  };
}

/** Approximates the registrable domain without a list of public suffixes: two labels, or three as in `x.co.uk`. */
export function domainOf(name: string): string {
  const labels = name.split('.');
  const [second = '', first = ''] = labels.slice(-2);
  const isUnderSecond = first.length === 2 && /^(ac|co|com|edu|go|gov|ne|net|or|org)$/.test(second);
  return labels.slice(isUnderSecond ? -3 : -2).join('.');
}

/** True if a text is a DNS server address: `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1`, `[2001:db8::1]:53`. */
export function isServerAddress(text: string): boolean {
  try {
    new Resolver().setServers([text]);
    return true;
  } catch {
    return false;
  }
}

/** Path of the system's hosts file. */
const HOSTS_FILE =
  process.platform === 'win32'
    ? `${process.env.SystemRoot ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts';
const READ_AGAIN_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/** Returns the addresses of a lower-case name in the hosts file; null if it has none. */
type FindHost = (name: string) => Promise<readonly ResolvedAddress[] | null>;

/** Reads the hosts file on demand, at most every five seconds. An unreadable file counts as empty. */
export function createHostsFile(path = HOSTS_FILE): FindHost {
  const read = cachedFlight(READ_AGAIN_MS, async () => {
    const text = await readFile(path, 'utf8').catch(() => '');
    return parseHosts(text.slice(0, MAX_BYTES));
  });
  return async (name) => (await read()).get(name) ?? null;
}

/** Parses lines of `address name name … # remark`; a name keeps the first address of each family. */
export function parseHosts(text: string): Map<string, ResolvedAddress[]> {
  const hosts = new Map<string, ResolvedAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    for (const name of family === 0 ? [] : names) {
      const known = hosts.get(name.toLowerCase()) ?? [];
      if (!known.some((each) => each.family === family)) known.push({ address, family });
      hosts.set(name.toLowerCase(), known);
    }
  }
  return hosts;
}
