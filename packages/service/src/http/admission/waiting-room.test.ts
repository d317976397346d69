import { expect, it } from 'vitest';
import { whyShed } from './waiting-room.ts';

const fresh = { waitedMs: 0, expectedMs: null, standingMs: 0, untilDeadlineMs: null, isRepeated: false, takesMs: 0 };
/** With a limit of 2 s, a line stands after 5 s. */
const standing = { ...fresh, standingMs: 6000 };
/** Calls take 800 ms, and wait in a line that is no longer one of a moment. */
const slow = { ...fresh, takesMs: 800, standingMs: 300 };

it.each([
  ['a newcomer', fresh, null],
  ['a burst that has waited for 9 s', { ...fresh, waitedMs: 9000, standingMs: 4900 }, null],
  ['a burst that has waited for 11 s', { ...fresh, waitedMs: 11_000 }, 'queue_time'],
  ['a burst that is expected to take a minute: a guess', { ...fresh, expectedMs: 60_000 }, null],
  ['one in a standing line, in time', { ...standing, waitedMs: 1900 }, null],
  ['one in a standing line, too late', { ...standing, waitedMs: 2100 }, 'queue_time'],
  ['a newcomer to a standing line that moves', { ...standing, expectedMs: 1500 }, null],
  ['a newcomer to a standing line that is too long', { ...standing, expectedMs: 2500 }, 'queue_time'],
  ['a repetition in a standing line', { ...standing, waitedMs: 9000, expectedMs: 60_000, isRepeated: true }, null],
  ['a repetition that has waited for 11 s', { ...standing, waitedMs: 11_000, isRepeated: true }, 'queue_time'],
  ['a deadline that has passed', { ...fresh, untilDeadlineMs: 0 }, 'deadline'],
  ['a repetition whose deadline has passed', { ...fresh, untilDeadlineMs: -1, isRepeated: true }, null],
  ['a deadline before its turn', { ...standing, expectedMs: 1500, untilDeadlineMs: 1000 }, 'deadline'],
  ['a deadline after its turn', { ...standing, expectedMs: 1500, untilDeadlineMs: 1600 }, null],
  ['a deadline before its end, by what such calls take', { ...slow, untilDeadlineMs: 1200 }, 'deadline'],
  ['a deadline after its end', { ...slow, untilDeadlineMs: 1300 }, null],
  ['a deadline before its end, on a node that keeps up', { ...slow, standingMs: 20, untilDeadlineMs: 700 }, null],
  ['its turn and its run together', { ...standing, expectedMs: 600, takesMs: 800, untilDeadlineMs: 1700 }, 'deadline'],
])('%s', (_, waiter, reason) => expect(whyShed(2000, waiter)).toBe(reason));
