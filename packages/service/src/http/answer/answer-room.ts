import { AppError } from '../../lib/app-error.ts';

/** Minimum size of a GET answer that counts as large while it is unread. */
const COUNTED_FROM_BYTES = 64 * 1024;
/** Maximum bytes of unread answers, for one network address and in total; beyond them the next answer is refused. */
export const MAX_OF_ADDRESS_BYTES = 32 * 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;

/** Limits large unread answers, which are held in memory. */
export interface AnswerRoom {
  /** Counts an answer; call the returned function once it was read. Throws RATE_LIMITED or UNAVAILABLE while too much is unread. */
  take(network: string, bytes: number): () => void;
}

export function createAnswerRoom(): AnswerRoom {
  const networks = new Map<string, number>();
  let all = 0;
  const add = (network: string, bytes: number) => {
    const left = (networks.get(network) ?? 0) + bytes;
    if (left > 0) networks.set(network, left);
    else networks.delete(network);
    all += bytes;
  };
  return {
    take(network, bytes) {
      if (bytes < COUNTED_FROM_BYTES) return () => undefined;
      const own = networks.get(network) ?? 0;
      if (own > 0 && own + bytes > MAX_OF_ADDRESS_BYTES) throw notTaken(MAX_OF_ADDRESS_BYTES);
      if (all > 0 && all + bytes > MAX_BYTES)
        throw new AppError('UNAVAILABLE', 'The node is sending too many large answers; repeat the request later.');
      add(network, bytes);
      return () => add(network, -bytes);
    },
  };
}

const notTaken = (limit: number) =>
  new AppError('RATE_LIMITED', 'Too many bytes of earlier answers are unread: read them before you request more.', {
    details: { limit, type: 'answerBytes', retryAfterS: 1 },
  });
