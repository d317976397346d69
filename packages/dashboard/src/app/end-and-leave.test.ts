import { expect, it, vi } from 'vitest';
import { endAndLeave } from './end-and-leave.ts';

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
