import type { ChannelStorage } from '@agent-network/sdk';

const PREFIX = 'agent-network channel ';

/** Keeps the books of channels in this browser. They hold sums and configurations, and no key. */
export const browserStorage = (): ChannelStorage => ({
  get: async (key) => localStorage.getItem(PREFIX + key),
  async set(key, value) {
    localStorage.setItem(PREFIX + key, value);
  },
  keys: async () =>
    Object.keys(localStorage).flatMap((name) => (name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : [])),
});

const LOCK = 'agent-network channels';

/** Holds the books against other tabs: two that sign for one channel would not explain each other's sums. Resolves to what lets go. */
export async function holdBooks(): Promise<() => void> {
  // Without a secure context there are no locks.
  if (!navigator.locks) return () => undefined;
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const lock = navigator.locks.request(LOCK, () => {
    held.resolve();
    return released.promise;
  });
  await Promise.race([held.promise, lock]);
  return released.resolve;
}
