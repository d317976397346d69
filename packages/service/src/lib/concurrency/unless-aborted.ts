/**
 * Resolves when the work has ended, or once the signal aborts, and rejects as the work does before. Nothing stays at the signal: a race
 * with a promise that lives as long as the process would be remembered there each time.
 */
export function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => resolve();
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    void work.then(leave, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
