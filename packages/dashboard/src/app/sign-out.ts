import type { QueryClient } from '@tanstack/react-query';
import { client } from './client.ts';
import { type SessionInfo, sessionKey } from './session.ts';

/** Ends the session and forgets everything that it could see. */
export async function signOut(queryClient: QueryClient): Promise<void> {
  await client.endSession();
  const info = queryClient.getQueryData<SessionInfo>(sessionKey);
  queryClient.clear();
  if (info) queryClient.setQueryData<SessionInfo>(sessionKey, { ...info, session: null });
}
