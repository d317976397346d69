import { expect, it } from 'vitest';
import { awaitValidity } from './in-time.ts';

/** A clock by which time passes at this speed, from some ms before the second in which a payment becomes valid. */
function clockAt(speed: number, { msBefore }: { readonly msBefore: number }) {
  const [validAfterS, startMs] = [1_800_000_000n, performance.now()];
  const nowMs = () => Number(validAfterS) * 1000 - msBefore + (performance.now() - startMs) * speed;
  return { clock: { now: () => new Date(nowMs()) }, validAfterS, leftMs: () => Number(validAfterS) * 1000 - nowMs() };
}

// A timer of Node ends up to a millisecond before the clock shows its time, and far before it on a machine whose clock is slowed.
it.each([1, 0.9, 0.5])(
  'a payment is waited for until it is valid by the clock, which runs at %d of the speed of timers',
  async (speed) => {
    const waits = Array.from({ length: 100 }, (_, nth) => clockAt(speed, { msBefore: 50 + nth * 1.37 }));
    const left = await Promise.all(
      waits.map(async ({ clock, validAfterS, leftMs }) => {
        await awaitValidity({ clock }, validAfterS);
        return leftMs();
      }),
    );
    expect(left.filter((ms) => ms > 0)).toEqual([]);
  },
);
