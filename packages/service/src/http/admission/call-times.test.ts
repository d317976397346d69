import { expect, it } from 'vitest';
import { createCallTimes } from './call-times.ts';

it('a call is expected to take as long as calls of the same agent did of late', () => {
  const times = createCallTimes();
  times.record('/invoke/agt_slow', 900, 1000);
  times.record('/invoke/agt_slow?wait=5', 700, 1100);
  times.record('/x402/agt_quick', 10, 1100);
  expect(times.expectedMs('/x402/agt_slow', 1200)).toBe(900);
  expect(times.expectedMs('/invoke/agt_quick', 1200)).toBe(10);
  expect(times.expectedMs('/invoke/agt_other', 1200)).toBe(0);
});

it('durations of seconds ago say nothing of now: the next one is tried', () => {
  const times = createCallTimes();
  times.record('/invoke/agt_1', 900, 1000);
  times.record('/invoke/agt_1', 100, 2500);
  expect(times.expectedMs('/invoke/agt_1', 2600)).toBe(900);
  times.record('/invoke/agt_1', 100, 4000);
  expect(times.expectedMs('/invoke/agt_1', 4100)).toBe(100);
  expect(times.expectedMs('/invoke/agt_1', 9100)).toBe(0);
});

it('calls of whatever agent is not named by the path say nothing', () => {
  const times = createCallTimes();
  times.record('/mcp', 900, 1000);
  expect(times.expectedMs('/mcp', 1100)).toBe(0);
});
