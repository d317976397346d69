import type { Caller } from '../../access/caller/caller.ts';
import { AppError } from '../../lib/app-error.ts';

/** A body that takes longer may have been held back until its caller's key was revoked. */
const SLOW_MS = 100;

/**
 * Reads the body of a request whose caller was identified by its headers. After one that came slowly the caller is identified anew: what
 * ended meanwhile is refused as in a request that begins now.
 */
export async function readAs<T>(
  caller: Caller,
  read: () => Promise<T>,
  identify: () => Promise<Caller>,
): Promise<{ readonly caller: Caller; readonly body: T }> {
  const startMs = performance.now();
  const body = await read();
  if (caller.kind === 'anonymous' || performance.now() - startMs < SLOW_MS) return { caller, body };
  const again = await identify();
  // Where no caller is needed, a session that has ended is ignored; this request is counted as its account's.
  if (again.kind === 'anonymous') throw new AppError('UNAUTHORIZED', 'The session ended while the body arrived.');
  return { caller: again, body };
}
