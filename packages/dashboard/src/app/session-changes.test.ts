import { focusManager, QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it, onTestFinished, vi } from 'vitest';
import { endAndLeave, forgetAtNewSession } from './session-changes.ts';

const sessionKey = ['getSession', {}];
const balance = ['getBalance', {}];

function readAs(sessionId: string) {
  const queryClient = new QueryClient();
  forgetAtNewSession(queryClient, sessionKey);
  queryClient.setQueryData(sessionKey, { session: { sessionId } });
  queryClient.setQueryData(balance, { available: '5.00' });
  return queryClient;
}

it('drops data read in another session, and keeps the session itself', () => {
  const queryClient = readAs('ses_a');
  queryClient.setQueryData(sessionKey, { session: { sessionId: 'ses_b' } });
  expect(queryClient.getQueryData(balance)).toBeUndefined();
  expect(queryClient.getQueryData(sessionKey)).toEqual({ session: { sessionId: 'ses_b' } });
});

it('drops it also after a time without a session', () => {
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

it('is asked for again whenever the page is looked at, however new the last answer is', async () => {
  vi.stubGlobal('location', { origin: 'http://node.test' });
  const { sessionQuery } = await import('./session.ts');
  const asked = vi.fn(async () => ({ session: null }) as never);
  const queryClient = new QueryClient();
  queryClient.mount();
  const leave = new QueryObserver(queryClient, { ...sessionQuery, queryFn: asked }).subscribe(() => undefined);
  onTestFinished(() => {
    leave();
    queryClient.unmount();
    focusManager.setFocused(undefined);
    vi.unstubAllGlobals();
  });
  await expect.poll(() => queryClient.getQueryData(sessionQuery.queryKey)).toBeDefined();
  focusManager.setFocused(false);
  focusManager.setFocused(true);
  await expect.poll(() => asked.mock.calls.length).toBe(2);
});

it('leaves when the session has ended, and says nothing', async () => {
  const [leave, tell] = [vi.fn(), vi.fn()];
  await endAndLeave(async () => ({ signedOut: true }), leave, tell);
  expect(leave).toHaveBeenCalledOnce();
  expect(tell).not.toHaveBeenCalled();
});

it('stays and says that the session goes on when the node did not answer', async () => {
  const [leave, tell] = [vi.fn(), vi.fn()];
  await endAndLeave(() => Promise.reject(new Error('no answer')), leave, tell);
  expect(leave).not.toHaveBeenCalled();
  expect(tell).toHaveBeenCalledExactlyOnceWith('You are still signed in. Signing out failed: no answer');
});
