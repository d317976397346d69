interface PollerOptions {
  readonly intervalMs: number;
  /** One query for all waiters. */
  readonly poll: () => Promise<void>;
  readonly hasWaiters: () => boolean;
  readonly onError: (error: unknown) => void;
}

/** Polls on behalf of all waiters of this process, as long as there are any. It does not keep the process alive. */
export function createPoller({ intervalMs, poll, hasWaiters, onError }: PollerOptions): { start(): void } {
  let isDue = false;
  function start(): void {
    if (isDue) return;
    isDue = true;
    setTimeout(async () => {
      await poll().catch(onError);
      isDue = false;
      if (hasWaiters()) start();
    }, intervalMs).unref();
  }
  return { start };
}
