import { QueryClient } from '@tanstack/react-query';
import { expect, it } from 'vitest';
import { forgetAtNewSession } from './one-session.ts';

const sessionKey = ['getSession', {}];
const balance = ['getBalance', {}];

function readAs(sessionId: string) {
  const queryClient = new QueryClient();
  forgetAtNewSession(queryClient, sessionKey);
  queryClient.setQueryData(sessionKey, { session: { sessionId } });
  queryClient.setQueryData(balance, { available: '5.00' });
  return queryClient;
}

it('forgets what was read in another session, and keeps the session itself', () => {
  const queryClient = readAs('ses_a');
  queryClient.setQueryData(sessionKey, { session: { sessionId: 'ses_b' } });
  expect(queryClient.getQueryData(balance)).toBeUndefined();
  expect(queryClient.getQueryData(sessionKey)).toEqual({ session: { sessionId: 'ses_b' } });
});

it('forgets it also when nobody was signed in between', () => {
  const queryClient = readAs('ses_a');
  queryClient.setQueryData(sessionKey, { session: null });
  queryClient.setQueryData(sessionKey, { session: { sessionId: 'ses_b' } });
  expect(queryClient.getQueryData(balance)).toBeUndefined();
});

it('keeps what was read while the session stays the same', () => {
  const queryClient = readAs('ses_a');
  queryClient.setQueryData(sessionKey, { session: { sessionId: 'ses_a' } });
  expect(queryClient.getQueryData(balance)).toEqual({ available: '5.00' });
});
