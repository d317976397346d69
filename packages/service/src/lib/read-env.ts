export type Env = Readonly<Record<string, string | undefined>>;

/** A missing or invalid setting; the message names it and the expected value. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

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
