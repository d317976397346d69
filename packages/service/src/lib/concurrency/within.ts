/** Waits for `work` at most so long, then gives `otherwise`. Rejects if the work fails in time; a later failure is dropped. */
export function within<T, Otherwise>(
  work: Promise<T>,
  timeoutMs: number,
  otherwise: Otherwise,
): Promise<T | Otherwise> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, timeoutMs, otherwise);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

const yes = () => true;

/** True if the work ends within the time, well or not. */
export const endsWithin = (work: Promise<unknown>, timeoutMs: number): Promise<boolean> =>
  within(work.then(yes, yes), timeoutMs, false);
