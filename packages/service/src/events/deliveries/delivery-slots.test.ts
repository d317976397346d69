import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDeliverySlots } from './delivery-slots.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const cutting = { prompt: 64, late: 16, each: 4, hanging: 256 };
const keeping = { prompt: 8, late: 2, each: 8, hanging: null };
const toHost = (accountId: string, host: string) => ({ accountId, receiver: `${accountId} ${host}` });
const untilCut = (cut: AbortSignal) =>
  new Promise<void>((_, reject) => cut.addEventListener('abort', () => reject(new Error('cut off'))));

it('a run that takes longer than a second makes room for others, and its receiver is known to hang', async () => {
  const slots = createDeliverySlots(cutting, () => Date.now());
  const whole = slots.free();
  const answers = Array.from({ length: cutting.each }, () => Promise.withResolvers<void>());
  for (const { promise } of answers) slots.run(toHost('a', 'http://x'), (timed) => timed(() => promise));
  expect(slots.free()).toMatchObject({ prompt: whole.prompt - cutting.each, busy: ['a'], hanging: [] });
  await vi.advanceTimersByTimeAsync(1000);
  const hanging = ['a http://x'];
  expect(slots.free()).toMatchObject({
    prompt: whole.prompt,
    busy: ['a'],
    lateAccounts: ['a'],
    hanging,
    underway: hanging,
  });
  for (const { resolve } of answers) resolve();
  await slots.ended();
  expect(slots.free()).toMatchObject({ busy: [], hanging, underway: [] });
  // It answers in time again.
  slots.run(toHost('a', 'http://x'), (timed) => timed(async () => undefined));
  await slots.ended();
  expect(slots.free()).toEqual(whole);
});

it('the oldest of too many that hang is cut off', async () => {
  const slots = createDeliverySlots(cutting, () => Date.now());
  const cut: number[] = [];
  for (let nth = 0; nth < 257; nth++)
    slots.run(toHost(`a${nth}`, 'http://x'), (timed, signal) =>
      timed(() => untilCut(signal)).catch(() => void cut.push(nth)),
    );
  await vi.advanceTimersByTimeAsync(1000);
  expect(cut).toEqual([0]);
});

it('where none is cut off, those that hang keep their slots, and their accounts have a few of all', async () => {
  const slots = createDeliverySlots(keeping, () => Date.now());
  const answer = Promise.withResolvers<void>();
  const cut: string[] = [];
  const begin = (accountId: string) =>
    slots.run(toHost(accountId, 'http://x'), async (timed, signal) => {
      signal.addEventListener('abort', () => cut.push(accountId));
      await timed(() => answer.promise);
    });
  for (const accountId of ['a', 'b', 'c']) begin(accountId);
  await vi.advanceTimersByTimeAsync(1000);
  expect(slots.free()).toMatchObject({ prompt: 5, late: 0, lateAccounts: ['a', 'b', 'c'] });
  expect(cut).toEqual([]);
  answer.resolve();
  await slots.ended();
  expect(slots.free()).toMatchObject({ prompt: 8, late: 2, lateAccounts: ['a', 'b', 'c'] });
  begin('a');
  expect(slots.free()).toMatchObject({ prompt: 7, late: 1 });
});
