import type { SignatureEngine } from '../chain/keys/signature-engine.ts';
import type { Config } from '../config/config.ts';
import { secretNames } from '../config/keys.ts';
import { settingNames } from '../config/settings.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { faultOfAddress } from '../lib/net/guarded-fetch-address.ts';
import type { Env } from '../lib/read-env.ts';
import type { Log } from '../lib/telemetry/log.ts';
import type { Telemetry } from '../lib/telemetry/telemetry.ts';

/** Logs at start which local-mode features are off because others reach the node, and which settings expose its network. */
export function warnOfReach(config: Config, baseUrl: string, log: Log): void {
  const { host, isExposed, mode, allowPrivateEndpoints } = config;
  const fault = mode === 'production' ? faultOfAddress(baseUrl) : null;
  if (fault !== null)
    log.warn(
      { setting: 'BASE_URL', baseUrl, fault, remedy: 'set BASE_URL to the https address of your proxy' },
      'the public address of the node is not one for others',
    );
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
      'local mode is reachable from other machines: the features that it reserves for this machine are off',
    );
  if (allowPrivateEndpoints && (isExposed || mode === 'production'))
    log.warn(
      { setting: 'ALLOW_PRIVATE_ENDPOINTS' },
      'private endpoints are allowed: anyone who registers an agent or a webhook can make this node call into its own network',
    );
}

/** Reports the signature engine by metric, and the slow one (JavaScript) by a warning. */
export function reportSignatureEngine({
  signatureEngine,
  metrics,
  log,
}: Telemetry & { readonly signatureEngine: SignatureEngine }): void {
  metrics.nativeSignatures.set(signatureEngine === 'native' ? 1 : 0);
  if (signatureEngine === 'javascript')
    log.warn(
      {
        package: 'secp256k1',
        platform: process.platform,
        arch: process.arch,
        remedy: 'npm rebuild secp256k1 (needs python3, make and a C++ compiler)',
      },
      'secp256k1 has no native build here: signatures are checked in JavaScript, which is many times slower',
    );
}

/** Variables that are not settings but have a name close to one, most likely misspelt. */
export function misspeltSettings(env: Env): { readonly name: string; readonly nearest: string }[] {
  const known = new Set(['FAILPOINT', ...settingNames, ...secretNames.map((name) => `${name}_FILE`)]);
  const names = [...known].filter((name) => name.length >= MIN_COMPARED);
  return Object.keys(env).flatMap((name) => {
    const nearest = known.has(name) ? null : nearestName(name, names);
    return nearest === null ? [] : [{ name, nearest }];
  });
}

/** Shorter names are close to too many others. */
const MIN_COMPARED = 6;

export function warnOfMisspelt(env: Env, log: Log): void {
  const variables = misspeltSettings(env);
  if (variables.length > 0) log.warn({ variables }, 'unknown environment variables, possibly misspelled');
}
