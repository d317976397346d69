import { isObject, type Json } from '../../lib/json/json-object.ts';
import type { AgentCall, CallContext } from '../protocols/adapter.ts';
import { createChunkRecorder } from './record-chunks.ts';

/** Key of progress in metadata of other protocols. */
export const PROGRESS_EXTENSION = 'urn:agent-network:progress';

const MAX_MESSAGE_CHARS = 2000;

/** A number from 0 to 1; null: it is none. */
const fractionIn = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : null;

/** A text without control characters: it reaches people's terminals. */
const plainText = (text: string): string =>
  text
    .slice(0, MAX_MESSAGE_CHARS)
    .replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, ' ')
    .toWellFormed();

/** Progress as it is stored: `fraction` from 0 to 1, `message` as plain text. Other fields of the agent stay. */
export function readProgressData(given: Json): Json {
  const { fraction: given_, message, ...rest } = given;
  const fraction = fractionIn(given_);
  return {
    ...rest,
    ...(fraction === null ? {} : { fraction }),
    ...(typeof message === 'string' ? { message: plainText(message) } : message === undefined ? {} : { message }),
  };
}

/** The progress of a request as its record shows it; null: the agent tells none that has a known form. */
export function shownProgress(stored: { readonly data: unknown; readonly at: string } | null | undefined) {
  if (!stored || !isObject(stored.data)) return null;
  const { fraction, message } = readProgressData(stored.data);
  const isMessage = typeof message === 'string' && message !== '';
  if (typeof fraction !== 'number' && !isMessage) return null;
  return {
    ...(typeof fraction === 'number' ? { fraction } : {}),
    ...(isMessage ? { message } : {}),
    at: new Date(stored.at).toISOString(),
  };
}

/** Least time between reports of an agent that is polled, and the reports that may have words. */
const PAUSE_MS = 1000;
const MAX_REPORTS = 200;
const MAX_WORDS = 20;
/** Bytes of JSON of a report: more would count as output. */
const MAX_BYTES = 190;

/**
 * Stores the progress of an agent that is polled: what has changed, once a second at most. It stays so little that it is no output that a
 * caller would have to pay for.
 */
export function createPolledProgress(ctx: CallContext, call: AgentCall) {
  let recorder: ReturnType<typeof createChunkRecorder> | null = null;
  let last = '';
  let lastAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  return {
    async tell(given: unknown): Promise<void> {
      if (!isObject(given) || count >= MAX_REPORTS || performance.now() - lastAt < PAUSE_MS) return;
      const data = small(given, count < MAX_WORDS);
      const json = JSON.stringify(data);
      if (json === '{}' || json === last) return;
      [last, lastAt] = [json, performance.now()];
      count += 1;
      recorder ??= createChunkRecorder(ctx, call, true);
      // The work goes on without it.
      await recorder.then((it) => it.add([{ type: 'invocation.status', data }])).catch(() => undefined);
    },
  };
}

function small(given: Json, hasWords: boolean): Json {
  const { fraction, message } = readProgressData(given);
  const part = typeof fraction === 'number' ? { fraction } : {};
  if (!hasWords || typeof message !== 'string' || message === '') return part;
  let words = message.slice(0, MAX_BYTES);
  while (Buffer.byteLength(JSON.stringify({ ...part, message: words })) > MAX_BYTES) words = words.slice(0, -10);
  return { ...part, message: words.toWellFormed() };
}
