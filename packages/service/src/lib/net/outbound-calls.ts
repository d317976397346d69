import { Resolver } from 'node:dns/promises';
import { createGuardedFetch } from './guarded-fetch.ts';
import { createResolver, domainOf } from './guarded-fetch-resolve.ts';
import { createLookupRoom } from './guarded-fetch-room.ts';

interface OutboundSettings {
  readonly dnsServers: readonly string[];
  readonly allowPrivateEndpoints: boolean;
}

/** Clients for calls to addresses and names that strangers gave us. */
export const createOutboundCalls = ({ dnsServers: servers, allowPrivateEndpoints }: OutboundSettings) => ({
  guardedFetch: createGuardedFetch({
    allowPrivate: allowPrivateEndpoints,
    userAgent: 'agent-network',
    connections: 4096,
    resolve: createResolver({ servers }),
  }),
  textRecords: createTextRecords({ servers }),
});

/** TXT records of names that strangers gave us. */
export interface TextRecords {
  /** The TXT records of a name; empty when it has none or the look-up times out. */
  find(name: string): Promise<string[]>;
}

const TIMEOUT_MS = 1000;
const TRIES = 2;
const MAX_LOOKUPS = 32;
const MAX_OF_DOMAIN = 4;

/** Asks by c-ares, which needs no thread, with a bound on concurrent questions in total and by domain. Answers are not kept. */
function createTextRecords({ servers }: { readonly servers: readonly string[] }): TextRecords {
  const room = createLookupRoom({ most: MAX_LOOKUPS, maxPerKey: MAX_OF_DOMAIN });
  return {
    async find(name) {
      const domain = domainOf(name);
      if (!(await room.enter(domain, TRIES * TIMEOUT_MS))) return [];
      const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES, maxTimeout: TIMEOUT_MS });
      if (servers.length > 0) resolver.setServers(servers);
      try {
        return (await resolver.resolveTxt(name)).map((parts) => parts.join(''));
      } catch {
        return [];
      } finally {
        room.leave(domain);
      }
    },
  };
}
