import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query';

/** The windows of this browser: they share the session's cookie. */
const windows = new BroadcastChannel('session');

/** Notifies the other windows that someone signed in or out. */
export const tellSession = (): void => windows.postMessage(null);

/**
 * Reads the session again when another window reports a change, and when this one gets the focus (of two windows side by side, neither
 * becomes visible).
 */
export function followSession(queryClient: QueryClient, sessionKey: QueryKey): void {
  const filter = { queryKey: sessionKey };
  windows.onmessage = () => void queryClient.invalidateQueries(filter);
  // A window that becomes visible asks by itself.
  addEventListener('focus', () => void queryClient.invalidateQueries(filter, { cancelRefetch: false }));
}

interface KnownSession {
  readonly session?: { readonly sessionId: string } | null;
}

/**
 * Drops all other answers as soon as the session changes. Tabs share one cookie: after a sign-in in another tab, the earlier data belongs
 * to an account that this tab no longer acts for.
 */
export function forgetAtNewSession(queryClient: QueryClient, sessionKey: QueryKey): void {
  const sessionHash = hashKey(sessionKey);
  let known: string | undefined;
  queryClient.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryHash !== sessionHash) return;
    const sessionId = (query.state.data as KnownSession | undefined)?.session?.sessionId;
    if (sessionId === undefined || sessionId === known) return;
    const isOther = known !== undefined;
    known = sessionId;
    if (isOther) queryClient.removeQueries({ predicate: ({ queryHash }) => queryHash !== sessionHash });
  });
}

/** Leaves once the session has ended. If ending it fails, stays on the page and shows that, so that users do not walk away signed in. */
export async function endAndLeave(
  end: () => Promise<unknown>,
  leave: () => void,
  tell: (text: string) => void,
): Promise<void> {
  try {
    await end();
  } catch (error) {
    return tell(`You are still signed in. Signing out failed: ${error instanceof Error ? error.message : error}`);
  }
  leave();
}
