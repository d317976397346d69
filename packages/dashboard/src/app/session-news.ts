import type { QueryClient, QueryKey } from '@tanstack/react-query';

/** The windows of this browser: they share the session's cookie. */
const windows = new BroadcastChannel('session');

/** Tells the other windows that somebody else may be signed in now, or nobody. */
export const tellSession = (): void => windows.postMessage(null);

/**
 * Asks again who is signed in when another window says that it may be somebody else, and when this one gets the focus: of two that stand
 * side by side, neither becomes visible.
 */
export function followSession(queryClient: QueryClient, sessionKey: QueryKey): void {
  const filter = { queryKey: sessionKey };
  windows.onmessage = () => void queryClient.invalidateQueries(filter);
  // A window that becomes visible asks by itself.
  addEventListener('focus', () => void queryClient.invalidateQueries(filter, { cancelRefetch: false }));
}
