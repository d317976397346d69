import { expect, it } from 'vitest';
import { MAX_PER_TURN, MIN_MS, nextPace, TURN_MS, WALL_MS } from './admission.ts';

it.each([
  ['a short turn', { pace: 10, cpuMs: 1, wallMs: 1, started: 10 }, 11.5],
  ['a short turn at the most', { pace: MAX_PER_TURN, cpuMs: 0, wallMs: 0, started: 0 }, MAX_PER_TURN],
  ['a turn of the aim', { pace: 10, cpuMs: TURN_MS, wallMs: TURN_MS, started: 10 }, 11.5],
  ['twice the aim: half of what was started', { pace: 512, cpuMs: 2 * TURN_MS, wallMs: 2 * TURN_MS, started: 40 }, 20],
  ['a long turn that started little: earlier work fills it', { pace: 20, cpuMs: 50, wallMs: 50, started: 1 }, 1],
  ['a pause of a second: one is started all the same', { pace: 512, cpuMs: 1000, wallMs: 1000, started: 3 }, 1],
  ['twice the aim, as others have the processor', { pace: 64, cpuMs: TURN_MS, wallMs: 2 * WALL_MS, started: 40 }, 20],
  ['much of it by others: no less than makes sense', { pace: 64, cpuMs: 2 * MIN_MS, wallMs: 500, started: 40 }, 20],
  ['all of it by others', { pace: 10, cpuMs: MIN_MS / 2, wallMs: 500, started: 10 }, 11.5],
])('%s', (_, { pace, ...turn }, next) => expect(nextPace(pace, turn)).toBe(next));

it('reaches the most within fifty short turns after any pause', () => {
  let pace = 1;
  for (let turn = 0; turn < 50; turn++) pace = nextPace(pace, { cpuMs: 1, wallMs: 1, started: 1 });
  expect(pace).toBeGreaterThan(MAX_PER_TURN / 2);
});
