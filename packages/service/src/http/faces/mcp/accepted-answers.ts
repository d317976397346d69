import type { Context } from 'hono';
import { createEventParser } from '../../../lib/net/event-parser.ts';

/** Larger than any answer: a record has a result of 1 MiB, as text and as data. */
const MAX_ANSWER_CHARS = 16 * 1024 * 1024;

/** True for a client that takes a stream of events; others are answered with JSON, whatever they say that they accept. */
export const takesEvents = (c: Context): boolean => /text\/event-stream/i.test(c.req.header('accept') ?? '');

/** The request as one that accepts both forms of answers, which the SDK demands. */
export function acceptingBoth({ raw }: Context['req']): Request {
  const headers = new Headers(raw.headers);
  headers.set('accept', 'application/json, text/event-stream');
  return new Request(raw.url, { method: raw.method, headers, signal: raw.signal });
}

/** The answers in a stream of events, as JSON: without what was told before them. A batch has a list of them. */
export async function eventsAsJson(response: Response, isBatch: boolean): Promise<string> {
  const events = createEventParser(MAX_ANSWER_CHARS).feed(`${await response.text()}\n\n`);
  // The stream begins with an event that says nothing: a place to resume from.
  const messages = events.filter(({ data }) => data !== '').map(({ data }) => JSON.parse(data));
  const answers = messages.filter((message) => 'id' in message && !('method' in message));
  return JSON.stringify(isBatch ? answers : answers[0]);
}
