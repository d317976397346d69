import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** A node and the account there. */
export interface Profile {
  readonly url: string;
  readonly accountId: string | null;
}

export interface Profiles {
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** Secrets of a profile. */
export interface Credentials {
  readonly apiKey?: string;
  readonly walletKey?: string;
  /** Secret that signs the messages which `agentnet listen` forwards. */
  readonly webhookSecret?: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The folder of profiles and credentials: `AGENTNET_CONFIG_DIR`, else the one of the XDG specification. */
export function configDir(env: Env): string {
  if (env.AGENTNET_CONFIG_DIR) return env.AGENTNET_CONFIG_DIR;
  if (process.platform === 'win32' && env.APPDATA) return join(env.APPDATA, 'agentnet');
  return join(env.XDG_CONFIG_HOME || join(env.HOME ?? homedir(), '.config'), 'agentnet');
}

/** Keeps profiles in `profiles.json`, and their secrets in `credentials.json`, which only the user can read (mode 0600). */
export function createProfileStore(dir: string) {
  const profilesFile = join(dir, 'profiles.json');
  const credentialsFile = join(dir, 'credentials.json');
  const readCredentials = () => readJson<Record<string, Credentials>>(credentialsFile, {});
  const readProfiles = () => readJson<Profiles>(profilesFile, { current: null, profiles: {} });
  return {
    credentialsFile,
    readProfiles,
    credentialsOf: async (name: string): Promise<Credentials> => (await readCredentials())[name] ?? {},

    /** Adds or replaces a profile, and makes it the current one. */
    async save(name: string, profile: Profile, credentials: Credentials): Promise<void> {
      const kept = await readCredentials();
      const { profiles } = await readProfiles();
      const { walletKey, ...others } = kept[name] ?? {};
      // The wallet of one node's account is no wallet of another's.
      const before = profiles[name]?.url === profile.url && walletKey ? { ...others, walletKey } : others;
      // Secrets first: a profile without its key would look signed in.
      await writeJson(credentialsFile, { ...kept, [name]: { ...before, ...credentials } });
      await writeJson(profilesFile, { current: name, profiles: { ...profiles, [name]: profile } });
    },

    async saveCredentials(name: string, credentials: Credentials): Promise<void> {
      const kept = await readCredentials();
      await writeJson(credentialsFile, { ...kept, [name]: { ...kept[name], ...credentials } });
    },

    async use(name: string): Promise<void> {
      const { profiles } = await readProfiles();
      await writeJson(profilesFile, { current: name, profiles });
    },

    async remove(name: string): Promise<void> {
      const { [name]: _secret, ...credentials } = await readCredentials();
      await writeJson(credentialsFile, credentials);
      const { current, profiles } = await readProfiles();
      const { [name]: _profile, ...rest } = profiles;
      await writeJson(profilesFile, { current: current === name ? null : current, profiles: rest });
    },
  };
}

export type ProfileStore = ReturnType<typeof createProfileStore>;

async function readJson<T>(file: string, empty: T): Promise<T> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return empty;
    throw error;
  }
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Error(`${file} is not JSON. Fix it, or remove it and run "agentnet login" again.`);
  }
}

/** Writes a file that only the user can read, all of it or nothing. */
async function writeJson(file: string, value: unknown): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  try {
    await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    await chmod(unfinished, 0o600);
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
