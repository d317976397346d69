import { isApiError } from '@agent-network/sdk';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { type SessionInfo, sessionKey } from './session.ts';
import { followSession, forgetAtNewSession } from './session-changes.ts';

/** The SDK does the retries, so queries do not. When the node reports that the session is over, all queries see that at once. */
export function createQueryClient(): QueryClient {
  const onError = (error: unknown) => {
    if (!isApiError(error, 'UNAUTHORIZED')) return;
    queryClient.setQueryData<SessionInfo>(sessionKey, (info) => info && { ...info, session: null });
  };
  const queryClient: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: { retry: false, staleTime: 5_000, gcTime: 5 * 60_000, refetchOnWindowFocus: true },
      mutations: { retry: false },
    },
  });
  forgetAtNewSession(queryClient, sessionKey);
  followSession(queryClient, sessionKey);
  return queryClient;
}
