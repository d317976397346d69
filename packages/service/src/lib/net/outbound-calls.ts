import { createGuardedFetch } from './guarded-fetch.ts';
import { createResolver } from './guarded-fetch-resolve.ts';
import { createTextRecords } from './text-records.ts';

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
