/** Keeps the books of a payer's channels. What `set` resolved for has to be there after a crash. */
export interface ChannelStorage {
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<void>;
  keys(): Promise<readonly string[]>;
}

/** For one run of a program. What is left in a channel when it ends without `payer.close()` has to be found again by its terms. */
export function memoryStorage(): ChannelStorage {
  const values = new Map<string, string>();
  return {
    get: async (key) => values.get(key) ?? null,
    async set(key, value) {
      values.set(key, value);
    },
    keys: async () => [...values.keys()],
  };
}
