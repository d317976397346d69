import { isApiError } from '@agent-network/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { client } from './client.ts';
import { staleAfter } from './live-event-effects.ts';

/** After the SDK gave up; it tries for a minute or so by itself. */
const PAUSE_MS = 60_000;

const pause = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** The types of the account's events as they happen, until `signal` or the end of the session. */
async function followEvents(signal: AbortSignal, onEvent: (type: string) => void): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { type } of client.followEvents({ signal })) onEvent(type);
    } catch (error) {
      if (isApiError(error, 'UNAUTHORIZED') || isApiError(error, 'FORBIDDEN')) return;
      // The node is away, or this page is about to be: both show elsewhere.
    }
    if (!signal.aborted) await pause(signal);
  }
}

/** Has what the page shows read again when the node tells that it changed. Once, in the shell. */
export function useLiveEvents(): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    const leaving = new AbortController();
    void followEvents(leaving.signal, (type) => {
      for (const name of staleAfter(type)) void queryClient.invalidateQueries({ queryKey: [name] });
    });
    return () => leaving.abort();
  }, [queryClient]);
}
