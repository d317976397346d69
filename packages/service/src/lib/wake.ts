/** Lets those who wait for the same thing look again at once, rather than at their next turn. */
export interface Wake {
  /** Ends all waits of this moment. */
  wake(): void;
  /** Resolves when woken, and after `timeoutMs` at the latest. */
  wait(timeoutMs: number): Promise<void>;
}

export function createWake(): Wake {
  const waiting = new Set<() => void>();
  return {
    wake() {
      for (const resume of [...waiting]) resume();
    },
    wait: (timeoutMs) =>
      new Promise((resolve) => {
        const resume = () => {
          clearTimeout(timer);
          waiting.delete(resume);
          resolve();
        };
        const timer = setTimeout(resume, timeoutMs);
        waiting.add(resume);
      }),
  };
}
