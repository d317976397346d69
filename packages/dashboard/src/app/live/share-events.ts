import { followEvents, type LiveNews } from './follow-events.ts';

/** Message by which a tab asks the tab that holds the stream to reconnect now. */
const RETRY = 'retry';

export interface SharedEvents {
  retry(): void;
  leave(): void;
}

/**
 * Follows the events of a session. One tab of the browser holds the stream and tells the others: over HTTP/1.1 a browser has six
 * connections to a node, and six tabs with a stream each would leave none. When it closes, another takes over.
 */
export function shareEvents(
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
