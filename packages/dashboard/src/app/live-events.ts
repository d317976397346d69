import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { staleAfter } from './live-event-effects.ts';
import { readSse, type SseMessage } from './read-sse.ts';

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 60_000;

const wait = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** The events of the account until `signal`; taken up after the last one seen whenever the connection ends. */
async function followEvents(signal: AbortSignal, onEvent: (event: SseMessage) => void): Promise<void> {
  let lastId: string | undefined;
  let delayMs = FIRST_DELAY_MS;
  while (!signal.aborted) {
    try {
      const headers = { accept: 'text/event-stream', ...(lastId ? { 'last-event-id': lastId } : {}) };
      const response = await fetch('/events', { headers, signal });
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
      if (response.status === 401 || response.status === 403) return;
      if (isStream && response.body)
        for await (const event of readSse(response.body)) {
          delayMs = FIRST_DELAY_MS;
          if (event.id) lastId = event.id;
          onEvent(event);
        }
    } catch {
      // The node is away, or this page is about to be: both show elsewhere.
    }
    await wait(delayMs, signal);
    delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS);
  }
}

/** Has what the page shows read again when the node tells that it changed. Once, in the shell. */
export function useLiveEvents(): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    const leaving = new AbortController();
    void followEvents(leaving.signal, ({ type }) => {
      for (const name of staleAfter(type)) void queryClient.invalidateQueries({ queryKey: [name] });
    });
    return () => leaving.abort();
  }, [queryClient]);
}
