import type { Session } from '@agent-network/contracts/access/sessions';
import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { client } from './client.ts';

export type SessionInfo = DataOf<Api['getSession']>;

/** Query key of the session, equal to that of `apiQuery`. */
export const sessionKey = ['getSession', {}] as const;

/** The current session, and the public facts of the node that a page needs before sign-in. */
export const sessionQuery = queryOptions<SessionInfo>({
  queryKey: sessionKey,
  queryFn: ({ signal }) => client.getSession({}, { signal }),
  staleTime: 60_000,
  // Another tab may have signed in as somebody else meanwhile: nothing is to be paid by an account that the page does not show. Windows side
  // by side tell each other (`session-changes.ts`).
  refetchOnWindowFocus: 'always',
});

export const useSessionInfo = (): SessionInfo => useSuspenseQuery(sessionQuery).data;

/** The session. Only for components inside the shell, which shows nothing without one. */
export function useSession(): Session {
  const { session } = useSessionInfo();
  if (!session) throw new Error('not signed in');
  return session;
}
