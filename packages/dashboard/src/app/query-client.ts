import { isApiError } from '@agent-network/sdk';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { type SessionInfo, sessionKey } from './session.ts';
import { followSession, forgetAtNewSession } from './session-changes.ts';

/** Repeating is the SDK's business. When the node says that the session is over, everything here knows it at once. */
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
