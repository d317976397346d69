import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query';

interface KnownSession {
  readonly session?: { readonly sessionId: string } | null;
}

/**
 * Forgets all other answers as soon as the session is another one. Tabs share one cookie: after a sign-in in another tab, what was read
 * before belongs to an account that this tab no longer acts for.
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
