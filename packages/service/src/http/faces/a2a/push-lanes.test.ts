import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPushLanes } from './push-lanes.ts';
import type { PushRow } from './push-store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const rowOf = (accountId: string, host: string) => ({ accountId, receiver: `${accountId} ${host}` }) as PushRow;
const never = (signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut off'))));

it('a message that takes longer than a second makes room for others, and its receiver has one at a time', async () => {
  const lanes = createPushLanes(() => Date.now());
  const whole = lanes.room();
  const answers = Array.from({ length: whole.each }, () => Promise.withResolvers<void>());
  for (const { promise } of answers) lanes.run(rowOf('a', 'http://x'), (attempt) => attempt(() => promise));
  expect(lanes.room()).toMatchObject({ prompt: whole.prompt - whole.each, busy: ['a'], hanging: [] });
  await vi.advanceTimersByTimeAsync(1000);
  const [hanging] = [['a http://x']];
  expect(lanes.room()).toMatchObject({
    prompt: whole.prompt,
    busy: ['a'],
    lateAccounts: ['a'],
    hanging,
    shut: hanging,
  });
  for (const { resolve } of answers) resolve();
  await lanes.ended();
  expect(lanes.room()).toMatchObject({ busy: [], hanging, shut: [] });
  // It answers in time again.
  lanes.run(rowOf('a', 'http://x'), (attempt) => attempt(async () => undefined));
  await lanes.ended();
  expect(lanes.room()).toEqual(whole);
});

it('the oldest of too many that hang is cut off', async () => {
  const lanes = createPushLanes(() => Date.now());
  const cut: number[] = [];
  for (let nth = 0; nth < 257; nth++)
    lanes.run(rowOf(`a${nth}`, 'http://x'), (attempt) => attempt(never).catch(() => void cut.push(nth)));
  await vi.advanceTimersByTimeAsync(1000);
  expect(cut).toEqual([0]);
});
