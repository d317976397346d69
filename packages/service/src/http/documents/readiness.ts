/** Maximum age of a cached result. */
const MAX_AGE_MS = 1000;
/** Timeout of a check, which then counts as failed. */
const TIMEOUT_MS = 3000;

/**
 * Returns the result of a check, at most a second old, with one check at a time for any number of callers; `false` if it fails or times
 * out, and as long as an earlier one hangs.
 */
export function createReadiness(
  check: () => Promise<unknown>,
  { timeoutMs = TIMEOUT_MS, onFailure }: { timeoutMs?: number; onFailure: (error: unknown) => void },
): () => Promise<boolean> {
  let found: { readonly atMs: number; readonly isReady: boolean } | null = null;
  let checking: Promise<boolean> | null = null;
  let isHanging = false;

  async function look(): Promise<boolean> {
    const startedMs = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`the check took longer than ${timeoutMs} ms`)), timeoutMs).unref();
    });
    isHanging = true;
    const checked = check().finally(() => {
      isHanging = false;
    });
    const isReady = await Promise.race([checked, tooLong]).then(
      () => true,
      (error: unknown) => {
        onFailure(error);
        return false;
      },
    );
    clearTimeout(timer);
    checked.catch(() => undefined);
    found = { atMs: startedMs, isReady };
    checking = null;
    return isReady;
  }

  return () => {
    if (checking) return checking;
    if (isHanging) return Promise.resolve(false);
    if (found && performance.now() - found.atMs < MAX_AGE_MS) return Promise.resolve(found.isReady);
    checking = look();
    return checking;
  };
}
