interface ErrorLog {
  error(fields: { readonly err: unknown }, message: string): void;
}

/** Runs work soon after a request; requests in between share one run. */
export function createOnDemandRun(work: () => Promise<void>, log: ErrorLog): { requestRun(): void } {
  let isDue = false;
  const run = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    isDue = false;
    await work();
  };
  return {
    requestRun() {
      if (isDue) return;
      isDue = true;
      run().catch((error) => log.error({ err: error }, 'requested run failed'));
    },
  };
}
