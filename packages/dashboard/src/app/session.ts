import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { readSession, type Session, type SessionInfo } from './session-client.ts';

export type { Session, SessionInfo };

export const sessionKey = ['getSession', {}] as const;

/** Who is signed in here, and what a page may know of the node before anyone is. */
export const sessionQuery = queryOptions<SessionInfo>({ queryKey: sessionKey, queryFn: readSession, staleTime: 60_000 });

export const useSessionInfo = (): SessionInfo => useSuspenseQuery(sessionQuery).data;

/** The session. Only for what stands inside the shell, which shows nothing without one. */
export function useSession(): Session {
  const { session } = useSessionInfo();
  if (!session) throw new Error('nobody is signed in');
  return session;
}
