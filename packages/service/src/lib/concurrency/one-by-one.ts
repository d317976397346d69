/** Work on one key at a time in this process, in the order of arrival. */
export interface OneByOne {
  /** Resolves when the work before it on this key is done, with what ends this work. */
  enter(key: string): Promise<() => void>;
}

export function createOneByOne(): OneByOne {
  const last = new Map<string, Promise<void>>();
  return {
    async enter(key) {
      const before = last.get(key);
      let leave = () => {};
      const done = new Promise<void>((resolve) => {
        leave = resolve;
      });
      last.set(key, done);
      await before;
      return () => {
        if (last.get(key) === done) last.delete(key);
        leave();
      };
    },
  };
}
