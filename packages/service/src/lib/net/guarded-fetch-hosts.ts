import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { cachedFlight } from '../concurrency/single-flight.ts';
import type { ResolvedAddress } from './guarded-fetch-connect.ts';

/** Path of the system's hosts file. */
const HOSTS_FILE =
  process.platform === 'win32'
    ? `${process.env.SystemRoot ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts';
const READ_AGAIN_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/** Returns the addresses of a lower-case name in the hosts file; null if it has none. */
export type FindHost = (name: string) => Promise<readonly ResolvedAddress[] | null>;

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
