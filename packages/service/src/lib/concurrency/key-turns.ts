/** Work that has a key in common runs in the order of arrival, one after the other; other work does not wait for it. */
export interface KeyTurns {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyTurns(): KeyTurns {
  const lasts = new Map<string, Promise<unknown>>();
  return {
    async run(key, work) {
      const before = lasts.get(key);
      const running = before ? before.then(work, work) : work();
      lasts.set(key, running);
      try {
        return await running;
      } finally {
        if (lasts.get(key) === running) lasts.delete(key);
      }
    },
  };
}
