import { payableChain } from '@agent-network/chain/addresses';
import { keccak256 } from '../lib/keccak.ts';
import { ConfigError, type Env, readSettingFile } from '../lib/read-env.ts';
import groups from './settings.json' with { type: 'json' };

/** Kept apart from the configuration, which may be logged. null: made in local mode. */
export interface ConfiguredSecrets {
  readonly settlementPrivateKey: `0x${string}` | null;
  /** Keys that only send transactions and pay their gas. null: not configured. */
  readonly senderPrivateKeys: readonly `0x${string}`[] | null;
  /** The key that writes to the shared registry. `none`: this node does not, as in production without one. */
  readonly registrarPrivateKey: `0x${string}` | 'none' | null;
  /** The wallet that test USDC is given from. null: none is configured. */
  readonly faucetPrivateKey: `0x${string}` | null;
  /** Texts that seal and sign, newest first. */
  readonly secretKeys: readonly string[] | null;
}

/** Settings with a secret that `<name>_FILE` may hold instead. The exporter of traces reads its own variables. */
export const secretNames: readonly string[] = groups.flatMap(({ settings }) =>
  settings.flatMap((setting) =>
    'isSecret' in setting && setting.isSecret && !setting.name.startsWith('OTEL_') ? [setting.name] : [],
  ),
);

/**
 * The environment with each secret that is in a file, such as a credential of systemd: `SECRET_KEY_FILE=/run/credentials/…`. Lines of the file
 * count as if commas separated them. Throws ConfigError for a file that can't be read, and for a secret that is set both ways.
 */
export function withSecretFiles(env: Env): Env {
  const filed = secretNames.flatMap((name): [string, string][] => {
    const path = Object.hasOwn(env, `${name}_FILE`) ? env[`${name}_FILE`] : undefined;
    if (path === undefined || path === '') return [];
    if (env[name] !== undefined) throw new ConfigError(`${name}_FILE must be removed, or ${name}: both are set.`);
    const lines = readSettingFile(`${name}_FILE`, path).split(/\r?\n/);
    return [[name, lines.flatMap((line) => line.trim() || []).join(',')]];
  });
  return filed.length === 0 ? env : { ...env, ...Object.fromEntries(filed) };
}

/** Reads secrets. Messages never repeat their values. */
export function readSecrets(env: Env, mode: 'local' | 'production'): ConfiguredSecrets {
  const secrets = {
    settlementPrivateKey: privateKeyOf(env, 'SETTLEMENT_PRIVATE_KEY'),
    senderPrivateKeys: env.SENDER_PRIVATE_KEYS === undefined ? null : senderKeysOf(env.SENDER_PRIVATE_KEYS),
    registrarPrivateKey: registrarKeyOf(env, mode),
    faucetPrivateKey: env.FAUCET_PRIVATE_KEY === '' ? null : privateKeyOf(env, 'FAUCET_PRIVATE_KEY'),
    secretKeys: env.SECRET_KEY === undefined ? null : secretKeysOf(env.SECRET_KEY),
  };
  requireApart(secrets);
  return secrets;
}

const KEY = /^(0x)?[0-9a-fA-F]{64}$/;
/** A key as `openssl rand -hex 32` prints it, or with 0x before. */
const toKey = (text: string): `0x${string}` => (text.startsWith('0x') ? (text as `0x${string}`) : `0x${text}`);

function privateKeyOf(env: Env, name: string): `0x${string}` | null {
  const text = env[name];
  if (text === undefined) return null;
  if (!KEY.test(text))
    throw new ConfigError(`${name} must be 64 hex digits, with or without 0x. Make one: openssl rand -hex 32`);
  return toKey(text);
}

/** Derives a key for another purpose, the same in all processes that have this one. */
export const deriveKey = (key: `0x${string}`, purpose: string): `0x${string}` =>
  keccak256(Buffer.from(`agent-network:${purpose}:${key}`));

/** No registrar if the setting is absent in production, or empty. */
const registrarKeyOf = (env: Env, mode: 'local' | 'production'): ConfiguredSecrets['registrarPrivateKey'] =>
  env.REGISTRAR_PRIVATE_KEY === '' || (mode === 'production' && env.REGISTRAR_PRIVATE_KEY === undefined)
    ? 'none'
    : privateKeyOf(env, 'REGISTRAR_PRIVATE_KEY');

/**
 * Requires the registrar's key and the faucet's to differ from the payment keys: the registrar's tokens must not share their risk, nor wait
 * for their transactions, and the faucet gives its money away.
 */
function requireApart(secrets: Omit<ConfiguredSecrets, 'secretKeys'>): void {
  const { settlementPrivateKey, senderPrivateKeys, registrarPrivateKey, faucetPrivateKey } = secrets;
  const others = [settlementPrivateKey, ...(senderPrivateKeys ?? [])].map((key) => key?.toLowerCase());
  if (registrarPrivateKey !== null && others.includes(registrarPrivateKey.toLowerCase()))
    throw new ConfigError('REGISTRAR_PRIVATE_KEY must differ from the other private keys.');
  if (
    faucetPrivateKey !== null &&
    [...others, registrarPrivateKey?.toLowerCase()].includes(faucetPrivateKey.toLowerCase())
  )
    throw new ConfigError('FAUCET_PRIVATE_KEY must differ from the other private keys.');
}

/** Refuses a faucet's key unless the default network is a test network: real money is never given away. */
export function refuseFaucetOn(
  chainId: number,
  { faucetPrivateKey }: Pick<ConfiguredSecrets, 'faucetPrivateKey'>,
): void {
  if (faucetPrivateKey !== null && !payableChain(chainId)?.isTest)
    throw new ConfigError(`FAUCET_PRIVATE_KEY must be removed: it is for test networks, and chain ${chainId} is none.`);
}

function senderKeysOf(text: string): readonly `0x${string}`[] {
  const keys = text === '' ? [] : text.split(',').map((key) => key.trim());
  if (!keys.every((key) => KEY.test(key)))
    throw new ConfigError('SENDER_PRIVATE_KEYS must be keys of 64 hex digits, separated by commas.');
  return keys.map(toKey);
}

function secretKeysOf(text: string): readonly string[] {
  const keys = text.split(',').map((key) => key.trim());
  if (keys.some((key) => key.length < 32))
    throw new ConfigError(
      'SECRET_KEY must have at least 32 characters; several are separated by commas, the newest first. Make one: openssl rand -hex 32',
    );
  if (new Set(keys).size < keys.length) throw new ConfigError('SECRET_KEY must not name a key twice.');
  return keys;
}
