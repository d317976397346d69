import { AgentError } from './agent-error.ts';
import { isProgress, type SaidLog } from './said.ts';

/** Maximum events that a node accepts from one stream. */
const maxSaid = 10_000;
const maxSaidChars = 64 * 1024;
const maxAllChars = 8 * 1024 * 1024;

const isGenerator = (value: unknown): value is AsyncGenerator<unknown> | Generator<unknown> =>
  typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function';

function say(said: SaidLog, value: unknown): void {
  const data = JSON.stringify(isProgress(value) ? value.report : value) ?? 'null';
  if (data.length > maxSaidChars || said.count >= maxSaid || said.chars + data.length > maxAllChars)
    throw new AgentError('result_too_large', 'The agent said more than a stream may hold', 500);
  said.add({ event: isProgress(value) ? 'progress' : 'chunk', data });
}

const together = (pieces: readonly unknown[]): unknown =>
  pieces.every((piece) => typeof piece === 'string') ? pieces.join('') : pieces;

/**
 * The result of what `handle` returned. Pieces of a generator are said as they come; together they are the result when it returns
 * none: one text when all are texts, else a list. An aborted generator is ended where it stands.
 */
export async function collect(given: unknown, said: SaidLog, signal: AbortSignal): Promise<unknown> {
  if (!isGenerator(given)) return given;
  const pieces: unknown[] = [];
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => undefined);
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await Promise.race([given.next(), aborted]);
      if (done) return value === undefined && pieces.length > 0 ? together(pieces) : value;
      say(said, value);
      if (!isProgress(value)) pieces.push(value);
    }
  } catch (error) {
    // Not awaited: a hanging generator would delay the answer.
    void Promise.resolve(given.return(undefined)).catch(() => undefined);
    throw error;
  }
}
