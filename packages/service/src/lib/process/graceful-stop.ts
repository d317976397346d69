import type { Log } from '../telemetry/log.ts';

export type StopStep = { name: string; stop: () => Promise<unknown> | unknown };

export type GracefulStopOptions = { log: Log; limitMs?: number };

/**
 * Runs stop steps in sequence. A step that throws is logged and does not block the next ones. Returns true if every step succeeded within
 * the limit (10 s in total); after it, the unfinished steps are logged and not waited for.
 */
export async function stopInOrder(steps: StopStep[], { log, limitMs = 10_000 }: GracefulStopOptions): Promise<boolean> {
  let isClean = true;
  let doneCount = 0;
  let isLate = false;

  async function runSteps(): Promise<void> {
    for (const { name, stop } of steps) {
      if (isLate) return;
      const startedAt = performance.now();
      try {
        await stop();
        log.debug({ step: name, ms: Math.round(performance.now() - startedAt) }, 'stopped');
      } catch (err) {
        isClean = false;
        log.error({ err, step: name }, 'shutdown step failed');
      }
      doneCount++;
    }
  }

  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      isLate = true;
      resolve();
    }, limitMs);
  });
  await Promise.race([runSteps(), limit]);
  clearTimeout(timer);
  if (isLate) log.error({ unfinished: steps.slice(doneCount).map((step) => step.name), limitMs }, 'shutdown timed out');
  return isClean && !isLate;
}
