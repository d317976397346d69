import type { EndpointName } from '@agent-network/contracts/api';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { sessionKey } from '../session.ts';
import { followEvents, type LiveNews } from './follow-events.ts';
import { staleAfter, staleSoonAfter } from './live-event-effects.ts';

/** Message by which a tab asks the tab that holds the stream to reconnect now. */
const RETRY = 'retry';

interface SharedEvents {
  retry(): void;
  leave(): void;
}

/**
 * Follows the events of a session. One tab of the browser holds the stream and shares it with the others: over HTTP/1.1 a browser has six
 * connections to a node, and six tabs with a stream each would leave none. When it closes, another takes over.
 */
function shareEvents(
  { sessionId, after }: { sessionId: string; after: number | null },
  hear: (news: LiveNews) => void,
): SharedEvents {
  let lastId = after ?? undefined;
  const name = `events of ${sessionId}`;
  const leaving = new AbortController();
  const wake = new EventTarget();
  const channel = new BroadcastChannel(name);
  const wakeUp = () => wake.dispatchEvent(new Event('wake'));
  channel.onmessage = ({ data }: MessageEvent<LiveNews | typeof RETRY>) => {
    if (data === RETRY) wakeUp();
    else note(data);
  };
  const note = (news: LiveNews) => {
    if (news.kind === 'event') lastId = news.id;
    hear(news);
  };
  const tell = (news: LiveNews) => {
    note(news);
    channel.postMessage(news);
  };
  navigator.locks
    .request(name, { signal: leaving.signal }, () =>
      followEvents({ signal: leaving.signal, wake, lastId: () => lastId, tell }),
    )
    .catch(() => undefined);
  return {
    retry() {
      wakeUp();
      channel.postMessage(RETRY);
    },
    leave() {
      leaving.abort();
      channel.close();
    },
  };
}

/** Many events at once, as of a bulk, have each answer read again once in this time. */
const REFRESH_MS = 1000;
/** An event is on its way to webhooks after this. */
const SOON_MS = 1500;

/** Has the answers of these endpoints read again where they are shown: at once, and then at most once in `REFRESH_MS`. */
function createRefresher(queryClient: QueryClient) {
  let due = new Set<EndpointName>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let later: ReturnType<typeof setTimeout> | undefined;
  function flush(): void {
    timer = undefined;
    if (due.size === 0) return;
    const names = due;
    due = new Set();
    void queryClient.invalidateQueries({ predicate: ({ queryKey }) => names.has(queryKey[0] as EndpointName) });
    timer = setTimeout(flush, REFRESH_MS);
  }
  function refresh(names: readonly EndpointName[]): void {
    for (const name of names) due.add(name);
    if (timer === undefined) flush();
  }
  return {
    hear(type: string): void {
      refresh(staleAfter(type));
      later ??= setTimeout(() => {
        later = undefined;
        refresh(staleSoonAfter);
      }, SOON_MS);
    },
    stop(): void {
      clearTimeout(timer);
      clearTimeout(later);
    },
  };
}

export interface LiveConnection {
  /** True while the page is not kept up to date, because the node does not answer. */
  readonly isLost: boolean;
  retry(): void;
}

/** Reloads the data of the page when the node reports changes. Use it once, in the shell. */
export function useLiveEvents({ sessionId, after }: { sessionId: string; after: number | null }): LiveConnection {
  const queryClient = useQueryClient();
  const [isLost, setLost] = useState(false);
  const shared = useRef<SharedEvents>(null);
  // Position at which the page began; later reads are newer.
  const began = useRef(after);
  useEffect(() => {
    const refresher = createRefresher(queryClient);
    const hear = (news: LiveNews) => {
      if (news.kind === 'event') refresher.hear(news.type);
      else if (news.kind === 'over') void queryClient.invalidateQueries({ queryKey: sessionKey });
      else setLost(news.kind === 'lost');
      if (news.kind === 'open' && news.isBehind)
        void queryClient.invalidateQueries({ predicate: ({ state }) => state.status !== 'pending' });
    };
    shared.current = shareEvents({ sessionId, after: began.current }, hear);
    return () => {
      shared.current?.leave();
      refresher.stop();
    };
  }, [queryClient, sessionId]);
  return { isLost, retry: () => shared.current?.retry() };
}
