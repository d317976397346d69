import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type RequestOptions, send } from '../../support/harness.ts';

export interface Insisted {
  /** The first answer that says how it stands. */
  readonly answer: Answer;
  /** Every answer on the way, that one included. */
  readonly answers: readonly Answer[];
}

export interface InsistOptions extends RequestOptions {
  /** How long to go on asking; default 60 s. */
  readonly timeoutMs?: number;
  /** How long to wait for one answer. */
  readonly patienceMs?: number;
}

/** Longer than the node lets anybody wait. */
const PATIENCE_MS = 35_000;

/** True for answers that ask to retry: an outage of the node, or a payment in progress. */
const isPassing = ({ status, body }: Answer): boolean =>
  status >= 500 || (status === 409 && /still running/.test(body?.error?.message ?? ''));

/** A request that is given up after a while; rejects then, as when the connection is lost. */
export async function sendWithin(
  baseUrl: string,
  method: string,
  path: string,
  options: RequestOptions,
  patienceMs = PATIENCE_MS,
): Promise<Answer> {
  const answered = new AbortController();
  const tired = sleep(patienceMs, undefined, { signal: answered.signal }).then(() => {
    throw new Error('the client was tired of waiting');
  });
  tired.catch(() => undefined);
  try {
    return await Promise.race([send(baseUrl, method, path, options), tired]);
  } finally {
    answered.abort();
  }
}

/**
 * Sends the identical request, with its payment header, until it gets an answer, like a client that lost the connection and knows that a
 * new signature would pay twice. Throws when that takes too long.
 */
export async function insist(
  baseUrl: () => Promise<string> | string,
  method: string,
  path: string,
  options: InsistOptions = {},
): Promise<Insisted> {
  const endMs = performance.now() + (options.timeoutMs ?? 60_000);
  const answers: Answer[] = [];
  while (performance.now() < endMs) {
    const answer = await sendWithin(await baseUrl(), method, path, options, options.patienceMs).catch(() => null);
    if (answer) answers.push(answer);
    if (answer && !isPassing(answer)) return { answer, answers };
    await sleep(50);
  }
  const last = answers.at(-1);
  throw new Error(`${method} ${path} was not answered in time; last: ${last?.status} ${JSON.stringify(last?.body)}`);
}
