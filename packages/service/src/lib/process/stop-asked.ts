const PARENT_LOOK_MS = 500;
/** Parent process at start: npm may end while the node is starting. */
const parent = process.ppid;

/**
 * Resolves when this process is asked to stop: by SIGINT or SIGTERM or, when started by npm, by the end of its parent. npm sends SIGTERM to
 * the shell in between, which exits without forwarding it and would leave this process running with the port and the data folder.
 */
export function stopAsked(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
    if (process.env.npm_lifecycle_event === undefined) return;
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve();
    }, PARENT_LOOK_MS);
  });
}
