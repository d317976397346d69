import { expect, it } from 'vitest';
import { durationText } from './duration.tsx';

it.each([
  [850, '850 ms'],
  [1250, '1.25 s'],
  [12_340, '12.3 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [192_000, '3 min 12 s'],
])('%d ms is %s: seconds never come to 60', (ms, text) => expect(durationText(ms)).toBe(text));
