/** Stores the books of a payer's channels. Once `set` resolves, the value must survive a crash. */
export interface ChannelStorage {
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<void>;
  keys(): Promise<readonly string[]>;
}

/** Storage for one run of a program. If it ends without `payer.close()`, the rest of a channel can only be found by its terms. */
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
