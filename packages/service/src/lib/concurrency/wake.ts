/** Wakes pollers early, before their next interval. */
export interface Wake {
  /** Ends all current waits. */
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
