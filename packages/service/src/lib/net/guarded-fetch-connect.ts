import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isAllowedAddress } from './guarded-fetch-address.ts';
import { GuardedFetchError } from './guarded-fetch-error.ts';

export type ResolvedAddress = { address: string; family: number };
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>;

/**
 * Creates a connector that opens sockets to allowed addresses only. Literal addresses never pass through a lookup, so they are checked
 * here; a name is resolved once per socket, every address is checked, and the socket gets exactly the checked ones.
 */
export function guardedConnector(options: { allowPrivate: boolean; connectTimeoutMs: number; resolve: Resolve }) {
  const { allowPrivate, connectTimeoutMs, resolve } = options;
  const connect = buildConnector({
    allowH2: false,
    maxCachedSessions: 0,
    timeout: connectTimeoutMs,
    lookup: guardedLookup(resolve, allowPrivate),
  });
  const guarded: buildConnector.connector = (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) && !isAllowedAddress(host, allowPrivate)) callback(new GuardedFetchError('blocked'), null);
    else connect(target, callback);
  };
  return guarded;
}

function guardedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (!first || !addresses.every(({ address }) => isAllowedAddress(address, allowPrivate))) {
          callback(new GuardedFetchError(first ? 'blocked' : 'dns'), '');
        } else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (cause) => callback(new GuardedFetchError('dns', { cause }), ''),
    );
  };
}
