import type { Config } from './config.ts';
import type { Log } from './lib/log.ts';

/** Tells at start which comforts of local mode are off because others reach the node, and which settings let others reach further. */
export function warnOfReach(config: Config, baseUrl: string, log: Log): void {
  const { host, isExposed, mode, allowPrivateEndpoints } = config;
  if (isExposed)
    log.warn(
      {
        host,
        baseUrl,
        off: [
          'POST /auth/session/local',
          ...(allowPrivateEndpoints ? [] : ['agents and webhooks on private addresses', 'the example agents']),
          'unlimited calls without a key',
          'unlimited sign-ins',
        ],
      },
      'local mode is reachable by others: what local mode allows only to this machine is off',
    );
  if (allowPrivateEndpoints && (isExposed || mode === 'production'))
    log.warn(
      { setting: 'ALLOW_PRIVATE_ENDPOINTS' },
      'private endpoints are allowed: whoever registers an agent or a webhook has this node call into its own network',
    );
}
