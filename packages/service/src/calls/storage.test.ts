import { expect, it } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import { createStoragePace, paceInputs } from './storage.ts';

const soon = () => new Date(Date.now() + 200);

it('copies of a large input are stored one after the other, so that others store between them; small ones at once', async () => {
  const taken: number[] = [];
  const storagePace = { bytesPerMinute: 0, take: async (_: string, bytes: number) => void taken.push(bytes) };
  const ctx = { clock: systemClock, storagePace };
  const input = { text: 'x'.repeat(40_000) };
  await paceInputs(ctx, 'account', [input, null], { copies: 3, deadline: soon() });
  expect(taken).toHaveLength(3);
  expect(Math.min(...taken)).toBeGreaterThan(40_000);
  await paceInputs(ctx, 'account', [input, null], { copies: 1, deadline: soon() });
  expect(taken).toHaveLength(3);
});

it('an account far above its storage rate gets RATE_LIMITED', async () => {
  const ctx = { clock: systemClock, storagePace: createStoragePace(64 * 1024) };
  const ask = { copies: 4, deadline: soon() };
  const refused = paceInputs(ctx, 'account', [{ text: 'x'.repeat(60_000) }], ask);
  await expect(refused).rejects.toMatchObject({ code: 'RATE_LIMITED', extra: { details: { type: 'storedBytes' } } });
});
