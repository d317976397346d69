import { WAIT_MS } from './until.ts';

/**
 * Has something begin that ends at a deadline which comes soon. `begin` returns null when the deadline came first, as on a machine that is
 * busy with something else: it begins again, with twice the time.
 */
export async function beforeDeadline<T>(
  leftMs: number,
  begin: (deadline: string, leftMs: number) => Promise<T | null>,
): Promise<T> {
  if (leftMs > WAIT_MS) throw new Error(`did not begin within ${leftMs / 2} ms: ${begin}`);
  const begun = await begin(new Date(Date.now() + leftMs).toISOString(), leftMs);
  return begun ?? beforeDeadline(2 * leftMs, begin);
}
