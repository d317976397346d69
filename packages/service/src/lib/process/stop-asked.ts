const PARENT_LOOK_MS = 500;
/** As it was when this process began: npm may end while the node is starting. */
const parent = process.ppid;

/**
 * Resolves when this process is asked to end: by SIGINT or SIGTERM, or, started by npm, by the end of what started it. npm passes
 * SIGTERM to the shell between it and us, which ends without a word, and would leave us behind with the port and the data folder.
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
