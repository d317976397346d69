import { readFileSync, statSync } from 'node:fs';

export type Env = Readonly<Record<string, string | undefined>>;

/** A missing or invalid setting; the message has its name and the expected value. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** The variable that a message is about: its first word. */
const settingOf = ({ message }: ConfigError): string | null => /^[A-Z][A-Z0-9_]+(?= )/.exec(message)?.[0] ?? null;

/**
 * Names of settings with values that messages must not repeat: keys, values that may be mistaken keys, and addresses that may contain a
 * password.
 */
const SECRET = /KEY|SECRET|URL|WALLETS|NETWORKS|OTLP/;
const MAX_VALUE = 60;

/**
 * Reads settings; those that are wrong are left out and all others read again, so that one ConfigError names all of them. `read` gets the
 * names that were wrong.
 */
export function readAll<T>(env: Env, read: (env: Env, wrong: ReadonlySet<string>) => T): T {
  const wrong = new Set<string>();
  const messages: string[] = [];
  let left = env;
  for (;;) {
    const settings = tried(() => read(left, wrong));
    if (!(settings instanceof ConfigError)) {
      if (messages.length === 0) return settings;
      break;
    }
    const setting = settingOf(settings);
    const value = setting === null ? undefined : left[setting];
    messages.push(settings.message + shown(setting, value));
    if (setting === null || value === undefined) break;
    wrong.add(setting);
    left = { ...left, [setting]: undefined };
  }
  const [first = '', ...others] = messages;
  if (others.length === 0) throw new ConfigError(first);
  const list = messages.map((each) => `- ${each}`).join('\n');
  throw new ConfigError(`${messages.length} settings are wrong:\n${list}`);
}

function tried<T>(read: () => T): T | ConfigError {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

const shown = (setting: string | null, value: string | undefined): string =>
  setting === null || value === undefined || SECRET.test(setting)
    ? ''
    : ` It is ${JSON.stringify(value.slice(0, MAX_VALUE))}.`;

export function integer(env: Env, name: string, fallback: number, min: number, max: number): number {
  const text = env[name];
  if (text === undefined) return fallback;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) throw new ConfigError(`${name} must be a whole number from ${min} to ${max}.`);
  return value;
}

export function flag(env: Env, name: string, fallback: boolean): boolean {
  const text = env[name];
  if (text === undefined) return fallback;
  if (text !== 'true' && text !== 'false') throw new ConfigError(`${name} must be true or false.`);
  return text === 'true';
}

const MAX_FILE_BYTES = 65_536;

/** The text of a file that a setting names. Throws ConfigError. */
export function readSettingFile(name: string, path: string): string {
  try {
    const { size } = requireFile(statSync(path));
    if (size <= MAX_FILE_BYTES) return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`${name} names the file ${path}, which cannot be read (${code ?? 'not a file'}).`);
  }
  throw new ConfigError(`${name} names the file ${path}, which has more than ${MAX_FILE_BYTES} bytes.`);
}

function requireFile<S extends { isFile(): boolean }>(stats: S): S {
  if (!stats.isFile()) throw new Error('not a file');
  return stats;
}
