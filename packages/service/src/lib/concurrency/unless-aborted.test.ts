import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { unlessAborted } from './unless-aborted.ts';

const never = new Promise<never>(() => undefined);

it('work that ends is waited for, and its error is passed on', async () => {
  const { signal } = new AbortController();
  await expect(unlessAborted(Promise.resolve('done'), signal)).resolves.toBeUndefined();
  await expect(unlessAborted(Promise.reject(new Error('wrong')), signal)).rejects.toThrow('wrong');
});

it('work is not waited for once the signal aborts, before or after the call', async () => {
  const stopping = new AbortController();
  const waiting = unlessAborted(never, stopping.signal);
  stopping.abort();
  await waiting;
  await unlessAborted(never, stopping.signal);
});

it('nothing stays at the signal', async () => {
  const { signal } = new AbortController();
  for (let round = 0; round < 100; round++) await unlessAborted(Promise.resolve(), signal);
  await unlessAborted(Promise.reject(new Error('wrong')), signal).catch(() => undefined);
  await expect.poll(() => getEventListeners(signal, 'abort').length).toBe(0);
});
